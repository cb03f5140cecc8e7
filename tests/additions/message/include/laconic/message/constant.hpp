// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tuple>

#include "laconic/message/message.hpp"

namespace laconic::messages {

/// One number, which all coordinates have.
template <Scalar T, class B>
struct constant {
    using value_type = T;
    template <class Other>
    using for_backend = constant<T, Other>;
    std::size_t count = 0;
    T value = 0;

    struct same {
        T value;
        constexpr T operator()(std::size_t) const { return value; }
    };
    using terms_type = terms_in_order<same>;

    static auto fields(auto& m) { return std::tie(m.count, m.value); }
    void resize(std::size_t n) { count = n; }
    std::size_t dimension() const { return count; }
    terms_type terms() const { return {{value}, count}; }
    bool operator==(constant const&) const = default;
};

}  // namespace laconic::messages
