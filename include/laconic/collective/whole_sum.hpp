// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "laconic/collective/collective.hpp"
#include "laconic/core/partition.hpp"

namespace laconic::detail {

/// sum.reduce_scatter(on, comm, v, round) leaves in v this rank's part of the sum, as `partition` cuts it, and sends
/// less than a sum does.
template <class S, class B, class C, class V>
concept ReduceScatters = requires(S& sum, B& on, C& comm, V v) {
    sum.reduce_scatter(on, comm, v, std::uint64_t{});
};

/// The sum of vectors by the collective X, which applies the whole sum, whether it adds up lists of terms or vectors in
/// full, and whichever the caller has. Reuses its memory.
template <class X, Scalar T>
class whole_sum {
    static constexpr bool is_collective = Collective<X, T, host>;
    static_assert(is_collective,
                  "the last argument is no collective for these numbers on the host: take one such as ring{}, or leave "
                  "it out (collective/collective.hpp)");
    using algorithm = sum_of<X, T, host>;
    static_assert(ChosenSum<algorithm> || !GivesBack<algorithm, T, host>,
                  "this collective leaves terms out of the sum: take one that applies the whole sum, such as ring{}");

  public:
    /// Of vectors of d numbers. Throws argument_error where x does not suit them, or leaves terms out of the sum.
    whole_sum(X const& x, std::size_t d) : sum_(make_sum<T>(x, d)) {
        if constexpr (ChosenSum<algorithm>)
            if (sum_.gives_back())
                throw argument_error(
                    concat({"the collective ", to_string(x),
                            " leaves terms out of the sum: take one that applies the whole sum, such as ring"}));
    }

    /// x <- the sum of all ranks' x. Throws what the collective does, and then x is unspecified.
    template <Communicator C>
    void operator()(host& on, C& comm, std::span<T> x, std::uint64_t round) {
        if constexpr (SumsNumbers<algorithm, T, host, C>)
            if (!sums_terms<T, host, C>(sum_, false)) return sum_(on, comm, x, round);
        if constexpr (SumsTerms<algorithm, T, host, C> && (ChosenSum<algorithm> || !SumsNumbers<algorithm, T, host, C>))
            other_.as_terms(on, x, [&](sparse_sum<T>& v) { sum_(on, comm, v, round); });
    }
    /// The same of lists of terms.
    template <Communicator C>
    void operator()(host& on, C& comm, sparse_sum<T>& v, std::uint64_t round) {
        if constexpr (SumsTerms<algorithm, T, host, C>)
            if (sums_terms<T, host, C>(sum_)) return sum_(on, comm, v, round);
        if constexpr (SumsNumbers<algorithm, T, host, C> && (ChosenSum<algorithm> || !SumsTerms<algorithm, T, host, C>))
            other_.in_full(on, v, [&](std::span<T> x) { sum_(on, comm, x, round); });
    }
    /// This rank's part of x, as `partition` cuts it, <- that part of the sum; the rest of x is unspecified then.
    template <Communicator C>
    void reduce_scatter(host& on, C& comm, std::span<T> x, std::uint64_t round) {
        if constexpr (ReduceScatters<algorithm, host, C, std::span<T>>)
            sum_.reduce_scatter(on, comm, x, round);
        else
            (*this)(on, comm, x, round);
    }
    /// v <- the terms of this rank's part of the sum.
    template <Communicator C>
    void reduce_scatter(host& on, C& comm, sparse_sum<T>& v, std::uint64_t round) {
        if constexpr (ReduceScatters<algorithm, host, C, sparse_sum<T>&>) {
            sum_.reduce_scatter(on, comm, v, round);
        } else {
            (*this)(on, comm, v, round);
            partition const parts{v.dimension(), static_cast<std::size_t>(comm.size())};
            auto const me = static_cast<std::size_t>(comm.rank());
            auto const begin = v.count_below(parts.first(me)), n = v.count_below(parts.first(me + 1)) - begin;
            list_.reset(v.dimension());
            list_.append(v.support().subspan(begin, n), v.values().subspan(begin, n), 0);
            std::swap(v, list_);
        }
    }

  private:
    algorithm sum_;
    sparse_sum<T> list_;
    other_form<T> other_;
};

}  // namespace laconic::detail
