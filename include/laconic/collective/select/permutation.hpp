// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/core/contract.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/term.hpp"

namespace laconic::detail {

/// A permutation of 0 .. n - 1, n <= 2^32, that is known to each rank which has the key, without a table: on the least
/// power of two that is not below n, four rounds of a multiplication by an odd number, an addition and a shift, each of
/// which can be undone, again and again until what comes out is below n (cycle walking: Black, Rogaway, CT-RSA 2002),
/// less than twice on average. It breaks up patterns; it is no cipher, and does not draw evenly among all permutations.
class permutation {
  public:
    permutation(std::uint64_t n, key from) : n_(n), width_(width_of(n)) {
        LACONIC_EXPECTS(n <= std::uint64_t{1} << 32);
        for (std::uint64_t r = 0; r < rounds; ++r) {
            auto const odd = from.long_word(2 * r) | 1;
            rounds_[r] = {odd, from.long_word(2 * r + 1), inverse_of(odd)};
        }
    }

    /// The image of i < n.
    std::uint64_t operator()(std::uint64_t i) const {
        LACONIC_EXPECTS(i < n_);
        do {
            for (auto const& r : rounds_) i = fold(i * r.factor + r.offset);
        } while (i >= n_);
        return i;
    }
    /// The number whose image is i < n.
    std::uint64_t inverse(std::uint64_t i) const {
        LACONIC_EXPECTS(i < n_);
        do {
            for (std::size_t r = rounds; r-- > 0;) i = (fold(i) - rounds_[r].offset) * rounds_[r].inverse & mask();
        } while (i >= n_);
        return i;
    }

    /// The same for each of x, many at a time.
    void operator()(std::span<coordinate> x) const {
        walk(x, [this](coordinate i) {
            for (auto const& r : rounds_)
                i = fold(i * static_cast<coordinate>(r.factor) + static_cast<coordinate>(r.offset));
            return i;
        });
    }
    void inverse(std::span<coordinate> x) const {
        walk(x, [this](coordinate i) {
            for (std::size_t r = rounds; r-- > 0;)
                i = (fold(i) - static_cast<coordinate>(rounds_[r].offset)) *
                        static_cast<coordinate>(rounds_[r].inverse) &
                    static_cast<coordinate>(mask());
            return i;
        });
    }

  private:
    // Each of x becomes what step() makes of it, again and again until it is below n.
    void walk(std::span<coordinate> x, auto step) const {
        constexpr std::size_t some = 256;
        std::array<coordinate, some> values, places;
        for (; !x.empty(); x = x.subspan(std::min(some, x.size()))) {
            std::size_t left = std::min(some, x.size());
            for (std::size_t j = 0; j < left; ++j) {
                LACONIC_EXPECTS_COSTLY(x[j] < n_);
                values[j] = x[j];
                places[j] = static_cast<coordinate>(j);
            }
            while (left > 0) {
                for (std::size_t j = 0; j < left; ++j) values[j] = step(values[j]);
                std::size_t walk_on = 0;
                for (std::size_t j = 0; j < left; ++j) {
                    auto const value = values[j], place = places[j];
                    x[place] = values[walk_on] = value;
                    places[walk_on] = place;
                    walk_on += value >= n_;
                }
                left = walk_on;
            }
        }
    }

    static constexpr std::size_t rounds = 4;
    struct round {
        std::uint64_t factor, offset, inverse;
    };

    std::uint64_t mask() const { return (std::uint64_t{1} << width_) - 1; }
    // Its own inverse, as it shifts by half of the width or more.
    template <std::unsigned_integral Index>
    Index fold(Index i) const {
        i &= static_cast<Index>(mask());
        return i ^ i >> (width_ + 1) / 2;
    }
    // Modulo 2^64, by Newton: x is right to 3 bits, then 6, 12, ..
    static std::uint64_t inverse_of(std::uint64_t odd) {
        std::uint64_t x = odd;
        for (int right = 3; right < 64; right *= 2) x *= 2 - odd * x;
        return x;
    }

    std::uint64_t n_;
    unsigned width_;
    std::array<round, rounds> rounds_{};
};

}  // namespace laconic::detail
