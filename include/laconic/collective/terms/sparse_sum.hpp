// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

#include "laconic/backend/arguments.hpp"
#include "laconic/backend/array.hpp"
#include "laconic/backend/host.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/message/message.hpp"
#include "laconic/message/sparse.hpp"
#include "laconic/wire/plain_kinds.hpp"
#include "laconic/wire/sparse.hpp"

namespace laconic {

/// A vector of d < 2^32 numbers as a list of terms v e_i with ascending i, none twice: what sparse collectives add up.
/// A term may be 0. On the wire it is the listed message of threshold{}. As that can encode runs, and encodes no
/// coordinates where it has all, a list is never more than a few bytes longer than the vector in full: no switch to
/// another form, which lists of pairs of words need from d / 2 terms on, would save anything. Reuses its memory. On a
/// backend whose arrays the host cannot reach, a call whose result decides the length of the list waits for it.
template <Scalar T, class B = host>
class sparse_sum {
  public:
    using value_type = T;
    using message_type = messages::sparse<identity, messages::support_is::listed, T, B>;

    explicit sparse_sum(std::size_t d = 0) { reset(d); }

    /// <- no terms, of a vector of d numbers.
    void reset(std::size_t d) {
        expect(d);
        resize(0);
    }
    /// Sets the dimension, and lets the terms be overwritten: for read(), which then fills in less memory than after
    /// reset(d).
    void expect(std::size_t d) {
        LACONIC_EXPECTS(d <= detail::largest_dimension);
        message_.length = d;
    }
    /// Sets the length to n terms of a vector of d numbers, which the caller writes next to support_to_fill() and
    /// values_to_fill().
    void expect(std::size_t d, std::size_t n) {
        expect(d);
        resize(n);
    }
    /// Makes room for n terms, and for sums of n terms; where there was room for fewer, for half as many again at
    /// least, so that lists which grow from round to round are moved a few times only.
    void reserve(B& on, std::size_t n) {
        reserve_to_read(n);
        bool const grows = make_room(spare_at_, n);
        if (make_room(spare_values_, n) || grows) reserve_for_lists<T>(on, n);
    }
    /// Makes room for n terms that are read, and are not added to.
    void reserve_to_read(std::size_t n) {
        make_room(message_.support, n);
        make_room(message_.payload.values, n);
    }
    /// Makes room for n terms of which keep_largest keeps k or fewer, here and in `on`.
    void reserve_to_cut(B& on, std::size_t n, std::size_t k) {
        reserve(on, n);
        make_room(kept_at_, std::min(n, k + 1));
        make_room(kept_values_, std::min(n, k + 1));
        reserve_choice(on, n, [&](std::span<T const> zeros) { select_largest(on, zeros, n, chosen_); });
    }
    /// Makes room for n terms that keep_from may be called with, here and in `on`.
    void reserve_to_drop(B& on, std::size_t n) {
        reserve(on, n);
        reserve_choice(on, n, [&](std::span<T const> zeros) { select_above(on, zeros, T(-1), chosen_); });
    }
    /// The most terms that this list is known to have at any time: its terms, or the number that was announced, if
    /// larger.
    std::size_t most_terms() const { return std::max(size(), announced_); }
    void announce(std::size_t terms) { announced_ = terms; }

    std::size_t dimension() const { return message_.length; }
    std::size_t size() const { return message_.support.size(); }
    std::span<coordinate const> support() const { return message_.support; }
    std::span<T const> values() const { return message_.payload.values; }
    std::span<coordinate> support_to_fill() { return message_.support; }
    std::span<T> values_to_fill() { return message_.payload.values; }
    message_type const& message() const { return message_; }

