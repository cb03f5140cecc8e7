// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/backend/host/codes_out.hpp"
#include "laconic/backend/host/impl/rounded_together.hpp"
#include "laconic/backend/host/philox.hpp"

namespace laconic::kernels {

/// window(first), window(first + 1), .. window(end - 1) of a key, for who asks for them in this order. Some are drawn
/// at once, but not so many that memory has nothing to do meanwhile.
template <class A>
class random_windows {
  public:
    static constexpr std::size_t most = 8 * rounded_together;  ///< that are given at once

    random_windows(key from, std::uint64_t first, std::uint64_t end)
        : from_(from), blocks_(from), begin_(first), drawn_to_(first), end_(end) {}

    key from() const { return from_; }
    /// From the n-th on at most so many, and no fewer than rounded_together of them. They last until the next call.
    std::span<std::uint16_t const> at(std::uint64_t n, std::size_t count) {
        if (n + std::min(count, rounded_together) > drawn_to_) {
            begin_ = n - n % 64;
            std::size_t const some = std::min<std::uint64_t>(most, end_ - begin_);
            draw_windows(blocks_, begin_, std::span(drawn_).first((some + 63) / 64 * 64));
            drawn_to_ = begin_ + some;
        }
        std::size_t const skipped = n - begin_;
        return {drawn_.data() + skipped, std::min<std::size_t>(count, drawn_to_ - n)};
    }

  private:
    key from_;
    detail::random_blocks<A, detail::for_windows> blocks_;
    std::uint64_t begin_, drawn_to_, end_;
    alignas(64) std::array<std::uint16_t, most> drawn_;
};

/// codes_i = exactly(x_i, from.chance(first + i)), where the random words are drawn many at once and for nearly all
/// values their upper halves are enough. together(x, windows, codes) makes rounded_together codes of as many values and
/// windows, and marks by bits, the first as the lowest, for which of them the lower half of the word decides. Other
/// bits may be set, too: they cost time, and change nothing.
template <class A, Scalar T, class Code, class Together, class Exactly>
void round_at_random(random_windows<A>& draws, std::span<T const> x, std::uint64_t first,
                     detail::codes_out<A, Code>& codes, Together together, Exactly exactly) {
    static_assert(random_windows<A>::most <= detail::codes_out<A, Code>::most);
    constexpr auto n = rounded_together;
    auto const decide = [&](T v, std::uint16_t draw, std::uint64_t number) {
        auto const upper = std::uint32_t{draw} << 16;
        Code const lower_end = exactly(v, upper), upper_end = exactly(v, upper | 0xffff);
        return lower_end == upper_end ? lower_end : exactly(v, draws.from().chance(number));
    };
    std::array<std::uint64_t, random_windows<A>::most / n> undecided;
    for (std::size_t i = 0; i < x.size();) {
        auto const windows = draws.at(first + i, x.size() - i);
        T const* const values = x.data() + i;
        Code* const out = codes.room();
        std::size_t done = 0;
        std::uint64_t any = 0;
        for (; done + n <= windows.size(); done += n)
            any |= undecided[done / n] = together(values + done, windows.data() + done, out + done);
        if (done == 0) {  // the last few, padded with the first of them, which is as good as any
            done = windows.size();
            std::array<T, n> v;
            v.fill(values[0]);
            std::array<std::uint16_t, n> w{};
            std::array<Code, n> c;
            std::copy_n(values, done, v.begin());
            std::copy_n(windows.data(), done, w.begin());
            any = undecided[0] = together(v.data(), w.data(), c.data()) & ((std::uint64_t{1} << done) - 1);
            std::copy_n(c.begin(), done, out);
        }
        for (std::size_t j = 0; any != 0 && j < done; j += n)
            for (auto bits = undecided[j / n]; bits != 0; bits &= bits - 1) {
                auto const at = j + static_cast<std::size_t>(std::countr_zero(bits));
                out[at] = decide(values[at], windows[at], first + i + at);
            }
        codes.made(done);
        i += done;
    }
}

}  // namespace laconic::kernels
