// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "laconic/message/message.hpp"

/// Messages of numbers in buckets of consecutive ones, which share a norm, a step, or a magnitude.
namespace laconic::messages {

/// Numbers on a grid, in buckets of equal length (the last may be shorter): number j is code_j x steps_{j / bucket},
/// |code_j| <= levels. Codes are bytes where bytes hold all levels; else they are in wide_codes, and `codes` is empty.
template <Scalar T, class B>
struct quantized {
    using value_type = T;
    template <class Other>
    using for_backend = quantized<T, Other>;
    static constexpr int most_in_byte = kernels::most_levels<std::int8_t>;
    int levels = 1;
    std::size_t bucket = 1;
    typename B::template array<T> steps;
    typename B::template array<std::int8_t> codes;
    typename B::template array<std::int16_t> wide_codes = {};

    /// Calls use() with the array that holds the codes.
    static decltype(auto) with_codes(auto& m, auto use) {
        return m.levels <= most_in_byte ? use(m.codes) : use(m.wide_codes);
    }
    void resize(std::size_t n) {
        steps.resize(detail::pieces_in(n, bucket));
        codes.resize(levels <= most_in_byte ? n : 0);
        wide_codes.resize(levels <= most_in_byte ? 0 : n);
    }

    template <class Codes>
    struct in_bucket {
        T step;
        Codes codes;
        constexpr T operator()(std::size_t j) const { return static_cast<T>(codes[j]) * step; }
    };
    template <class Codes>
    struct in_buckets {
        T const* steps;
        Codes codes;
        std::size_t bucket;
        constexpr T operator()(std::size_t j) const { return static_cast<T>(codes[j]) * steps[j / bucket]; }
        constexpr in_bucket<Codes> from(std::size_t first) const { return {steps[first / bucket], codes + first}; }
        constexpr std::size_t left(std::size_t first) const { return bucket - first % bucket; }
    };
    template <class Codes>
    using terms_by = terms_in_order<in_buckets<Codes>>;
    /// A view of codes of either width.
    struct any_codes {
        std::int8_t const* bytes;
        std::int16_t const* wide;  ///< null: they are bytes
        constexpr int operator[](std::size_t j) const { return wide == nullptr ? bytes[j] : wide[j]; }
        friend constexpr any_codes operator+(any_codes c, std::size_t first) {
            return c.wide == nullptr ? any_codes{c.bytes + first, nullptr} : any_codes{nullptr, c.wide + first};
        }
    };

    static auto fields(auto& m) { return std::tie(m.levels, m.bucket, m.steps, m.codes, m.wide_codes); }
    std::size_t dimension() const { return codes.size() + wide_codes.size(); }
    bool fits(std::size_t n) const {
        return dimension() == n && with_codes(*this, [n](auto const& all) { return all.size() == n; }) &&
               detail::make_pieces(steps.size(), n, bucket);
    }
    terms_by<any_codes> terms() const& {
        auto const* const wide = levels <= most_in_byte ? nullptr : wide_codes.data();
        return {{steps.data(), {codes.data(), wide}, bucket}, dimension()};
    }
    void terms() const&& = delete;
    /// The terms of n numbers with such codes, from number `first` on, where a bucket begins or which is all in one.
    template <class Code>
    terms_by<Code const*> terms_of(std::size_t first, Code const* some, std::size_t n) const {
        return {{steps.data() + first / bucket, some, bucket}, n};
    }
    bool operator==(quantized const&) const = default;
};

/// Chooses the width of the codes once, not for each of them.
template <class B, Scalar S, Scalar T, class Held>
void add_message(B& on, std::span<S> out, S w, quantized<T, Held> const& m) {
    m.with_codes(m, [&](auto const& codes) { add_terms(on, out, w, m.terms_of(0, codes.data(), codes.size())); });
}

/// Numbers on halvings of a norm, in buckets of equal length (the last may be shorter): number j is 0 where codes_j is
/// 0, else norms_{j / bucket} x 2^(|codes_j| - levels) with the sign of codes_j, |codes_j| <= levels <= 1000.
template <Scalar T, class B>
struct dithered {
    using value_type = T;
    template <class Other>
    using for_backend = dithered<T, Other>;
    int levels = 1;
    std::size_t bucket = 1;
    typename B::template array<T> norms;
    typename B::template array<std::int16_t> codes;