    /// <- the terms of a message, whose coordinates ascend: that of top_k, threshold or rand_k, or a dense one.
    template <messages::TermMessage M>
    void assign(B& on, M const& m) {
        auto const terms = m.terms();
        expect(m.dimension(), terms.size());
        list_terms(on, terms, support_to_fill(), values_to_fill());
    }
    /// <- terms that the host has. Waits.
    void assign(B& on, std::size_t d, std::span<coordinate const> at, std::span<T const> numbers) {
        LACONIC_EXPECTS(at.size() == numbers.size());
        expect(d, at.size());
        copy_from_host(on, at, support_to_fill());
        copy_from_host(on, numbers, values_to_fill());
    }
    /// <- another list.
    void assign(B& on, sparse_sum const& other) {
        expect(other.dimension(), other.size());
        copy(on, other.support(), support_to_fill());
        copy(on, other.values(), values_to_fill());
    }
    /// <- the numbers of x that are not 0, a NaN among them. Makes room for all that x may have.
    void assign_nonzero(B& on, std::span<T const> x) {
        reserve(on, x.size() + 1);  // the kernel writes one more
        expect(x.size());
        select_nonzero_blocks(on, x, 1, message_.support);
        gather(on, x, support(), 1, T(1), message_.payload.values);
    }
    /// <- terms in any order, none twice.
    void assign_unsorted(B& on, std::span<coordinate const> at, std::span<T const> values, std::size_t d) {
        expect(d, at.size());
        sort_list(on, at, values, d, support_to_fill(), values_to_fill());
    }
    /// <- the terms of `all` whose coordinates `other` does not have.
    void assign_without(B& on, sparse_sum const& all, sparse_sum const& other) {
        expect(all.dimension());
        list_without(on, all.listed(), other.support(), message_.support, message_.payload.values);
    }
    /// <- the sum of lists of terms of this vector, which are added in their order, the first to nothing.
    void assign_sum(B& on, std::span<kernels::listed_terms<T> const> lists) {
        sum_lists(on, lists, message_.support, message_.payload.values, spare_at_, spare_values_);
    }

    /// Adds another vector of the same dimension. One pass over both; the sum of two does not depend on which is which.
    void add(B& on, sparse_sum const& other) {
        LACONIC_EXPECTS(other.dimension() == dimension());
        add(on, other.listed());
    }
    /// Keeps the k terms of largest magnitude, of equal ones those of lower coordinates, and adds the others to
    /// left_out, a vector of the same dimension. Finite values.
    void keep_largest(B& on, std::size_t k, sparse_sum& left_out) {
        if (size() <= k) return;
        split_largest(on, k);
        left_out.add(on, {spare_at_, spare_values_});
    }
    /// Drops the terms with |v| < bound, a number >= 0.
    void keep_from(B& on, T bound) {
        if (!(bound > 0)) return;
        select_above(on, values(), std::nextafter(bound, T(0)), chosen_);
        take_list(on, listed(), std::span<coordinate const>(chosen_), spare_at_, spare_values_);
        take_spare();
    }

    // What follows is for backends whose arrays the host reaches.

