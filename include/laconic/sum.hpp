// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/collective/addend.hpp"
#include "laconic/collective/automatic.hpp"
#include "laconic/collective/collective.hpp"

/// Exact sums over all ranks in one call: sum, mean, reduce_scatter. docs/sums.md has an example of each.
namespace laconic {

/// Sums of vectors of one length and one type of numbers E over all ranks, by one collective: sum(), mean() and
/// reduce_scatter() below make one for a single call; this keeps its memory, so that a call for which there was room
/// before allocates nothing, and what the ranks have agreed on. Every rank makes one with the same arguments, and the
/// same calls. The communicator must outlive it. Memory: one vector, two of double for integers of 64 bits, and what
/// the collective has.
template <detail::Addend E, Communicator C, class How = automatic>
class persistent_sum {
    using T = detail::addend_type<E>;
    static constexpr std::size_t words = detail::addend_words<E>;
    static constexpr bool as_it_is = std::same_as<E, T>;

  public:
    /// The part of a sum that a rank keeps: the numbers from coordinate `first` on, where they belong in the caller's
    /// vector.
    struct own_part {
        std::size_t first = 0;
        std::span<E> values{};
    };

    /// Of vectors of x's type and length. Throws agreement_error on all ranks where they do not agree on these and on
    /// `how`, argument_error where `how` does not suit such vectors, leaves terms out of the sum, or rounds integers.
    /// Costs 16 bytes a rank.
    template <class X>
    persistent_sum(C& comm, X const& x, How const& how = {}) : comm_(&comm), d_(length(x)) {
        require_agreement(comm, {{"the dimension", d_},
                                 {"the numbers", detail::addend<E>::name()},
                                 {"the bytes of a number", sizeof(E)},
                                 {"the vector", detail::is_sparse<X> ? "sparse" : "in full"},
                                 {"the version of the wire format", wire::wire_version},
                                 {"the collective", to_string(how)}});
        if (std::integral<E> && detail::rounding_of(how).rounds)
            throw argument_error({"the collective ", to_string(how), " rounds, and integers are added up exactly"});
        for (auto& each : sums_) each.emplace(how, d_);
    }

    /// As sum(), mean() and reduce_scatter(); what they return of sparse vectors is this object's, until its next call.
    template <class X>
    decltype(auto) operator()(X&& x) {
        if constexpr (detail::can_be_summed<X>()) return add_up(as_view(x), 1);
    }
    template <class X>
    decltype(auto) mean(X&& x) {
        static_assert(!std::integral<E>, "the mean of integers is no integer: take sum(), or vectors of double");
        if constexpr (detail::can_be_summed<X>()) return add_up(as_view(x), comm_->size());
    }
    template <class X>
    decltype(auto) reduce_scatter(X&& x) {
        if constexpr (detail::can_be_summed<X>()) return keep_part(as_view(x));
    }

  private:
    // x as what the functions below take: a sparse_view, or a span of its numbers.
    template <class X>
    static auto as_view(X& x) {
        if constexpr (detail::is_sparse<X>)
            return sparse_view(x);
        else
            return detail::view(x);
    }
    template <class X>
    static std::size_t length(X const& x) {
        if constexpr (detail::is_sparse<X>)
            return x.dimension;
        else
            return static_cast<std::size_t>(x.size());
    }
    template <class Index>
    sparse_vector<E>& keep_part(sparse_view<E, Index> x) {
        return add_up(x, 1, true);
    }
    void add_up(std::span<E> x, int divisor) {
        if constexpr (as_it_is) {
            work_[0].assign(x.begin(), x.end());  // for an error that is found when x has changed
            try {
                (*sums_[0])(on_, *comm_, x, calls_++);
            } catch (...) {
                std::copy(work_[0].begin(), work_[0].end(), x.begin());
                throw;
            }
            if (divisor != 1)
                for (auto& each : x) each /= static_cast<E>(divisor);
        } else {
            split(x);
            for (std::size_t w = 0; w < words; ++w) (*sums_[w])(on_, *comm_, std::span<T>(work_[w]), calls_);
            ++calls_;
            if (auto const j = join(x, divisor); j < x.size()) throw error(beyond(j));
        }
    }
    own_part keep_part(std::span<E> x) {
        split(x);
        for (std::size_t w = 0; w < words; ++w) sums_[w]->reduce_scatter(on_, *comm_, std::span<T>(work_[w]), calls_);
        ++calls_;
        detail::partition const parts{d_, static_cast<std::size_t>(comm_->size())};
        auto const me = static_cast<std::size_t>(comm_->rank());
        own_part const mine{parts.first(me), parts.of(x, me)};
        auto const j = join(mine.values, 1, mine.first);
        if constexpr (!as_it_is)
            require_on_all(detail::failure_kind::other, j < mine.values.size() ? beyond(mine.first + j) : "");
        return mine;
    }
    template <class Index>
    sparse_vector<E>& add_up(sparse_view<E, Index> x, int divisor, bool keeps_part = false) {
        require_on_all(detail::failure_kind::argument, lists_.load(on_, x));
        for (std::size_t w = 0; w < words; ++w) {
            if (keeps_part)
                sums_[w]->reduce_scatter(on_, *comm_, lists_[w], calls_);
            else
                (*sums_[w])(on_, *comm_, lists_[w], calls_);
        }
        ++calls_;
        auto const at = lists_.store(result_, divisor);
        auto const why = at ? beyond(*at) : "";
        if (keeps_part && !as_it_is) require_on_all(detail::failure_kind::other, why);
        if (at) throw error(why);
        return result_;
    }

