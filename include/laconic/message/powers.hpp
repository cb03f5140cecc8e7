// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "laconic/message/message.hpp"

namespace laconic::messages {

/// Signed powers of two and zeros: code j is the sign bit above the exponent field of T; an exponent field of 0 means
/// zero.
template <Scalar T, class B>
struct powers {
    using value_type = T;
    template <class Other>
    using for_backend = powers<T, Other>;
    static constexpr bool single = std::same_as<T, float>;
    static constexpr unsigned exponent_width = single ? 8 : 11;
    static constexpr unsigned code_width = exponent_width + 1;
    static constexpr unsigned largest_exponent = (1u << exponent_width) - 2;

    typename B::template array<std::uint16_t> codes;

    struct terms_type {
        std::uint16_t const* codes;
        std::size_t count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            using bits = std::conditional_t<single, std::uint32_t, std::uint64_t>;
            bits const sign = codes[j] >> exponent_width, exponent = codes[j] & ((1u << exponent_width) - 1);
            constexpr int width = int{sizeof(T) * 8};
            return {static_cast<coordinate>(j),
                    std::bit_cast<T>(sign << (width - 1) | exponent << (width - 1 - int{exponent_width}))};
        }
    };

    static auto fields(auto& m) { return std::tie(m.codes); }
    std::size_t dimension() const { return codes.size(); }
    terms_type terms() const& { return {codes.data(), codes.size()}; }
    void terms() const&& = delete;
    bool operator==(powers const&) const = default;
};

}  // namespace laconic::messages
