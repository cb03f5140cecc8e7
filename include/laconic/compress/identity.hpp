// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "laconic/compress/compressor.hpp"
#include "laconic/message/plain.hpp"

namespace laconic {

/// The identity: sends every value as it is, with omega = 0 and delta = 1.
struct identity {
    static constexpr void description(auto&& describe) { describe("identity", "every number as it is", ""); }

    template <Scalar T, class B>
    using message = messages::full_vector<T, B>;
    using sends_vector = identity;  ///< The message has the vector's own numbers; a derived class's may have others.

    void check(std::size_t) const {}
    void blank(auto&, std::size_t d, key, auto& m) const { messages::begin_message(m, d); }
    void operator()(auto& on, auto x, key, auto& m) const {
        messages::check_dimension(x.size());
        kernels::assign(on, x, m.values);
    }
    double omega(std::size_t) const { return 0; }
    double delta(std::size_t) const { return 1; }

    bool operator==(identity const&) const = default;
};

}  // namespace laconic
