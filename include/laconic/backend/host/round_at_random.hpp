// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/backend/host/memory.hpp"
#include "laconic/backend/host/philox.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

namespace detail {

// The bits of a word for all that are rounded together, or for none.
constexpr std::uint64_t all_bits_if(bool any) { return any ? ~std::uint64_t{0} : 0; }

// Has the line of memory at an address fetched, which need not be one of ours.
inline void fetch([[maybe_unused]] std::uintptr_t address) {
#if defined(__GNUC__)
    __builtin_prefetch(reinterpret_cast<void const*>(address));
#endif
}

}  // namespace detail

/// How many values are rounded together: a number that the compiler knows, so that it makes vectors of plain loops.
inline constexpr std::size_t rounded_together = 64;

/// codes_i = exactly(x_i, from.chance(first + i)), where the random words are drawn many at once and for nearly all
/// values their upper halves are enough. together(x, halves, codes) makes rounded_together codes of as many values and
/// halves, and tells by bits, the first as the lowest, for which of them the lower half of the word decides: where the
/// upper one equals what it is compared with. Other bits may be set, too: they cost time, and change nothing.
template <class A, Scalar T, class Code, class Together, class Exactly>
void round_at_random(basic_host<A>& on, std::span<T const> x, key from, std::uint64_t first, std::span<Code> codes,
                     Together together, Exactly exactly) {
    LACONIC_EXPECTS(codes.size() == x.size());
    // So many are drawn at once: few, so that memory does not wait while all are drawn, and without a rest for vectors.
    constexpr std::size_t most = 12 * rounded_together, ahead = 24 * rounded_together;
    std::array<std::uint16_t, most + 8> drawn;
    auto const decide = [&](T v, std::uint16_t draw, std::uint64_t n) {
        auto const upper = std::uint32_t{draw} << 16;
        Code const lower_end = exactly(v, upper), upper_end = exactly(v, upper | 0xffff);
        return lower_end == upper_end ? lower_end : exactly(v, from.chance(n));
    };
    for (std::size_t begin = 0; begin < x.size(); begin += most) {
        std::size_t const n = std::min(most, x.size() - begin), skipped = (first + begin) % 8;
        draw_halves(on, from, first + begin - skipped, std::span(drawn).first(skipped + n));
        for (std::size_t i = 0; i < n; i += rounded_together) {
            std::size_t const count = std::min(rounded_together, n - i);
            T const* const values = x.data() + begin + i;
            std::uint16_t const* const halves = drawn.data() + skipped + i;
            Code* const out = codes.data() + begin + i;
            std::uint64_t undecided;
            // The next values come from memory while these are rounded.
            for (std::size_t byte = 0; byte < rounded_together * sizeof(T); byte += 64)
                detail::fetch(reinterpret_cast<std::uintptr_t>(values) + ahead * sizeof(T) + byte);
            if (count == rounded_together) {
                undecided = together(values, halves, out);
            } else {  // padded with the first of them, which is as good as any
                std::array<T, rounded_together> v;
                v.fill(values[0]);
                std::array<std::uint16_t, rounded_together> h{};
                std::array<Code, rounded_together> c;
                std::copy_n(values, count, v.begin());
                std::copy_n(halves, count, h.begin());
                undecided = together(v.data(), h.data(), c.data());
                std::copy_n(c.begin(), count, out);
            }
            for (; undecided != 0; undecided &= undecided - 1)
                if (auto const j = static_cast<std::size_t>(std::countr_zero(undecided)); j < count)
                    out[j] = decide(values[j], halves[j], first + begin + i + j);
        }
    }
}

}  // namespace laconic