    /// The same as keep_largest above, but puts the others behind those of `rest`, whose coordinates begin with this
    /// vector's at `first`.
    void keep_largest(B& on, std::size_t k, sparse_sum& rest, std::size_t first) {
        if (size() <= k) return;
        split_largest(on, k);
        rest.append({spare_at_, spare_values_}, first);
    }
    /// Appends a term, whose coordinate is above the others.
    void append(std::size_t at, T value) {
        LACONIC_EXPECTS(at < dimension() && (size() == 0 || at > message_.support.back()));
        message_.support.push_back(static_cast<coordinate>(at));
        message_.payload.values.push_back(value);
    }
    /// Appends terms, whose coordinates are counted from `first`, which may be below 0, modulo 2^32, and are above the
    /// others.
    void append(kernels::listed_terms<T> terms, std::size_t first) {
        auto const [at, values] = terms;
        auto const before = size();
        auto const shift = static_cast<coordinate>(first);
        LACONIC_EXPECTS(at.size() == values.size());
        LACONIC_EXPECTS(at.empty() ||
                        (static_cast<coordinate>(at.back() + shift) < dimension() &&
                         (before == 0 || static_cast<coordinate>(at.front() + shift) > support().back())));
        message_.support.insert(message_.support.end(), at.begin(), at.end());
        for (std::size_t j = before; shift != 0 && j < size(); ++j) message_.support[j] += shift;
        message_.payload.values.insert(message_.payload.values.end(), values.begin(), values.end());
    }
    /// Appends all terms of a part of this vector that starts at `first`, above the others.
    void append(sparse_sum const& part, std::size_t first) { append(part.listed(), first); }
    /// The terms of the coordinates first .. first + d - 1.
    kernels::listed_terms<T> listed(std::size_t first, std::size_t d) const {
        auto const begin = count_below(first), n = count_below(first + d) - begin;
        return {support().subspan(begin, n), values().subspan(begin, n)};
    }
    /// <- the coordinates first .. first + d - 1 of another vector, counted from first.
    void assign_part(sparse_sum const& whole, std::size_t first, std::size_t d) {
        reset(d);
        append(whole.listed(first, d), std::size_t{0} - first);
    }
    /// How many terms have lower coordinates.
    std::size_t count_below(std::size_t at) const {
        auto const all = support();
        return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), at) - all.begin());
    }
    /// x <- this vector, in full.
    void write_out(B& on, std::span<T> x) const {
        fill(on, x, T(0));
        scatter(on, values(), support(), 1, x);
    }
    /// Drops the terms at coordinates from `first` on.
    void drop_from(std::size_t first) { resize(count_below(first)); }
    /// <- all d coordinates, with the terms of a part that starts at `first`, and 0 elsewhere. Returns the numbers, to
    /// be written over until something else is done with this.
    std::span<T> assign_in_full(B& on, sparse_sum const& part, std::size_t first, std::size_t d) {
        LACONIC_EXPECTS(&part != this && first + part.dimension() <= d);
        expect(d, d);
        std::iota(message_.support.begin(), message_.support.end(), coordinate{0});
        auto const all = values_to_fill();
        fill(on, all, T(0));
        scatter(on, part.values(), part.support(), 1, all.subspan(first));
        return all;
    }
    bool operator==(sparse_sum const& other) const { return message_ == other.message_; }

    template <wire::BitSink W>
    friend void write(W& sink, sparse_sum const& s) {
        write(sink, s.message_);
    }
    /// Reads into a sum whose dimension is set. Throws wire_error, also for numbers that are not finite.
    friend void read(B& on, wire::bit_reader& source, sparse_sum& s) {
        struct {
            identity rest;
        } const c{};
        read(on, source, s.message_, c);
    }

  private:
    kernels::listed_terms<T> listed() const { return {support(), values()}; }
    void add(B& on, kernels::listed_terms<T> other) {
        add_lists(on, listed(), other, spare_at_, spare_values_);
        take_spare();
    }
    // Keeps the k largest; the others are then in the spare lists. The k are copied back, so that the arrays which have
    // room for all terms stay in their places.
    void split_largest(B& on, std::size_t k) {
        select_largest(on, values(), k, chosen_);
        part_list(on, listed(), std::span<coordinate const>(chosen_), kept_at_, kept_values_, spare_at_, spare_values_);
        resize(kept_at_.size());
        copy(on, std::span<coordinate const>(kept_at_), support_to_fill());
        copy(on, std::span<T const>(kept_values_), values_to_fill());
    }
    void reserve_choice(B& on, std::size_t n, auto choose_all) {
        if (chosen_.capacity() >= n) return;
        spare_values_.resize(n);
        fill(on, std::span<T>(spare_values_), T(0));
        choose_all(std::span<T const>(spare_values_));
    }
    static bool make_room(auto& array, std::size_t n) {
        if (array.capacity() >= n) return false;
        array.reserve(std::max(n, array.capacity() + array.capacity() / 2));
        return true;
    }
    void resize(std::size_t n) {
        detail::resize_to_overwrite(message_.support, n);
        detail::resize_to_overwrite(message_.payload.values, n);
    }
    void take_spare() {
        message_.support.swap(spare_at_);
        message_.payload.values.swap(spare_values_);
    }

    message_type message_;
    typename B::template array<coordinate> spare_at_, kept_at_, chosen_;
    typename B::template array<T> spare_values_, kept_values_;
    std::size_t announced_ = 0;
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
