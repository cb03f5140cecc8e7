// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "laconic/compress/levels.hpp"
#include "laconic/message/wrappers.hpp"

namespace laconic {

/// One of two compressors; both ends know which, as it is a part of this value. best_level chooses it with the level:
/// best_level{one_of{top_k{1}, top_k{1} | scaled_sign{}}} sends in each round a few numbers in full or the signs of
/// more, whichever makes more progress for the cost. For more than two, nest one_of.
template <class First, class Second>
struct one_of {
    static_assert(detail::require_compressor<First>() && detail::require_compressor<Second>());
    First first{};
    Second second{};
    bool is_first = true;

    template <Scalar T, class B>
    using message = messages::either<detail::message_of<First, T, B>, detail::message_of<Second, T, B>>;

    void check(std::size_t d) const {
        first.check(d);
        second.check(d);
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const {
        m.is_first = is_first;
        // Its first call prepares both messages, so that later calls find room.
        if (is_first || m.first.dimension() != d) first.blank(on, d, from, m.first);
        if (!is_first || m.second.dimension() != d) second.blank(on, d, from, m.second);
    }
    void operator()(auto& on, auto x, key from, auto& m) const {
        blank(on, x.size(), from, m);
        is_first ? first(on, x, from, m.first) : second(on, x, from, m.second);
    }
    /// omega and delta are those of the worse compressor, whichever is chosen now.
    bool unbiased() const requires(Unbiased<First>&& Unbiased<Second>) {
        return is_unbiased(first) && is_unbiased(second);
    }
    bool contractive() const requires(Contractive<First>&& Contractive<Second>) {
        return is_contractive(first) && is_contractive(second);
    }
    double omega(std::size_t d) const requires(Unbiased<First>&& Unbiased<Second>) {
        return std::max(first.omega(d), second.omega(d));
    }
    double delta(std::size_t d) const requires(Contractive<First>&& Contractive<Second>) {
        return std::min(first.delta(d), second.delta(d));
    }

    bool operator==(one_of const&) const = default;
    friend std::string to_string(one_of const& c) {
        return detail::concat(
            {"one_of(", to_string(c.first), ", ", to_string(c.second), ", ", (c.is_first ? "first" : "second"), ")"});
    }
};
template <class First, class Second>
one_of(First, Second, bool = true) -> one_of<First, Second>;

/// The levels of the first compressor, followed by those of the second.
template <class First, class Second>
struct levels<one_of<First, Second>> {
    using type = one_of<First, Second>;
    static std::size_t count(type const& c, std::size_t d) {
        return levels<First>::count(c.first, d) + levels<Second>::count(c.second, d);
    }
    // While the first is chosen, the second is at its lowest level, so that delta is the least of both; while the
    // second is chosen, the first is at its highest, so that there is room for all.
    static type at(type const& c, std::size_t level, std::size_t d) {
        auto const n = levels<First>::count(c.first, d);
        bool const is_first = level <= n;
        return {levels<First>::at(c.first, is_first ? level : n, d),
                levels<Second>::at(c.second, is_first ? std::min(n, std::size_t{1}) : level - n, d), is_first};
    }
    static std::string family(type const& c) {
        return detail::concat({levels<First>::family(c.first), ", ", levels<Second>::family(c.second)});
    }
    template <Scalar T>
    static double bits(type const& c, std::size_t level, std::size_t d) {
        auto const n = levels<First>::count(c.first, d);
        return level <= n ? levels<First>::template bits<T>(c.first, level, d)
                          : levels<Second>::template bits<T>(c.second, level - n, d);
    }
    template <class B, Scalar T>
    static void kept(B& on, type const& c, std::span<T const> x, typename B::template array<T>& room,
                     std::span<double> q) {
        auto const n = levels<First>::count(c.first, x.size());
        levels<First>::kept(on, c.first, x, room, q.first(n));
        levels<Second>::kept(on, c.second, x, room, q.subspan(n));
    }
};

template <class First, class Second>
inline constexpr bool detail::has_curve<one_of<First, Second>> = detail::has_curve<First>&& detail::has_curve<Second>;
template <class First, class Second>
inline constexpr bool detail::has_two_families<one_of<First, Second>> = true;

}  // namespace laconic
