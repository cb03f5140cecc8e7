// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/backend/arguments.hpp"
#include "laconic/backend/host/impl/instruction_set.hpp"
#include "laconic/backend/host/memory.hpp"
#include "laconic/core/size.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

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
