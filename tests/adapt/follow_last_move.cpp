// SPDX-License-Identifier: Apache-2.0
// Each coordinate's bound is its scaled distance to the last sent iterate, and 0 before anything was sent.
#include "laconic/adapt/follow_last_move.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

template <class T>
using bounded = threshold<identity, std::span<T const>>;
static_assert(Level<follow_last_move<double>, bounded<double>>);
static_assert(Level<follow_last_move<float>, bounded<float>, float>);

template <class T>
std::vector<T> bounds_for(follow_last_move<T>& level, std::vector<T> const& x) {
    host on;
    bounded<T> c;
    level.tune(on, c, round_context{}, std::span<T const>(x), std::span<T const>(x));
    return {c.bound.begin(), c.bound.end()};
}

TEST_CASE("bounds are zero in the first round, then scaled distances to where the last message was sent") {
    host on;
    follow_last_move<double> level(3);
    std::vector<double> const a{1, 2, -1}, b{1.5, 2, -3}, c{1, 1, 1};
    CHECK(bounds_for(level, a) == std::vector<double>{0, 0, 0});
    CHECK(bounds_for(level, b) == std::vector<double>{0, 0, 0});  // nothing was sent at a
    level.update(on, std::span<double const>(a), 0);
    CHECK(bounds_for(level, b) == std::vector<double>{1.5, 0, 6});
    CHECK(bounds_for(level, b) == std::vector<double>{1.5, 0, 6});  // asking changes nothing
    CHECK(bounds_for(level, a) == std::vector<double>{0, 0, 0});
    level.update(on, std::span<double const>(b), 0);
    CHECK(bounds_for(level, c) == std::vector<double>{1.5, 3, 12});
}

TEST_CASE("without a scale every bound is zero; float as double") {
    host on;
    follow_last_move<float> none, half(.5);
    std::vector<float> const a{1, 2}, b{3, -2};
    none.update(on, std::span<float const>(a), 0);
    half.update(on, std::span<float const>(a), 0);
    CHECK(bounds_for(none, b) == std::vector<float>{0, 0});
    CHECK(bounds_for(half, b) == std::vector<float>{1, 2});
}

TEST_CASE("a bound that overflows is zero") {
    host on;
    follow_last_move<double> level(100);
    auto const next = [&](std::vector<double> const& x) {
        auto const bounds = bounds_for(level, x);
        level.update(on, std::span<double const>(x), 0);
        return bounds;
    };
    next({0, 0});
    CHECK(next({1e306, 2}) == std::vector<double>{100 * 1e306, 200});
    CHECK(next({-1e307, 2}) == std::vector<double>{0, 0});
    CHECK(next({-1e307, 3}) == std::vector<double>{0, 100});
}

TEST_CASE("its state is where the last message was sent; its scale is its own") {
    host on;
    follow_last_move<double> saved(3), restored(3), half(1.5);
    std::vector<double> const a{1, 2, -1}, b{1.5, 2, -3};
    saved.update(on, std::span<double const>(a), 0);
    restore_from(saved, restored);
    restore_from(saved, half);
    CHECK(bounds_for(restored, b) == std::vector<double>{1.5, 0, 6});
    CHECK(bounds_for(half, b) == std::vector<double>{.75, 0, 3});
    restore_from(follow_last_move<double>(1), restored);
    CHECK(bounds_for(restored, b) == std::vector<double>{0, 0, 0});  // a first round again
    CHECK(to_string(restored) == "follow_last_move(3)");
}
