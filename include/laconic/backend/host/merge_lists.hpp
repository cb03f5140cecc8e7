// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>

#include "laconic/backend/arguments.hpp"
#include "laconic/backend/host/impl/instruction_set.hpp"
#include "laconic/backend/scales.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

/// Whether merge_eights() of impl/x86/ makes sums of such lists: of floats, with AVX-512.
template <class T, class Set = instruction_set::chosen>
inline constexpr bool merges_by_registers = std::same_as<T, float>&& std::derived_from<Set, instruction_set::avx512>;

/// The sum of two lists of terms with ascending coordinates, none twice, in one pass over both, without a jump that
/// depends on the coordinates. By registers where there is a kernel for it; else the lower half of the sum and the
/// upper are made by turns: a step of one waits for its own last step only, so that a processor does both at a time.
template <Scalar T, class Set = instruction_set::chosen>
class merge {
  public:
    using list = kernels::listed_terms<T>;

    /// Writes the terms to at[0], at[1], .. and values, which overlap neither list, and gives how many there are. Where
    /// there is no room for as many as both lists have, the sum is made in one part.
    std::size_t operator()(list a, list b, std::span<coordinate> at, std::span<T> values) {
        LACONIC_EXPECTS(at.size() == values.size() && at.size() >= std::max(a.at.size(), b.at.size()));
        a_ = a, b_ = b, at_ = at, values_ = values;
        if constexpr (merges_by_registers<T, Set>) {
            part all{0, 0, 0, a.at.size(), b.at.size()};
            take_by_registers(all);
            finish(all);
            return all.n;
        }
        std::size_t middle = a.at.size(), other_middle = b.at.size();
        if (at.size() >= middle + other_middle && middle > 1) {
            middle /= 2;
            auto const place = std::lower_bound(b.at.begin(), b.at.end(), a.at[middle]);
            other_middle = static_cast<std::size_t>(place - b.at.begin());
        }
        part low{0, 0, 0, middle, other_middle},
            high{middle, other_middle, middle + other_middle, a.at.size(), b.at.size()};
        for (;;) {
            while (take_run(low)) {
            }
            while (take_run(high)) {
            }
            if (!low.is_long() || !high.is_long()) break;
            std::tie(low, high) = take_smaller(run, low, high);
        }
        finish(low);
        finish(high);
        // Where both had a coordinate in common, the lower half left a gap.
        std::size_t const first = middle + other_middle;
        if (low.n < first) {
            std::copy(at.data() + first, at.data() + high.n, at.data() + low.n);
            std::copy(values.data() + first, values.data() + high.n, values.data() + low.n);
        }
        return low.n + (high.n - first);
    }

  private:
    static constexpr std::size_t run = 16;

    // What is left of a part of both lists: from i and j up to the ends, and its sum goes to n.
    struct part {
        std::size_t i, j, n, end, other_end;
        bool is_long() const { return end - i >= run && other_end - j >= run; }
    };

    // Runs of neighbours, as blocks give them, many at a time: those of one list alone, or the same of both.
    bool take_run(part& p) {
        if (!p.is_long()) return false;
        coordinate const *const a = a_.at.data() + p.i, *const b = b_.at.data() + p.j;
        if (a[run - 1] < b[0]) {
            take(a_, p.i, run, p.n);
        } else if (b[run - 1] < a[0]) {
            take(b_, p.j, run, p.n);
        } else if (a[0] == b[0] && a[run - 1] == a[0] + (run - 1) && b[run - 1] == a[run - 1]) {
            for (std::size_t l = 0; l < run; ++l) values_[p.n + l] = a_.values[p.i + l] + b_.values[p.j + l];
            std::copy_n(a, run, at_.data() + p.n);
            p.i += run, p.j += run, p.n += run;
        } else {
            return false;
        }
        return true;
    }
    // Ever more terms at a time, as long as there are no runs.
    void take_by_registers(part& p) {
        constexpr std::size_t least = 4 * run, most = 64 * run;
        for (std::size_t terms = least;;) {
            while (take_run(p)) terms = least;
            auto const place = merge_eights<Set>({p.i, p.j, p.n}, terms, a_.at, a_.values.data(), b_.at,
                                                 b_.values.data(), at_, values_.data());
            if (place.n == p.n) return;
            p.i = place.i, p.j = place.j, p.n = place.n;
            terms = std::min(2 * terms, most);
        }
    }
    void take(list const& from, std::size_t& i, std::size_t count, std::size_t& n) {
        std::copy_n(from.at.data() + i, count, at_.data() + n);
        std::copy_n(from.values.data() + i, count, values_.data() + n);
        i += count, n += count;
    }

    // So many steps of each part, by turns: the term of lower coordinate, or the sum where both have it. The parts come
    // as copies, which live in registers.
    template <std::same_as<part>... P>
    std::tuple<P...> take_smaller(std::size_t steps, P... parts) {
        coordinate const *const a = a_.at.data(), *const b = b_.at.data();
        T const *const x = a_.values.data(), *const y = b_.values.data();
        coordinate* const at = at_.data();
        T* const values = values_.data();
        auto const take_one = [=](part& p) {
            coordinate const here = a[p.i], there = b[p.j];
            bool const from_here = here <= there, from_there = there <= here;
            at[p.n] = from_here ? here : there;
            values[p.n] = only_if(from_here, x[p.i]) + only_if(from_there, y[p.j]);
            p.i += from_here, p.j += from_there, ++p.n;
        };
        for (; steps > 0; --steps) (take_one(parts), ...);
        return {parts...};
    }
    // Else -0, which changes no sum; by bits, as compilers like to make a jump of it.
    static T only_if(bool condition, T v) {
        using bits = bits_of<T>;
        bits const mask = bits(0) - condition;
        return std::bit_cast<T>(
            static_cast<bits>((std::bit_cast<bits>(v) & mask) | (std::bit_cast<bits>(T(-0.0)) & ~mask)));
    }
    void finish(part& p) {
        while (p.is_long())
            if (!take_run(p)) std::tie(p) = take_smaller(run, p);
        while (p.i < p.end && p.j < p.other_end) std::tie(p) = take_smaller(1, p);
        take(a_, p.i, p.end - p.i, p.n);
        take(b_, p.j, p.other_end - p.j, p.n);
    }

    list a_, b_;
    std::span<coordinate> at_;
    std::span<T> values_;
};

}  // namespace laconic::detail
