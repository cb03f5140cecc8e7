// SPDX-License-Identifier: Apache-2.0
// LAG sends exactly where the change, measured by delta or by the iterate, exceeds the last moves, also out of range.
#include "laconic/adapt/lag.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

using vec = std::vector<double>;

static_assert(Level<lag<>, threshold<>> && Level<lag<float>, threshold<>, float>);

// Tunes for x and delta, and updates as if the round were sent, where it is to.
template <class T>
bool sends(lag<T>& level, std::vector<T> const& x, std::vector<T> const& delta, bool and_update = true) {
    host on;
    threshold<> c{.5};
    level.tune(on, c, round_context{}, std::span<T const>(x), std::span<T const>(delta));
    bool const in_full = c.bound == 0;
    CHECK((in_full || c.bound == std::numeric_limits<double>::infinity()));
    if (and_update) level.update(on, std::span<T const>(x), 0);
    if (and_update) CHECK(level.sent() == in_full);
    return in_full;
}

TEST_CASE("delta is measured against the last moves, by hand") {
    lag<> level(.5, 2, .5);  // sends where |delta|^2 > 2 (the last two squared moves)
    CHECK(sends(level, vec{0, 0}, vec{0, 0}));
    CHECK(sends(level, vec{1, 0}, vec{1.5, 0}));        // 2.25 > 2
    CHECK_FALSE(sends(level, vec{1, 2}, vec{3, 1}));    // 10 = 2 (4 + 1)
    CHECK_FALSE(sends(level, vec{1, 2}, vec{2.5, 1}));  // 7.25 < 2 (0 + 4)
    CHECK(sends(level, vec{1, 2}, vec{.1, 0}));         // the moves of length 1 and 2 are forgotten
    CHECK(sends(level, vec{4, 2}, vec{3, 4}));          // 25 > 2 (9 + 0)
}

TEST_CASE("asking changes nothing") {
    lag<> level(1, 1, 1);
    sends(level, vec{0}, vec{0});
    CHECK_FALSE(sends(level, vec{3}, vec{2}, false));
    CHECK(sends(level, vec{1}, vec{2}, false));
    CHECK_FALSE(sends(level, vec{2}, vec{2}));
}

TEST_CASE("with a smoothness the iterates alone decide") {
    lag<> level(1, 1, 1, 2);  // sends where 4 |x - where it sent|^2 > the last squared move
    vec const any{1e9};
    CHECK(sends(level, vec{0}, any));
    CHECK(sends(level, vec{1}, vec{0}));
    CHECK_FALSE(sends(level, vec{1}, any));
    lag<> lazier(16, 1, 1, 2);  // 4 ... > 16 ...
    CHECK(sends(lazier, vec{0}, any));
    CHECK_FALSE(sends(lazier, vec{1}, any));
    CHECK(sends(lazier, vec{1.9}, vec{0}));  // 14.44 > 12.96
    CHECK_FALSE(sends(lazier, vec{2}, any));
}

TEST_CASE("xi = 0 sends everything but zeros; float as double") {
    lag<float> level(0, 3, .1);
    std::vector<float> const x{1, 2}, none{0, 0};
    CHECK(sends(level, x, none));
    CHECK_FALSE(sends(level, x, none));
    CHECK(sends(level, std::vector<float>{9, 9}, std::vector<float>{0, 1e-10f}));
}

TEST_CASE("where squares leave their range delta is sent, by delta as by the iterates") {
    for (double const smoothness : {0., 2.}) {
        CAPTURE(smoothness);
        lag<> level(.05, 3, .5, smoothness);
        CHECK(sends(level, vec{0}, vec{0}));
        for (double const at : {1e200, -1e200, 1e200}) CHECK(sends(level, vec{at}, vec{at}));  // both infinite
        CHECK(sends(level, vec{1.7e308}, vec{1}));
        CHECK(sends(level, vec{-1.7e308}, vec{1}));  // the move itself
        lag<> tiny(.05, 3, .5, smoothness);
        CHECK(sends(tiny, vec{0}, vec{0}));
        CHECK(sends(tiny, vec{1e-170}, vec{1e-170}));  // both 0
        CHECK(sends(tiny, vec{2e-170}, vec{1e-170}));
        CHECK_FALSE(sends(tiny, vec{2e-170}, vec{0}));
        lag<float> narrow(.05, 3, .5, smoothness);
        CHECK(sends(narrow, std::vector<float>{-3e38f}, std::vector<float>{0}));
        CHECK(sends(narrow, std::vector<float>{3e38f}, std::vector<float>{1}));
    }
    lag<> short_steps(.05, 3, 1e-200);
    CHECK(sends(short_steps, vec{0}, vec{0}));
    CHECK(sends(short_steps, vec{1}, vec{1e200}));  // |delta|^2 and xi / step^2
}

TEST_CASE("what it remembers is saved, and its text has its arguments") {
    lag<> level(.5, 3, .5), other(.5, 3, .5);
    for (double const v : {0., 1., 3.}) sends(level, vec{v}, vec{0});
    restore_from(level, other);
    for (double const delta : {4., 4.4, 4.5, 5.})
        CHECK(sends(level, vec{3.2}, vec{delta}, false) == sends(other, vec{3.2}, vec{delta}, false));
    CHECK_FALSE(sends(other, vec{3.2}, vec{std::sqrt(2 * 5.04) * .999}, false));
    CHECK(sends(other, vec{3.2}, vec{std::sqrt(2 * 5.04) * 1.001}, false));
    CHECK(to_string(level) == "lag(xi=0.5, D=3, step=0.5, by delta)");
    CHECK(to_string(lag<>(.5, 3, .5, 7)) == "lag(xi=0.5, D=3, step=0.5, by the iterate)");
    CHECK(to_string(lag<>(.5, 3, .5, 7)) == to_string(lag<>(.5, 3, .5, 8)));
}
