// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "laconic/backend/short_format.hpp"
#include "laconic/message/message.hpp"

namespace laconic::messages {

/// Numbers of a short format, each as its code.
template <kernels::short_format F, Scalar T, class B>
struct short_floats {
    using value_type = T;
    template <class Other>
    using for_backend = short_floats<F, T, Other>;
    static constexpr kernels::short_layout layout = kernels::layout_of(F);

    typename B::template array<std::uint16_t> codes;

    struct terms_type {
        std::uint16_t const* codes;
        std::size_t count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            return {static_cast<coordinate>(j), kernels::short_value<T>(layout, codes[j])};
        }
    };

    static auto fields(auto& m) { return std::tie(m.codes); }
    std::size_t dimension() const { return codes.size(); }
    terms_type terms() const& { return {codes.data(), codes.size()}; }
    void terms() const&& = delete;
    bool operator==(short_floats const&) const = default;
};

}  // namespace laconic::messages
