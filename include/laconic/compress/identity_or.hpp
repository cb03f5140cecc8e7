// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "laconic/compress/identity.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/message/wrappers.hpp"

namespace laconic {

namespace detail {

/// Whether all ranks send all values in full in this round: in the first one, and with probability p in each other. The
/// coin is the same on all ranks.
inline bool sends_in_full(round_context const& now, double p) {
    return now.round == 0 || now.shared.child(1).uniform(0) < p;
}

}  // namespace detail

/// Every value in full, or the message of another compressor. Both ends know which of the two, so it costs no bits; a
/// level sets it for each round (adapt/level.hpp).
template <class C>
struct identity_or {
    static_assert(detail::require_compressor<C>());
    static constexpr identity first{};
    C second{};
    bool in_full = false;

    static constexpr void description(auto&& describe) {
        describe("identity_or", "every number in full or the message of C", "",
                 field("compressor", &identity_or::second).needed());
    }

    template <Scalar T, class B>
    using message = messages::either<messages::full_vector<T, B>, detail::message_of<C, T, B>>;

    void check(std::size_t d) const { second.check(d); }
    void blank(auto& on, std::size_t d, key from, auto& m) const {
        m.is_first = in_full;
        first.blank(on, d, from, m.first);
        if (!in_full || m.second.dimension() != d) second.blank(on, d, from, m.second);
    }
    void operator()(auto& on, auto x, key from, auto& m) const {
        m.is_first = in_full;
        first(on, x, from, m.first);
        // The first call also makes the other message, so that later calls find room.
        if (!in_full || m.second.dimension() != x.size()) second(on, x, from, m.second);
    }
    bool unbiased() const requires Unbiased<C> { return in_full || is_unbiased(second); }
    bool contractive() const requires Contractive<C> { return in_full || is_contractive(second); }
    double omega(std::size_t d) const requires Unbiased<C> { return in_full ? 0 : second.omega(d); }
    double delta(std::size_t d) const requires Contractive<C> { return in_full ? 1 : second.delta(d); }

    bool operator==(identity_or const&) const = default;
};
template <class C>
identity_or(C, bool = false) -> identity_or<C>;

}  // namespace laconic
