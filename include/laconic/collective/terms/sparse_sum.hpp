// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "laconic/backend/host.hpp"
#include "laconic/collective/terms/merge.hpp"
#include "laconic/collective/terms/sum_of_lists.hpp"
#include "laconic/collective/terms/term_sort.hpp"
#include "laconic/compress/full.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/message/sparse.hpp"
#include "laconic/wire/plain.hpp"
#include "laconic/wire/sparse.hpp"

namespace laconic {

/// A vector of d < 2^32 numbers as a list of terms v e_i with ascending i, none twice: what sparse collectives add up.
/// A term may be 0. On the wire it is the told message of threshold{}. As that can encode runs, and spells no
/// coordinates where it has all, a list is never more than a few bytes longer than the vector in full: no switch to
/// another form, which lists of pairs of words need from d / 2 terms on, would save anything. Reuses its memory. B's
/// arrays must be in memory that the CPU can reach.
template <Scalar T, class B = host>
class sparse_sum {
  public:
    using value_type = T;
    using message_type = sparse<full, support_is::told, T, B>;

    explicit sparse_sum(std::size_t d = 0) { reset(d); }

    /// Nothing, of a vector of d numbers.
    void reset(std::size_t d) {
        LACONIC_EXPECTS(d <= largest_dimension);
        said_.length = d;
        resize(0);
    }
    /// What is there is of no use any more: for read(), which then fills in less memory than after reset(d).
    void expect(std::size_t d) {
        LACONIC_EXPECTS(d <= largest_dimension);
        said_.length = d;
    }
    /// Makes room for n terms, and for sums of n terms; where there was room for fewer, for half as many again at
    /// least, so that lists which grow from round to round are moved a few times only.
    void reserve(std::size_t n) {
        auto const make_room = [n](auto& array) {
            if (array.capacity() < n) array.reserve(std::max(n, array.capacity() + array.capacity() / 2));
        };
        for (auto* const at : {&said_.support, &spare_at_}) make_room(*at);
        for (auto* const values : {&said_.payload.values, &spare_values_}) make_room(*values);
    }

    /// Makes room for n terms that keep_largest may be called with, here and in `on`.
    void reserve_to_cut(B& on, std::size_t n) {
        reserve(n);
        is_chosen_.reserve(n);
        if (chosen_.capacity() >= n) return;
        spare_values_.assign(n, T(0));
        select_largest(on, std::span<T const>(spare_values_), n, chosen_);
    }

    std::size_t dimension() const { return said_.length; }
    std::size_t size() const { return said_.support.size(); }
    std::span<coordinate const> support() const { return said_.support; }
    std::span<T const> values() const { return said_.payload.values; }
    message_type const& message() const { return said_; }

