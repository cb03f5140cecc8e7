// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "laconic/backend/array.hpp"
#include "laconic/backend/listed_terms.hpp"
#include "laconic/collective/terms/sparse_sum.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/message/message.hpp"

namespace laconic {

/// A list of terms where the host cannot reach them: the same as sparse_sum of the host's, by B's kernels list_terms,
/// add_lists, part_list and list_without, which it finds beside B (backend/device/terms.hpp). What says so waits.
template <Scalar T, class B>
requires(!OnHost<B>) class sparse_sum<T, B> {
  public:
    using value_type = T;
    using message_type = sparse<full, support_is::told, T, B>;

    explicit sparse_sum(std::size_t d = 0) { reset(d); }

    /// Nothing, of a vector of d numbers.
    void reset(std::size_t d) { expect(d, 0); }
    /// n terms, with arbitrary contents: for what is written next.
    void expect(std::size_t d, std::size_t n) {
        LACONIC_EXPECTS(d <= largest_dimension);
        said_.length = d;
        said_.support.resize_to_overwrite(n);
        said_.payload.values.resize_to_overwrite(n);
    }
    /// Makes room for n <= d terms, for sums of n terms, and for what the kernels need for these. Waits where there was
    /// less.
    void reserve(B& on, std::size_t n) {
        if (n <= room()) return;
        for (auto* const at : {&said_.support, &spare_at_, &left_at_, &chosen_}) at->reserve(n);
        for (auto* const values : {&said_.payload.values, &spare_values_, &left_values_}) values->reserve(n);
        // The kernels' own room grows while they run: once with lists of the first n coordinates.
        spare_values_.resize(n);
        fill(on, std::span<T>(spare_values_), T(0));
        select_largest(on, std::span<T const>(spare_values_), n, chosen_);
        listed_terms<T> const longest{chosen_, spare_values_};
        add_lists(on, longest, longest, left_at_, left_values_);
        list_without(on, longest, longest.at, left_at_, left_values_);
    }
    /// For how many terms there is room.
    std::size_t room() const { return said_.support.capacity(); }
    std::size_t dimension() const { return said_.length; }
    std::size_t size() const { return said_.support.size(); }
    std::span<coordinate const> support() const { return said_.support; }
    std::span<T const> values() const { return said_.payload.values; }
    std::span<coordinate> support() { return said_.support; }
    std::span<T> values() { return said_.payload.values; }
    message_type const& message() const { return said_; }

    /// The terms of a message, whose coordinates ascend: that of top_k, threshold or rand_k, or a dense one.
    template <TermMessage M>
    void assign(B& on, M const& m) {
        auto const terms = m.terms();
        expect(m.dimension(), terms.size());
        list_terms(on, terms, support(), values());
    }
    /// What the host has. Waits.
    void assign(B& on, std::size_t d, std::span<coordinate const> at, std::span<T const> numbers) {
        LACONIC_EXPECTS(at.size() == numbers.size());
        expect(d, at.size());
        copy_from_host(on, at, support());
        copy_from_host(on, numbers, values());
    }
    /// The terms of `all` whose coordinates `other` does not have. Waits.
    void assign_without(B& on, sparse_sum const& all, sparse_sum const& other) {
        said_.length = all.dimension();
        list_without(on, all.listed(), other.support(), said_.support, said_.payload.values);
    }
    /// A copy.
    void assign(B& on, sparse_sum const& other) {
        expect(other.dimension(), other.size());
        copy(on, other.support(), support());
        copy(on, other.values(), values());
    }

    /// Adds another vector of the same dimension. Waits.
    void add(B& on, sparse_sum const& other) {
        LACONIC_EXPECTS(other.dimension() == dimension());
        add_terms_of(on, other.listed());
    }
    /// Keeps the k terms of largest magnitude, of equal ones those of lower coordinates, and adds the others to
    /// left_out, a vector of the same dimension. Finite values. Waits where there are others.
    void keep_largest(B& on, std::size_t k, sparse_sum& left_out) {
        if (size() <= k) return;
        select_largest(on, std::span<T const>(values()), k, chosen_);
        part_list(on, listed(), std::span<coordinate const>(chosen_), spare_at_, spare_values_, left_at_, left_values_);
        take_spare();
        left_out.add_terms_of(on, {left_at_, left_values_});
    }

  private:
    listed_terms<T> listed() const { return {support(), values()}; }
    void add_terms_of(B& on, listed_terms<T> other) {
        add_lists(on, listed(), other, spare_at_, spare_values_);
        take_spare();
    }
    void take_spare() {
        said_.support.swap(spare_at_);
        said_.payload.values.swap(spare_values_);
    }

    message_type said_;
    typename B::template array<coordinate> spare_at_, left_at_, chosen_;
    typename B::template array<T> spare_values_, left_values_;
};

}  // namespace laconic