    // Where a rank gives a reason, all throw the first one's. A collective call of no bytes where none does.
    void require_on_all(detail::failure_kind kind, std::string const& why) {
        detail::failure own;
        if (!why.empty())
            own = {.kind = kind,
                   .rank = comm_->rank(),
                   .why = detail::concat({"rank ", detail::failure::its_rank, ": ", why})};
        detail::share_failure(*comm_, own, sink_).raise();
    }

    void split(std::span<E const> x) {
        for (auto& word : work_) word.resize(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
            auto const number = detail::addend<E>::split(x[i]);
            for (std::size_t w = 0; w < words; ++w) work_[w][i] = number[w];
        }
    }
    // x <- the numbers of work_ from `first` on, divided, unless one is outside of E, whose place in x is returned.
    std::size_t join(std::span<E> x, int divisor, std::size_t first = 0) const {
        auto const at = [&](std::size_t i, E& to) {
            typename detail::addend<E>::all number;
            for (std::size_t w = 0; w < words; ++w) number[w] = work_[w][first + i] / static_cast<T>(divisor);
            return detail::addend<E>::join(number, to);
        };
        E one;
        for (std::size_t i = 0; !as_it_is && i < x.size(); ++i)
            if (!at(i, one)) return i;
        for (std::size_t i = 0; i < x.size(); ++i) at(i, x[i]);
        return x.size();
    }
    static std::string beyond(std::size_t i) {
        return detail::concat({"the ranks' sum at coordinate ", i, " is outside the range of the vector's numbers"});
    }

    C* comm_;
    std::size_t d_;
    host on_{};
    std::uint64_t calls_ = 0;
    wire::bit_writer sink_;
    std::array<std::optional<detail::whole_sum<How, T>>, words> sums_;
    std::array<std::vector<T>, words> work_;
    detail::addend_lists<E> lists_;
    sparse_vector<E> result_;
};
template <class C, class X>
persistent_sum(C&, X const&) -> persistent_sum<detail::number_of<X>, C>;
template <class C, class X, class How>
persistent_sum(C&, X const&, How) -> persistent_sum<detail::number_of<X>, C, How>;

namespace detail {

// What call(s) returns of a persistent_sum s of its own; sparse vectors are moved out of it.
auto summed_once(auto& comm, auto const& x, auto const& how, auto call) {
    persistent_sum once(comm, x, how);
    using result = decltype(call(once));
    if constexpr (std::is_lvalue_reference_v<result>)
        return std::remove_cvref_t<result>(std::move(call(once)));
    else
        return call(once);
}

}  // namespace detail

/// x <- the sum of all ranks' x, exact except for rounding and with the same bits on all ranks: integers are exact,
/// numbers of 16 bits are added up in float and rounded once. x is a contiguous range, or a sparse vector, of any
/// number of terms on each rank, with its indices in any order, of which equal ones are added up: then the sum is
/// returned, as a sparse_vector whose indices ascend and whose values are not 0. `how` is a collective that applies the
/// whole sum; by default the ranks choose the quickest for their numbers of terms. A collective call, over any
/// communicator that the collective takes. Throws the same on all ranks, and then x is as it was: agreement_error for
/// ranks that disagree on the length, the numbers or `how`; non_finite_error for a NaN or an infinity, in the sum, too;
/// argument_error for an index outside the dimension; error for a sum beyond integers or numbers of 16 bits; and
/// engines' errors. Cost: the collective's, two small calls, a copy of x; integers travel as double, 64 bits as two.
template <Communicator C, class X, class How = automatic>
auto sum(C& comm, X&& x, How const& how = {}) {
    if constexpr (detail::can_be_summed<X>())
        return detail::summed_once(comm, x, how, [&](auto& once) -> decltype(auto) { return once(x); });
}
/// The same, divided by the number of ranks: floating-point numbers.
template <Communicator C, class X, class How = automatic>
auto mean(C& comm, X&& x, How const& how = {}) {
    if constexpr (detail::can_be_summed<X>())
        return detail::summed_once(comm, x, how, [&](auto& once) -> decltype(auto) { return once.mean(x); });
}
/// This rank's part of the sum, coordinates floor(d rank / P) to floor(d (rank + 1) / P) - 1: of a contiguous range
/// where they stand in x, whose other numbers stay as they are, and returned as persistent_sum's own_part; of a sparse
/// vector a sparse_vector with those terms, of the same dimension. By default with the first half of ring, or of
/// split_all_gather: P - 1 messages. A collective without such a half sums all. Otherwise as sum(), in another order
/// of rounding.
template <Communicator C, class X, class How = automatic>
auto reduce_scatter(C& comm, X&& x, How const& how = {}) {
    if constexpr (detail::can_be_summed<X>())
        return detail::summed_once(comm, x, how, [&](auto& once) -> decltype(auto) { return once.reduce_scatter(x); });
}

}  // namespace laconic
