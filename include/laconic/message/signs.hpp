// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "laconic/message/message.hpp"

namespace laconic::messages {

/// One magnitude per bucket of consecutive numbers (the last bucket may be shorter) and a sign for each number: number
/// j is scales_{j / bucket}, negative where bit j mod 64 of words_{j / 64} is set. With bucket = 0 there are no scales:
/// every magnitude is 1.
template <Scalar T, class B>
struct signs {
    using value_type = T;
    template <class Other>
    using for_backend = signs<T, Other>;
    std::size_t count = 0, bucket = 1;
    typename B::template array<T> scales;
    typename B::template array<std::uint64_t> words;

    // The terms within one word of signs and one bucket.
    struct terms_of_word {
        T scale;
        std::uint64_t word;
        std::size_t count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            // The sign is put in by its bit, which compilers vectorize.
            using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
            auto const sign = static_cast<bits>(word >> j & 1) << (8 * sizeof(T) - 1);
            return {static_cast<coordinate>(j), std::bit_cast<T>(std::bit_cast<bits>(scale) ^ sign)};
        }
    };
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
        constexpr terms_of_word from(std::size_t first) const {
            std::size_t const in_word = std::min(64 - first % 64, count - first);
            return {bucket == 0 ? T(1) : scales[first / bucket], words[first / 64] >> first % 64,
                    bucket == 0 ? in_word : std::min(in_word, bucket - first % bucket)};
        }
    };

    static auto fields(auto& m) { return std::tie(m.count, m.bucket, m.scales, m.words); }
    std::size_t dimension() const { return count; }
    bool fits(std::size_t n) const {
        bool const are_votes = bucket == 0 && scales.empty();
        return count == n && detail::make_words(words.size(), n) &&
               (are_votes || detail::make_buckets(scales.size(), n, bucket));
    }
    terms_type terms() const& { return {scales.data(), words.data(), bucket, count}; }
    void terms() const&& = delete;
    bool operator==(signs const&) const = default;
};

}  // namespace laconic::messages
