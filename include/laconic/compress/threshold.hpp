// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include "laconic/compress/pipe.hpp"

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
            throw shape_error(detail::concat({"threshold: ", bound.size(), " bounds for d = ", d}));
        rest.check(d);
    }
    template <class B, Scalar T>
    void blank(B& on, std::size_t d, key from, message<T, B>& m) const {
        begin_message(m, d, *this, from);
        m.make_room(on, d);
        m.support.resize(0);
        m.expect_payload(on);
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, message<T, B>& m) const {
        begin_message(m, x.size(), *this, from);
        m.make_room(on, x.size());
        if constexpr (one_for_all)
            select_above(on, x, static_cast<T>(bound), m.support);
        else
            select_above(on, x, bound, m.support);
        make_payload(on, x, T(1), m);
    }

    template <class R>
    constexpr auto with(R const& r) const {
        return threshold<R, Bound>{bound, r};
    }
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
template <class N>
threshold(N) -> threshold<>;

}  // namespace laconic
