// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "laconic/message/message.hpp"

namespace laconic::messages {

/// Two magnitudes per bucket of consecutive numbers (the last bucket may be shorter) and a sign for each number: number
/// j is -below_{j / bucket} where bit j mod 64 of words_{j / 64} is set, else above_{j / bucket}.
template <Scalar T, class B>
struct means {
    using value_type = T;
    template <class Other>
    using for_backend = means<T, Other>;
    std::size_t count = 0, bucket = 1;
    typename B::template array<T> below, above;
    typename B::template array<std::uint64_t> words;

    // The terms within one word of signs and one bucket.
    struct terms_of_word {
        T below, above;
        std::uint64_t word;
        std::size_t count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            return {static_cast<coordinate>(j), (word >> j & 1) != 0 ? -below : above};
        }
    };
    struct terms_type {
        T const *below, *above;
        std::uint64_t const* words;
        std::size_t bucket, count;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            bool const negative = (words[j / 64] >> j % 64 & 1) != 0;
            return {static_cast<coordinate>(j), negative ? -below[j / bucket] : above[j / bucket]};
        }
        constexpr terms_of_word from(std::size_t first) const {
            std::size_t const b = first / bucket;
            return {below[b], above[b], words[first / 64] >> first % 64,
                    std::min({64 - first % 64, count - first, bucket - first % bucket})};
        }
    };

    static auto fields(auto& m) { return std::tie(m.count, m.bucket, m.below, m.above, m.words); }
    std::size_t dimension() const { return count; }
    bool fits(std::size_t n) const {
        return count == n && detail::make_words(words.size(), n) && below.size() == above.size() &&
               detail::make_buckets(below.size(), n, bucket);
    }
    terms_type terms() const& { return {below.data(), above.data(), words.data(), bucket, count}; }
    void terms() const&& = delete;
    bool operator==(means const&) const = default;
};

}  // namespace laconic::messages
