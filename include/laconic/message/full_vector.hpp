// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tuple>

#include "laconic/message/message.hpp"

namespace laconic::messages {

/// A vector in full: all its numbers.
template <Scalar T, class B>
struct full_vector {
    using value_type = T;
    template <class Other>
    using for_backend = full_vector<T, Other>;
    typename B::template array<T> values;

    struct terms_type {
        T const* values;
        std::size_t count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const { return {static_cast<coordinate>(j), values[j]}; }
    };

    static auto fields(auto& m) { return std::tie(m.values); }
    std::size_t dimension() const { return values.size(); }
    terms_type terms() const& { return {values.data(), values.size()}; }
    void terms() const&& = delete;  // a view of a temporary would dangle
    bool operator==(full_vector const&) const = default;
};

}  // namespace laconic::messages