    struct in_bucket {
        T norm;
        std::int16_t const* codes;
        int levels;
        constexpr T operator()(std::size_t j) const { return value_of(norm, levels, codes[j]); }
    };
    struct in_buckets {
        T const* norms;
        std::int16_t const* codes;
        int levels;
        std::size_t bucket;
        constexpr T operator()(std::size_t j) const { return value_of(norms[j / bucket], levels, codes[j]); }
        constexpr in_bucket from(std::size_t first) const { return {norms[first / bucket], codes + first, levels}; }
        constexpr std::size_t left(std::size_t first) const { return bucket - first % bucket; }
    };
    using terms_type = terms_in_order<in_buckets>;
    static constexpr T value_of(T norm, int levels, int code) {
        int const level = code < 0 ? -code : code;
        // In double, whose exponents reach below those of the floats at 1000 levels.
        auto const exponent = static_cast<std::uint64_t>(1023 + level - levels) << 52;
        // Chosen among integers, which compilers vectorize: 0 for level 0; the sign is put in by its bit.
        double const power = std::bit_cast<double>(level != 0 ? exponent : 0);
        using bits = detail::bits_of<T>;
        auto const size = std::bit_cast<bits>(static_cast<T>(static_cast<double>(norm) * power));
        return std::bit_cast<T>(size ^ static_cast<bits>(code < 0) << (8 * sizeof(T) - 1));
    }

    static auto fields(auto& m) { return std::tie(m.levels, m.bucket, m.norms, m.codes); }
    void resize(std::size_t n) {
        norms.resize(detail::pieces_in(n, bucket));
        codes.resize(n);
    }
    std::size_t dimension() const { return codes.size(); }
    bool fits(std::size_t n) const { return codes.size() == n && detail::make_pieces(norms.size(), n, bucket); }
    terms_type terms() const& { return terms_of(0, codes.data(), codes.size()); }
    void terms() const&& = delete;
    terms_type terms_of(std::size_t first, std::int16_t const* some, std::size_t n) const {  // as of quantized
        return {{norms.data() + first / bucket, some, levels, bucket}, n};
    }
    bool operator==(dithered const&) const = default;
};

/// Code x step + least, rounded once, so that it is the same with and without fused products.
template <Scalar T>
constexpr T stepped_value(T least, T step, int code) {
    return std::fma(static_cast<T>(code), step, least);
}

/// Numbers between the least and the largest of their bucket of consecutive ones (the last bucket may be shorter):
/// number j is least_{j / bucket} + codes_j x steps_{j / bucket}, codes_j < 2^width, width in 1 .. 8.
template <Scalar T, class B>
struct stepped {
    using value_type = T;
    template <class Other>
    using for_backend = stepped<T, Other>;
    int width = 8;
    std::size_t bucket = 1;
    typename B::template array<T> least, steps;
    typename B::template array<std::uint8_t> codes;

    struct in_bucket {
        T least, step;
        std::uint8_t const* codes;
        constexpr T operator()(std::size_t j) const { return stepped_value(least, step, codes[j]); }
    };
    struct in_buckets {
        T const *least, *steps;
        std::uint8_t const* codes;
        std::size_t bucket;
        constexpr T operator()(std::size_t j) const { return from(j)(0); }
        constexpr in_bucket from(std::size_t first) const {
            return {least[first / bucket], steps[first / bucket], codes + first};
        }
        constexpr std::size_t left(std::size_t first) const { return bucket - first % bucket; }
    };
    using terms_type = terms_in_order<in_buckets>;

