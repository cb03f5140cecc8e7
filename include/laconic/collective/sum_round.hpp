// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "laconic/backend/array.hpp"
#include "laconic/collective/terms/sparse_sum.hpp"
#include "laconic/core/term.hpp"
#include "laconic/wire/failure.hpp"

namespace laconic {

/// The number of a round, and why this rank brings nothing to its sum, if it does not: what it brings is then not read,
/// and all ranks throw that. The failure must outlive the sum.
struct sum_round {
    std::uint64_t number = 0;
    detail::failure const* own = nullptr;

    sum_round(std::uint64_t round = 0, detail::failure const* of_this_rank = nullptr)
        : number(round), own(of_this_rank) {}
};

namespace detail {

// Only to ask whether a sum takes a sum_round, and not its number alone.
struct only_sum_round {
    operator sum_round() const;
};
template <class S, class B, class C, class V>
concept TakesSumRound = requires(S& sum, B& on, C& comm, V v, only_sum_round round) {
    sum(on, comm, v, round);
};

/// sum(on, comm, v, round). A sum that takes the number alone cannot be told that this rank brings nothing: v becomes a
/// vector with a NaN then, which it refuses on all ranks.
template <class S, class B, class C, Scalar T>
void call_sum(S& sum, B& on, C& comm, sparse_sum<T, B>& v, sum_round const& round) {
    if constexpr (TakesSumRound<S, B, C, sparse_sum<T, B>&>) return sum(on, comm, v, round);
    T const bad = std::numeric_limits<T>::quiet_NaN();
    auto const d = v.dimension();
    coordinate const at = 0;
    if (round.own != nullptr) v.assign(on, d, std::span(&at, 1), std::span(&bad, 1));
    sum(on, comm, v, round.number);
}
template <class S, class B, class C, Scalar T>
void call_sum(S& sum, B& on, C& comm, std::span<T> x, sum_round const& round) {
    if constexpr (TakesSumRound<S, B, C, std::span<T>>) return sum(on, comm, x, round);
    T bad = std::numeric_limits<T>::quiet_NaN();
    if (round.own != nullptr && x.empty()) x = std::span(&bad, 1);  // of no numbers, one of another length is refused
    if (round.own != nullptr) copy_from_host(on, std::span<T const>(&bad, 1), x.first(1));
    sum(on, comm, x, round.number);
}

}  // namespace detail
}  // namespace laconic
