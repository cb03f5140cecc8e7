// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "laconic/backend/host.hpp"
#include "laconic/compress/full.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/exchange/merge.hpp"
#include "laconic/message/sparse.hpp"
#include "laconic/wire/plain.hpp"
#include "laconic/wire/sparse.hpp"

namespace laconic {

/// A vector of d < 2^32 numbers as a list of terms v e_i with ascending i, none twice: what sparse collectives add up.
/// A term may be 0. On the wire it is the told message of threshold{}. As that can spell runs, and spells no
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
    /// Makes room for n terms, and for sums of n terms.
    void reserve(std::size_t n) {
        for (auto* const at : {&said_.support, &spare_at_}) at->reserve(n);
        for (auto* const values : {&said_.payload.values, &spare_values_}) values->reserve(n);
    }

    /// Makes room for n terms that keep_largest may be called with, here and in `on`.
    void reserve_to_cut(B& on, std::size_t n) {
        reserve(n);
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
    /// All terms of a part of this vector that starts at `first`, beyond those that are there.
    void append(sparse_sum const& part, std::size_t first) {
        LACONIC_EXPECTS(part.size() == 0 || (first + part.support().back() < dimension() &&
                                             (size() == 0 || first + part.support()[0] > said_.support.back())));
        take_terms(part, 0, part.size(), [first](coordinate at) { return static_cast<coordinate>(at + first); });
    }
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
    /// The coordinates first .. first + d - 1 of another vector, counted from first.
    void assign_part(sparse_sum const& whole, std::size_t first, std::size_t d) {
        reset(d);
        auto const all = whole.support();
        auto const place = [&](std::size_t at) {
            return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), at) - all.begin());
        };
        take_terms(whole, place(first), place(first + d),
                   [first](coordinate at) { return static_cast<coordinate>(at - first); });
    }
    /// Forgets the terms at coordinates from `first` on.
    void drop_from(std::size_t first) {
        auto const all = support();
        resize(static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), first) - all.begin()));
    }
    /// The terms of `all` whose coordinates `other` does not have.
    void assign_without(sparse_sum const& all, sparse_sum const& other) {
        reset(all.dimension());
        std::size_t i = 0;
        for (std::size_t j = 0; j < all.size(); ++j) {
            while (i < other.size() && other.support()[i] < all.support()[j]) ++i;
            if (i == other.size() || other.support()[i] != all.support()[j]) append(all.support()[j], all.values()[j]);
        }
    }

    /// Adds another vector of the same dimension. One pass over both; the sum of two does not depend on which is which.
    void add(sparse_sum const& other) {
        LACONIC_EXPECTS(other.dimension() == dimension());
        auto const most = std::min(size() + other.size(), dimension());
        spare_at_.resize(most);
        spare_values_.resize(most);
        swap_spare(
            detail::merge<T>{}({support(), values()}, {other.support(), other.values()}, spare_at_, spare_values_));
    }

    /// Keeps the k terms of largest magnitude, of equal ones those of lower coordinates, and adds the others to
    /// left_out, a vector of the same dimension. Finite values.
    void keep_largest(B& on, std::size_t k, sparse_sum& left_out) {
        if (size() <= k) return;
        select_largest(on, values(), k, chosen_);
        spare_at_.resize(size() - k);
        spare_values_.resize(size() - k);
        std::size_t kept = 0, left = 0;
        for (std::size_t j = 0; j < size(); ++j) {
            if (kept == k || chosen_[kept] != j) {
                put_spare(left++, said_.support[j], said_.payload.values[j]);
            } else {
                said_.support[kept] = said_.support[j];
                said_.payload.values[kept++] = said_.payload.values[j];
            }
        }
        swap_spare(left);
        left_out.add(*this);
        said_.support.swap(spare_at_);
        said_.payload.values.swap(spare_values_);
        resize(k);
    }

    /// Lists all coordinates, those that it lacks with 0: the vector in full.
    void fill() {
        std::size_t n = size();
        resize(dimension());
        for (std::size_t i = dimension(); n < i--;) {  // from the end: what moves, moves up
            bool const here = n > 0 && said_.support[n - 1] == i;
            said_.payload.values[i] = here ? said_.payload.values[n - 1] : T(0);
            said_.support[i] = static_cast<coordinate>(i);
            n -= here;
        }
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
    // Terms first .. last - 1 of another list, behind those that are there.
    template <class Place>
    void take_terms(sparse_sum const& from, std::size_t first, std::size_t last, Place place) {
        std::size_t const before = size(), n = last - first;
        resize(before + n);
        std::transform(from.support().data() + first, from.support().data() + last, said_.support.data() + before,
                       place);
        std::copy_n(from.values().data() + first, n, said_.payload.values.data() + before);
    }
    void resize(std::size_t n) {
        said_.support.resize(n);
        said_.payload.values.resize(n);
    }
    void put_spare(std::size_t n, coordinate at, T value) {
        spare_at_[n] = at;
        spare_values_[n] = value;
    }
    void swap_spare(std::size_t n) {
        said_.support.swap(spare_at_);
        said_.payload.values.swap(spare_values_);
        resize(n);
    }

    message_type said_;
    typename B::template array<coordinate> spare_at_, chosen_;
    typename B::template array<T> spare_values_;
};

}  // namespace laconic
