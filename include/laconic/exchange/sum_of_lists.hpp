// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"
#include "laconic/exchange/merge.hpp"

namespace laconic::detail {

/// The sum of many lists of terms with ascending coordinates, none twice in a list, in two passes over each: one sets a
/// bit for every coordinate that a list has; then the place of a coordinate in the sum is the number of bits below its
/// own, and the other adds the terms where they belong. No jump depends on the coordinates. Values of one coordinate
/// are added in the order of the lists, to -0, which changes none: the same bits as by merging one list after another.
///
/// It goes through the vector by windows whose bits, places and sums stay in the cache next to the processor. Memory:
/// 12 bytes for 64 coordinates of a window, and what its terms take. Time goes with the terms, and with the coordinates
/// between them, a 64th of a term each.
template <Scalar T>
class sum_of_lists {
  public:
    using list = typename merge<T>::list;

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

    /// Makes room for so many lists.
    void make_room(std::size_t lists) {
        parts_.reserve(lists);
        marks_.resize(window / word_bits + 1);
        below_.resize(window / word_bits);
        at_.resize(most_of_a_list(lists) * lists);
        sums_.resize(most_of_a_list(lists) * lists);
    }

    /// take(at, values) is given the terms of the sum, some at a time, ascending.
    template <class Take>
    void operator()(std::span<list const> lists, Take take) {
        make_room(lists.size());
        parts_.clear();
        for (auto const& l : lists) parts_.push_back({l.at.data(), l.values.data(), 0, 0, l.at.size()});
        while (choose_window(most_of_a_list(lists.size()))) {
            for (auto& p : parts_) mark(p);
            auto const n = count();
            std::fill_n(sums_.data(), n, T(-0.0));
            for (auto& p : parts_) add(p);
            std::fill_n(marks_.data(), words() + 1, 0);
            take(std::span<coordinate const>(at_).first(n), std::span<T const>(sums_).first(n));
        }
    }

  private:
    static constexpr std::size_t word_bits = 64, window = std::size_t{1} << 16;  // coordinates, a multiple of 64
    static constexpr std::size_t terms_in_window = 8192, least_of_a_list = 64;
    static constexpr std::size_t run = 8;  // of neighbours, which are marked and added together

    struct part {
        coordinate const* at;
        T const* values;
        std::size_t begin, end, size;  // of the window, and of the list
    };

    static std::size_t most_of_a_list(std::size_t lists) {
        return std::max(least_of_a_list, terms_in_window / std::max<std::size_t>(1, lists));
    }
    // From the next term on, `most` terms of each list at most; false where none is left.
    bool choose_window(std::size_t most) {
        std::uint64_t first = ~std::uint64_t{0};
        for (auto const& p : parts_)
            if (p.end < p.size) first = std::min<std::uint64_t>(first, p.at[p.end]);
        if (first == ~std::uint64_t{0}) return false;
        first_ = first / word_bits * word_bits;
        end_ = first_ + window;
        for (auto const& p : parts_)
            if (p.size - p.end > most) end_ = std::min<std::uint64_t>(end_, p.at[p.end + most]);
        return true;
    }
    std::size_t words() const { return static_cast<std::size_t>(end_ - first_ + word_bits - 1) / word_bits; }
    static bool is_run(coordinate const* at) { return at[run - 1] - at[0] == run - 1; }

    void mark(part& p) {
        auto* const marks = marks_.data();
        auto const first = first_, end = end_;
        auto const mark_one = [=](coordinate at) {
            marks[(at - first) / word_bits] |= std::uint64_t{1} << (at - first) % word_bits;
        };
        std::size_t j = p.begin = p.end;
        for (; j + run <= p.size && p.at[j + run - 1] < end; j += run) {
            if (is_run(p.at + j)) {
                constexpr std::uint64_t ones = (std::uint64_t{1} << run) - 1;
                auto const i = p.at[j] - first, bit = i % word_bits;
                marks[i / word_bits] |= ones << bit;
                marks[i / word_bits + 1] |= ones >> 1 >> (word_bits - 1 - bit);
            } else {
                for (std::size_t l = 0; l < run; ++l) mark_one(p.at[j + l]);
            }
        }
        for (; j < p.size && p.at[j] < end; ++j) mark_one(p.at[j]);
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
    void add(part const& p) {
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
            if (is_run(p.at + j)) {
                auto const n = place(p.at[j]);
                for (std::size_t l = 0; l < run; ++l) at[n + l] = p.at[j + l];
                for (std::size_t l = 0; l < run; ++l) sums[n + l] += p.values[j + l];
            } else {
                for (std::size_t l = 0; l < run; ++l) add_one(p.at[j + l], p.values[j + l]);
            }
        }
        for (; j < p.end; ++j) add_one(p.at[j], p.values[j]);
    }

    std::vector<part> parts_;
    std::vector<std::uint64_t> marks_;  // of a window and a word more, for runs; zeros between windows
    std::vector<coordinate> below_, at_;
    std::vector<T> sums_;
    std::uint64_t first_ = 0, end_ = 0;
};

}  // namespace laconic::detail
