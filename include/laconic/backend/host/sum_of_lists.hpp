// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "laconic/backend/host/memory.hpp"
#include "laconic/backend/scales.hpp"

/// Sums of lists of terms with ascending coordinates: of two, by merging, and of many.
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

/// The sum of many lists of terms with ascending coordinates, none twice in a list, in two passes over each: one sets a
/// bit for every coordinate that a list has; then the place of a coordinate in the sum is the number of bits below its
/// own, and the other adds the terms where they belong. No jump depends on the coordinates. Values of one coordinate
/// are added in the order of the lists, to -0, which changes none: the same bits as by merging one list after another.
///
/// It goes through the vector by windows whose bits, places and sums stay in the cache next to the processor. Memory:
/// 12 bytes for 64 coordinates of a window, 16 for each list, and what the terms of a window take, at most 8192 or 64
/// of each list. Time goes with the terms, and with the coordinates between them, a 64th of a term each.
template <Scalar T, class Set = instruction_set::chosen>
class sum_of_lists {
  public:
    using list = kernels::listed_terms<T>;

    /// Whether it takes less time than merges: where terms are far apart, there are too many bits to look at.
    static bool pays_for(std::span<list const> lists) {
        std::size_t terms = 0;
        coordinate first = ~coordinate{0}, last = 0;
        for (auto const& l : lists) {
            if (l.at.empty()) continue;
            terms += l.at.size();
            first = std::min(first, l.at.front());
            last = std::max(last, l.at.back());
        }
        return terms > 0 && lists.size() > 2 && (last - first) / word_bits <= 2 * (lists.size() - 1) * terms;
    }

    /// Takes scratch memory of `on` for so many lists that have so many terms together.
    template <class A>
    sum_of_lists(kernels::basic_host<A>& on, std::size_t lists, std::size_t terms)
        : parts_(on.template scratch<part>(scratch_for::parts, lists)),
          marks_(on.template scratch<std::uint64_t>(scratch_for::marks, window / word_bits + 1)),
          below_(on.template scratch<coordinate>(scratch_for::counts, window / word_bits)) {
        auto const in_window = std::min(most_of_a_list(lists) * lists, terms);
        at_ = on.template scratch<coordinate>(scratch_for::coordinates, in_window);
        sums_ = on.template scratch<T>(scratch_for::sums, in_window);
    }

    /// take(at, values) is given the terms of the sum, some at a time, ascending.
    template <class Take>
    void operator()(std::span<list const> lists, Take take) {
        std::fill_n(parts_.data(), lists.size(), part{0, 0});
        while (choose_window(lists, most_of_a_list(lists.size()))) {
            std::fill_n(marks_.data(), words() + 1, 0);
            for (std::size_t l = 0; l < lists.size(); ++l) mark(lists[l], parts_[l]);
            auto const n = count();
            std::fill_n(sums_.data(), n, T(-0.0));
            for (std::size_t l = 0; l < lists.size(); ++l) add(lists[l], parts_[l]);
            take(std::span<coordinate const>(at_.first(n)), std::span<T const>(sums_.first(n)));
        }
    }

  private:
    static constexpr std::size_t word_bits = 64, window = std::size_t{1} << 16;  // coordinates, a multiple of 64
    static constexpr std::size_t terms_in_window = 8192, least_of_a_list = 64;
    static constexpr std::size_t run = 8;  // of neighbours, which are marked and added together

    struct part {
        std::size_t begin, end;  // of a list, in the window
    };

    static std::size_t most_of_a_list(std::size_t lists) {
        return std::max(least_of_a_list, terms_in_window / std::max<std::size_t>(1, lists));
    }
    // From the next term on, `most` terms of each list at most; false where none is left.
    bool choose_window(std::span<list const> lists, std::size_t most) {
        std::uint64_t first = ~std::uint64_t{0};
        for (std::size_t l = 0; l < lists.size(); ++l)
            if (auto const end = parts_[l].end; end < lists[l].at.size())
                first = std::min<std::uint64_t>(first, lists[l].at[end]);
        if (first == ~std::uint64_t{0}) return false;
        first_ = first / word_bits * word_bits;
        end_ = first_ + window;
        for (std::size_t l = 0; l < lists.size(); ++l)
            if (auto const end = parts_[l].end; lists[l].at.size() - end > most)
                end_ = std::min<std::uint64_t>(end_, lists[l].at[end + most]);
        return true;
    }
    std::size_t words() const { return as_size(end_ - first_ + word_bits - 1) / word_bits; }
    static bool is_run(coordinate const* at) { return at[run - 1] - at[0] == run - 1; }

    void mark(list const& whole, part& p) {
        auto const* const at = whole.at.data();
        auto const size = whole.at.size();
        auto* const marks = marks_.data();
        auto const first = first_, end = end_;
        auto const mark_one = [=](coordinate i) {
            marks[(i - first) / word_bits] |= std::uint64_t{1} << (i - first) % word_bits;
        };
        std::size_t j = p.begin = p.end;
        for (; j + run <= size && at[j + run - 1] < end; j += run) {
            if (is_run(at + j)) {
                constexpr std::uint64_t ones = (std::uint64_t{1} << run) - 1;
                auto const i = at[j] - first, bit = i % word_bits;
                marks[i / word_bits] |= ones << bit;
                marks[i / word_bits + 1] |= ones >> 1 >> (word_bits - 1 - bit);
            } else {
                for (std::size_t l = 0; l < run; ++l) mark_one(at[j + l]);
            }
        }
        for (; j < size && at[j] < end; ++j) mark_one(at[j]);
        p.end = j;
    }
    // How many coordinates are marked, and before each word.
    std::size_t count() {
        coordinate n = 0;
        for (std::size_t w = 0; w < words(); ++w) {
            below_[w] = n;
            n += static_cast<coordinate>(std::popcount(marks_[w]));
        }
        return n;
    }
    void add(list const& whole, part const& p) {
        auto const* const from = whole.at.data();
        auto const* const values = whole.values.data();
        auto const* const marks = marks_.data();
        auto const* const below = below_.data();
        auto* const at = at_.data();
        auto* const sums = sums_.data();
        auto const first = first_;
        auto const place = [=](coordinate here) {
            auto const i = here - first;
            auto const lower = (std::uint64_t{1} << i % word_bits) - 1;
            return below[i / word_bits] + static_cast<std::size_t>(std::popcount(marks[i / word_bits] & lower));
        };
        auto const add_one = [=](coordinate here, T value) {
            auto const n = place(here);
            at[n] = here;
            sums[n] += value;
        };
        std::size_t j = p.begin;
        for (; j + run <= p.end; j += run) {
            if (is_run(from + j)) {
                auto const n = place(from[j]);
                for (std::size_t l = 0; l < run; ++l) at[n + l] = from[j + l];
                for (std::size_t l = 0; l < run; ++l) sums[n + l] += values[j + l];
            } else {
                for (std::size_t l = 0; l < run; ++l) add_one(from[j + l], values[j + l]);
            }
        }
        for (; j < p.end; ++j) add_one(from[j], values[j]);
    }

    std::span<part> parts_;
    std::span<std::uint64_t> marks_;  // of a window and a word more, for runs
    std::span<coordinate> below_, at_;
    std::span<T> sums_;
    std::uint64_t first_ = 0, end_ = 0;
};

}  // namespace laconic::detail
