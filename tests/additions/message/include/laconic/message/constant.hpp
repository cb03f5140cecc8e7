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

    struct terms_type {
        T value;
        std::size_t count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const { return {static_cast<coordinate>(j), value}; }
    };

    static auto fields(auto& m) { return std::tie(m.count, m.value); }
    std::size_t dimension() const { return count; }
    terms_type terms() const { return {value, count}; }
    bool operator==(constant const&) const = default;
};

}  // namespace laconic::messages
