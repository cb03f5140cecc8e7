// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "laconic/compress/rand_k.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/message/wrappers.hpp"

/// Rounds in which only some ranks send. Each rank's lot is a function of its key, which all ranks can derive: who
/// takes part is known to all, and costs no message.
namespace laconic {

namespace detail {

/// What a rank draws in a round, in [0, 1).
inline double lot_of(key own) { return own.child(std::numeric_limits<std::uint64_t>::max()).uniform(0); }

/// The largest of the `some` smallest lots of a round: the ranks that draw at most that take part, every set of so many
/// equally likely. Infinity if there are no more ranks. `lots` is room for all; takes time in proportion to the ranks.
inline double largest_lot(round_context const& now, std::size_t some, std::vector<double>& lots) {
    if (some >= static_cast<std::size_t>(now.ranks)) return std::numeric_limits<double>::infinity();
    lots.clear();
    for (int r = 0; r < now.ranks; ++r) lots.push_back(lot_of(now.own_of(r)));
    auto const last = lots.begin() + static_cast<std::ptrdiff_t>(some) - 1;
    std::nth_element(lots.begin(), last, lots.end());
    return *last;
}

// What messages::scaled asks of a compressor, to be read.
template <class C>
struct times_factor {
    C inside{};
    bool operator==(times_factor const&) const = default;
};

}  // namespace detail

/// The message of C times a factor, or nothing from a rank whose lot is above a bound: a level sets both in each round
/// (participation, adapt/participation.hpp).
template <class C>
struct of_participants {
    static_assert(detail::require_members<C>());
    static constexpr rand_k<> first{0};  // no number, which takes no bit
    detail::times_factor<C> second{};
    double bound = std::numeric_limits<double>::infinity();
    double factor = 1;

    template <Scalar T, class B>
    using message =
        messages::either<detail::message_of<rand_k<>, T, B>, messages::scaled<detail::message_of<C, T, B>, T>>;

    void check(std::size_t d) const { second.inside.check(d); }
    template <class B, Scalar T, class M, class Empty>
    void blank(B& on, std::size_t d, key from, messages::either<Empty, messages::scaled<M, T>>& m) const {
        m.is_first = detail::lot_of(from) > bound;
        m.second.factor = static_cast<T>(factor);
        // The first call prepares both messages, so that later calls find room.
        if (m.is_first || m.first.dimension() != d) first.blank(on, d, from, m.first);
        if (!m.is_first || m.second.dimension() != d) second.inside.blank(on, d, from, m.second.inside);
    }
    template <Scalar T>
    void operator()(auto& on, std::span<T const> x, key from, auto& m) const {
        bool const is_new = m.second.inside.dimension() != x.size();
        blank(on, x.size(), from, m);
        if (!m.is_first || is_new) second.inside(on, x, from, m.second.inside);
    }

    bool operator==(of_participants const&) const = default;
    friend std::string to_string(of_participants const& c) {
        return detail::concat({"of_participants(", to_string(c.second.inside), ")"});
    }
};

}  // namespace laconic
