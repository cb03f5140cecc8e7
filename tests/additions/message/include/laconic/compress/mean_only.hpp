// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/compressor.hpp"
#include "laconic/core/description.hpp"
#include "laconic/message/constant.hpp"

namespace laconic {

/// Sends the mean of all numbers.
struct mean_only {
    static constexpr void description(auto&& describe) { describe("mean_only", "the mean of all numbers", ""); }

    template <Scalar T, class B>
    using message = messages::constant<T, B>;

    void check(std::size_t) const {}
    template <class B, Scalar T>
    void blank(B&, std::size_t d, key, messages::constant<T, B>& m) const {
        messages::check_dimension(d);
        m.count = d;
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, messages::constant<T, B>& m) const {
        blank(on, x.size(), from, m);
        m.value = x.empty() ? T(0) : static_cast<T>(sum_of_numbers(on, x, 1, 0) / static_cast<double>(x.size()));
    }
    bool operator==(mean_only const&) const = default;
};

}  // namespace laconic
