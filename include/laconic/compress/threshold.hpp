// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include "laconic/compress/pipe.hpp"

/// The sparsifiers that ask each number, or each block, by itself whether it is sent.
namespace laconic {

/// Keeps the coordinates with |x_i| > bound: one bound for all, or (Bound = std::span<T const>) one for each, which
/// must outlive the call. The squared error is at most the sum of the squared bounds; it is not contractive.
template <class Rest = identity, class Bound = double>
struct threshold {
    Bound bound{};
    Rest rest{};

    static constexpr bool one_for_all = std::same_as<Bound, double>;

    static constexpr void description(auto&& describe) requires one_for_all {
        describe("threshold", "magnitudes above a bound", "",
                 field("bound", &threshold::bound).between(0, std::numeric_limits<double>::max()).needed());
    }

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::listed, T, B>;

    void check(std::size_t d) const {
        if constexpr (one_for_all)
            detail::check_fields(*this);
        else if (bound.size() != d && !bound.empty())
            throw shape_error({"threshold: ", bound.size(), " bounds for d = ", d});
        rest.check(d);
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const { detail::blank_listed(on, *this, d, from, m, d); }
    template <Scalar T>
    void operator()(auto& on, std::span<T const> x, key from, auto& m) const {
        begin_message(m, x.size(), *this, from);
        m.make_room(on, x.size(), *this);
        if constexpr (one_for_all)
            select_above(on, x, static_cast<T>(bound), m.support);
        else
            select_above(on, x, bound, m.support);
        make_payload(on, x, T(1), *this, m);
    }

    constexpr auto with(auto const& r) const { return threshold<std::remove_cvref_t<decltype(r)>, Bound>{bound, r}; }
    friend bool operator==(threshold const& a, threshold const& b) {
        if constexpr (one_for_all)
            return a.bound == b.bound && a.rest == b.rest;
        else
            return a.bound.data() == b.bound.data() && a.bound.size() == b.bound.size() && a.rest == b.rest;
    }
    friend std::string to_string(threshold const& c) requires(!one_for_all) {
        return detail::text_of("threshold(per coordinate)", c.rest);
    }
};
template <class T>
threshold(T) -> threshold<>;

/// Drops the blocks of `block` consecutive coordinates that are zero throughout; the last block may be shorter. Alone
/// it is the identity, omega = 0 and delta = 1, and pays where zeros come in blocks (OmniReduce, SIGCOMM 2021). With a
/// rest, its constants are the rest's worst for 1 .. d values, found in d steps.
template <class Rest = identity>
struct zero_blocks {
    std::size_t block = 256;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("zero_blocks", "the blocks that are not all zero; loses nothing", "OmniReduce, SIGCOMM 2021",
                 detail::block_field(&zero_blocks::block).written());
    }

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::listed, T, B, messages::blocks>;

    void check(std::size_t d) const {
        detail::check_fields(*this);
        rest.check(d);
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const { detail::blank_listed(on, *this, d, from, m, d); }
    template <Scalar T>
    void operator()(auto& on, std::span<T const> x, key from, auto& m) const {
        begin_message(m, x.size(), *this, from);
        m.make_room(on, x.size(), *this);
        select_nonzero_blocks(on, x, block, m.support);
        make_payload(on, x, T(1), *this, m);
    }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    bool contractive() const requires Contractive<Rest> { return is_contractive(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> { return detail::largest_omega(rest, d); }
    double delta(std::size_t d) const requires Contractive<Rest> {
        double least = 1;
        if constexpr (!std::same_as<Rest, identity>)
            for (std::size_t n = 1; n <= d; ++n) least = std::min(least, rest.delta(n));
        return least;
    }

    constexpr auto with(auto const& r) const { return zero_blocks<std::remove_cvref_t<decltype(r)>>{block, r}; }
    bool operator==(zero_blocks const&) const = default;
};
template <class N, class R = identity>
zero_blocks(N, R = {}) -> zero_blocks<R>;

}  // namespace laconic