    static auto fields(auto& m) { return std::tie(m.width, m.bucket, m.least, m.steps, m.codes); }
    void resize(std::size_t n) {
        least.resize(detail::pieces_in(n, bucket));
        steps.resize(least.size());
        codes.resize(n);
    }
    std::size_t dimension() const { return codes.size(); }
    bool fits(std::size_t n) const {
        return codes.size() == n && least.size() == steps.size() && detail::make_pieces(steps.size(), n, bucket);
    }
    terms_type terms() const& { return terms_of(0, codes.data(), codes.size()); }
    void terms() const&& = delete;
    terms_type terms_of(std::size_t first, std::uint8_t const* some, std::size_t n) const {  // as of quantized
        return {{least.data() + first / bucket, steps.data() + first / bucket, some, bucket}, n};
    }
    bool operator==(stepped const&) const = default;
};

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

    // Within one word of signs and one bucket.
    struct in_word {
        T scale;
        std::uint64_t word;
        constexpr T operator()(std::size_t j) const {
            using bits = detail::bits_of<T>;
            auto const sign = static_cast<bits>(word >> j & 1) << (8 * sizeof(T) - 1);
            return std::bit_cast<T>(std::bit_cast<bits>(scale) ^ sign);
        }
    };
    struct in_words {
        T const* scales;
        std::uint64_t const* words;
        std::size_t bucket;
        constexpr T operator()(std::size_t j) const { return from(j)(0); }
        constexpr in_word from(std::size_t first) const {
            return {bucket == 0 ? T(1) : scales[first / bucket], words[first / 64] >> first % 64};
        }
        constexpr std::size_t left(std::size_t first) const {
            return bucket == 0 ? 64 - first % 64 : std::min(64 - first % 64, bucket - first % bucket);
        }
    };
    using terms_type = terms_in_order<in_words>;

    static auto fields(auto& m) { return std::tie(m.count, m.bucket, m.scales, m.words); }
    void resize(std::size_t n) {
        count = n;
        scales.resize(bucket == 0 ? 0 : detail::pieces_in(n, bucket));
        words.resize(detail::pieces_in(n, 64));
    }
    std::size_t dimension() const { return count; }
    bool fits(std::size_t n) const {
        bool const are_votes = bucket == 0 && scales.empty();
        return count == n && detail::make_pieces(words.size(), n, 64) &&
               (are_votes || detail::make_pieces(scales.size(), n, bucket));
    }
    terms_type terms() const& { return {{scales.data(), words.data(), bucket}, count}; }
    void terms() const&& = delete;
    bool operator==(signs const&) const = default;
};

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

    struct in_word {
        T below, above;
        std::uint64_t word;
        constexpr T operator()(std::size_t j) const { return (word >> j & 1) != 0 ? -below : above; }
    };
    struct in_words {
        T const *below, *above;
        std::uint64_t const* words;
        std::size_t bucket;
        constexpr T operator()(std::size_t j) const { return from(j)(0); }
        constexpr in_word from(std::size_t first) const {
            return {below[first / bucket], above[first / bucket], words[first / 64] >> first % 64};
        }
        constexpr std::size_t left(std::size_t first) const {
            return std::min(64 - first % 64, bucket - first % bucket);
        }
    };
    using terms_type = terms_in_order<in_words>;

    static auto fields(auto& m) { return std::tie(m.count, m.bucket, m.below, m.above, m.words); }
    void resize(std::size_t n) {
        count = n;
        below.resize(detail::pieces_in(n, bucket));
        above.resize(below.size());
        words.resize(detail::pieces_in(n, 64));
    }
    std::size_t dimension() const { return count; }
    bool fits(std::size_t n) const {
        return count == n && detail::make_pieces(words.size(), n, 64) && below.size() == above.size() &&
               detail::make_pieces(below.size(), n, bucket);
    }
    terms_type terms() const& { return {{below.data(), above.data(), words.data(), bucket}, count}; }
    void terms() const&& = delete;
    bool operator==(means const&) const = default;
};

}  // namespace laconic::messages
