// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "laconic/message/message.hpp"

namespace laconic {

/// One magnitude per bucket of consecutive numbers (the last bucket may be shorter) and a sign for each: number j is
/// scales_{j / bucket}, negative where bit j mod 64 of words_{j / 64} is set. With bucket = 0 there are no scales: every
/// magnitude is 1.
template <Scalar T, class B>
struct signs {
    using value_type = T;
    std::size_t count = 0, bucket = 1;
    typename B::template array<T> scales;
    typename B::template array<std::uint64_t> words;

    struct terms_type {
        T const* scales;
        std::uint64_t const* words;
        std::size_t bucket, count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            T const scale = bucket == 0 ? T(1) : scales[j / bucket];
            return {static_cast<coordinate>(j), (words[j / 64] >> j % 64 & 1) != 0 ? -scale : scale};
        }
    };

    std::size_t dimension() const { return count; }
    terms_type terms() const& { return {scales.data(), words.data(), bucket, count}; }
    void terms() const&& = delete;
    bool operator==(signs const&) const = default;
};

}  // namespace laconic