    /// One more term, beyond those that are there.
    void append(std::size_t at, T value) {
        LACONIC_EXPECTS(at < dimension() && (size() == 0 || at > said_.support.back()));
        said_.support.push_back(static_cast<coordinate>(at));
        said_.payload.values.push_back(value);
    }
    /// More terms, beyond those that are there, whose coordinates are counted from `first`. It may be below 0, modulo
    /// 2^32.
    void append(std::span<coordinate const> at, std::span<T const> values, std::size_t first) {
        LACONIC_EXPECTS(at.size() == values.size());
        auto const shift = static_cast<coordinate>(first);
        auto const place = [shift](coordinate i) { return static_cast<coordinate>(i + shift); };
        LACONIC_EXPECTS(at.empty() ||
                        (place(at.back()) < dimension() && (size() == 0 || place(at.front()) > said_.support.back())));
        auto const before = size();
        said_.support.insert(said_.support.end(), at.begin(), at.end());
        if (shift != 0)
            std::transform(at.begin(), at.end(), said_.support.begin() + static_cast<std::ptrdiff_t>(before), place);
        said_.payload.values.insert(said_.payload.values.end(), values.begin(), values.end());
    }
    /// All terms of a part of this vector that starts at `first`, beyond those that are there.
    void append(sparse_sum const& part, std::size_t first) { append(part.support(), part.values(), first); }
    /// The terms of a message, whose coordinates ascend: that of top_k, threshold or rand_k, or a dense one.
    template <TermMessage M>
    void assign(M const& m) {
        reset(m.dimension());
        auto const terms = m.terms();
        resize(terms.size());
        for (std::size_t j = 0; j < terms.size(); ++j) {
            auto const term = terms[j];
            LACONIC_EXPECTS(term.at < dimension() && (j == 0 || term.at > said_.support[j - 1]));
            said_.support[j] = static_cast<coordinate>(term.at);
            said_.payload.values[j] = static_cast<T>(term.value);
        }
    }
    /// Terms in any order, none twice.
    void assign(detail::term_sort<T>& sort, std::span<coordinate const> at, std::span<T const> values, std::size_t d) {
        expect(d);
        resize(at.size());
        sort(at, values, d, said_.support, said_.payload.values);
    }
    /// The coordinates first .. first + d - 1 of another vector, counted from first.
    void assign_part(sparse_sum const& whole, std::size_t first, std::size_t d) {
        reset(d);
        auto const begin = whole.count_below(first), n = whole.count_below(first + d) - begin;
        append(whole.support().subspan(begin, n), whole.values().subspan(begin, n), std::size_t{0} - first);
    }
    /// How many terms have lower coordinates.
    std::size_t count_below(std::size_t at) const {
        auto const all = support();
        return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), at) - all.begin());
    }
    /// Forgets the terms at coordinates from `first` on.
    void drop_from(std::size_t first) { resize(count_below(first)); }
    /// Forgets the terms with keeps(value) false.
    template <class Keeps>
    void keep_if(Keeps keeps) {
        std::size_t n = 0;
        for (std::size_t j = 0; j < size(); ++j) {
            T const value = said_.payload.values[j];
            said_.support[n] = said_.support[j];
            said_.payload.values[n] = value;
            n += keeps(value) ? std::size_t{1} : std::size_t{0};
        }
        resize(n);
    }
    /// The terms of `all` whose coordinates `other` does not have.
    void assign_without(sparse_sum const& all, sparse_sum const& other) {
        reset(all.dimension());
        resize(all.size());
        auto const* const here = all.support().data();
        auto const* const there = other.support().data();
        auto* const at = said_.support.data();
        auto* const values = said_.payload.values.data();
        std::size_t n = 0, i = 0, j = 0;
        while (j < all.size() && i < other.size()) {  // one of both at a time, or the same of both: no jump for it
            auto const mine = here[j], theirs = there[i];
            at[n] = mine;
            values[n] = all.values()[j];
            n += mine < theirs;
            j += mine <= theirs;
            i += theirs <= mine;
        }
        resize(n);
        append(all.support().subspan(j), all.values().subspan(j), 0);
    }

    /// Adds another vector of the same dimension. One pass over both; the sum of two does not depend on which is which.
    void add(sparse_sum const& other) {
        LACONIC_EXPECTS(other.dimension() == dimension());
        add({other.support(), other.values()});
    }

    /// <- the sum of lists of terms of this vector, which are added in their order, the first to nothing.
    void assign_sum(detail::sum_of_lists<T>& by, std::span<typename detail::merge<T>::list const> lists) {
        resize(0);
        if (by.pays_for(lists))
            by(lists, [&](std::span<coordinate const> at, std::span<T const> values) {
                said_.support.insert(said_.support.end(), at.begin(), at.end());
                said_.payload.values.insert(said_.payload.values.end(), values.begin(), values.end());
            });
        else
            for (auto const& list : lists) add(list);
    }

    /// Keeps the k terms of largest magnitude, of equal ones those of lower coordinates, and adds the others to
    /// left_out, a vector of the same dimension. Finite values.
    void keep_largest(B& on, std::size_t k, sparse_sum& left_out) {
        if (size() <= k) return;
        split_largest(on, k);
        left_out.add({spare_at_, spare_values_});
    }
    /// The same, and puts the others behind those of `rest`, whose coordinates begin with this vector's at `first`.
    void keep_largest(B& on, std::size_t k, sparse_sum& rest, std::size_t first) {
        if (size() <= k) return;
        split_largest(on, k);
        rest.append(spare_at_, spare_values_, first);
    }

    /// <- all d coordinates, with the terms of a part that starts at `first`, and 0 elsewhere. Returns the numbers, to
    /// be written over until something else is done with this.
    std::span<T> assign_in_full(sparse_sum const& part, std::size_t first, std::size_t d) {
        LACONIC_EXPECTS(&part != this && first + part.dimension() <= d);
        expect(d);
        resize(d);
        std::iota(said_.support.begin(), said_.support.end(), coordinate{0});
        std::span<T> const all(said_.payload.values);
        std::fill(all.begin(), all.end(), T(0));
        for (std::size_t j = 0; j < part.size(); ++j) all[first + part.support()[j]] = part.values()[j];
        return all;
    }
    bool operator==(sparse_sum const& other) const { return said_ == other.said_; }

    template <BitSink W>
    friend void write(W& sink, sparse_sum const& s) {
        write(sink, s.said_);
    }
    /// Into one that has the dimension; throws wire_error, for numbers that are not finite as well.
    template <BitSource R>
    friend void read(B& on, R& source, sparse_sum& s) {
        read(on, source, s.said_);
    }

  private:
    void add(typename detail::merge<T>::list other) {
        auto const most = std::min(size() + other.at.size(), dimension());
        spare_at_.resize(most);
        spare_values_.resize(most);
        swap_spare(detail::merge<T>{}({support(), values()}, other, spare_at_, spare_values_));
    }
    // The others than the k largest come to the spare lists. Both are written for each term, so that there is no jump
    // that depends on which it is: half of them may be either.
    void split_largest(B& on, std::size_t k) {
        select_largest(on, values(), k, chosen_);
        is_chosen_.assign(size(), 0);
        for (auto const j : chosen_) is_chosen_[j] = 1;
        spare_at_.resize(size());
        spare_values_.resize(size());
        std::size_t kept = 0, left = 0;
        for (std::size_t j = 0; j < size(); ++j) {
            auto const at = said_.support[j];
            auto const value = said_.payload.values[j];
            spare_at_[left] = said_.support[kept] = at;
            spare_values_[left] = said_.payload.values[kept] = value;
            kept += is_chosen_[j];
            left += 1u - is_chosen_[j];
        }
        spare_at_.resize(left);
        spare_values_.resize(left);
        resize(k);
    }
    void resize(std::size_t n) {
        said_.support.resize(n);
        said_.payload.values.resize(n);
    }
    void swap_spare(std::size_t n) {
        said_.support.swap(spare_at_);
        said_.payload.values.swap(spare_values_);
        resize(n);
    }

    message_type said_;
    typename B::template array<coordinate> spare_at_, chosen_;
    typename B::template array<T> spare_values_;
    typename B::template array<std::uint8_t> is_chosen_;
};

namespace detail {

/// How many terms the sum of the vectors of P ranks can have, of d numbers, where all bring as many as v has.
template <Scalar T, class B>
std::size_t most_terms_of_sum(sparse_sum<T, B> const& v, std::size_t d, std::size_t ranks) {
    auto const own = std::min(v.size(), d);
    return own > d / ranks ? d : own * ranks;
}

}  // namespace detail

}  // namespace laconic
