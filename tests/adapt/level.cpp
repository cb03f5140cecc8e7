// SPDX-License-Identifier: Apache-2.0
// A fixed level changes nothing, and the loop tunes by a level of the user's and updates it with each message.
#include "laconic/adapt/level.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"
#include "support/toys.hpp"

// A level of the user's: as many coordinates more as were sent.
struct rising {
    double k = 1;
    template <class B, Scalar T>
    void tune(B&, top_k<>& c, round_context const&, std::span<T const>, std::span<T const>) {
        c.k = k;
    }
    template <class B, Scalar T, class M>
    void update(B&, std::span<T const>, M const& m) {
        k += static_cast<double>(m.support.size());
    }
};
struct without_update {
    template <class B, class C, Scalar T>
    void tune(B&, C&, round_context const&, std::span<T const>, std::span<T const>) {}
};

static_assert(Level<fixed_level, top_k<>> && Level<fixed_level, top_k<>, float>);
static_assert(Level<rising, top_k<>> && !Level<rising, identity> && !Level<without_update, top_k<>>);

TEST_CASE("a fixed level leaves the compressor as it was") {
    host on;
    fixed_level level;
    top_k<> c{3};
    std::vector<double> const x{1, 2};
    level.tune(on, c, round_context{}, std::span<double const>(x), std::span<double const>(x));
    level.update(on, std::span<double const>(x), compress(top_k{1}, x, key{1}));
    CHECK(c == top_k{3});
}

TEST_CASE("each round tunes the compressor by a level of the user's, and updates the level with the message") {
    auto const f = toys::around({toys::vec(8, 1.0)});
    recursion<top_k<>, memory<>, gradient_step, rising> const r{{7}, {0, true}, {.1}, {}};
    toys::lockstep run(r, f, toys::vec(8, 0.0), 1);
    for (std::size_t const k : {1u, 2u, 4u, 8u}) {
        run.round();
        CHECK(run.message_of_rank(0).support.size() == k);
    }
}

static_assert(Level<synchronise, identity_or<identity>>);

static_assert(Level<synchronise, identity_or<rand_k<>>> && Level<synchronise, identity_or<rand_k<>>, float>);

TEST_CASE("all ranks send in full in the same rounds, the first one among them, as often as p says") {
    host on;
    identity_or c{rand_k{1}};
    std::vector<double> const x{1, 2};
    int full = 0;
    for (std::uint64_t round = 0; round < 100; ++round) {
        int senders = 0;
        for (int rank = 0; rank < 3; ++rank) {
            auto const now = round_context::of(key{1}, round, rank, 3);
            synchronise{.5}.tune(on, c, now, std::span<double const>(x), std::span<double const>(x));
            senders += c.in_full;
        }
        CHECK((senders == 0 || senders == 3));
        if (round == 0) CHECK(senders == 3);
        full += senders == 3;
    }
    CHECK(full > 25);
    CHECK(full < 75);
    CHECK(to_string(synchronise{.5}) == "synchronise(0.5)");
}

static_assert(Level<warm_up, top_k<>> && Level<warm_up, top_k<natural>> && Level<warm_up, rand_k<>, float>);
static_assert(!Level<warm_up, natural>);

// How many of d coordinates are sent in that round.
std::size_t coordinates_sent(warm_up level, std::uint64_t round, std::size_t d) {
    host on;
    top_k c{level.k.value};
    std::vector<double> const x(d, 1.0);
    round_context now;
    now.round = round;
    level.tune(on, c, now, std::span<double const>(x), std::span<double const>(x));
    detail::message_of<top_k<>> m;
    c.check(d);
    c(on, std::span<double const>(x), key{}, m);
    return m.support.size();
}

TEST_CASE("all send in full in the first rounds, and then the compressor's messages") {
    host on;
    synchronise const level{0, 2};
    identity_or<top_k<>> compressor{top_k{1}};
    for (std::uint64_t round : {0u, 1u, 2u, 3u, 0u}) {
        level.tune(on, compressor, round_context::of(key{1}, round, 0, 2), std::span<double const>(),
                   std::span<double const>());
        CHECK(compressor.in_full == (round < 2));
    }
    CHECK(to_string(level) == "synchronise(0, first=2)");
}

TEST_CASE("four quarters, then k") {
    warm_up const level{.001, 8};
    std::size_t const known[] = {2500, 2500, 625, 625, 156, 156, 40, 40, 10, 10};
    for (std::uint64_t k = 0; k < 10; ++k) CHECK(coordinates_sent(level, k, 10000) == known[k]);
    CHECK(coordinates_sent(level, 1000000, 10000) == 10);
    // Where the rounds are no multiple of four, the first quarters are not the shorter ones.
    std::size_t const six[] = {2500, 2500, 625, 156, 156, 40, 10};
    for (std::uint64_t k = 0; k < 7; ++k) CHECK(coordinates_sent({.001, 6}, k, 10000) == six[k]);
    CHECK(coordinates_sent({.001, 1}, 0, 10000) == 2500);
}

TEST_CASE("never fewer than k, of counts as of fractions, and at least one") {
    CHECK(coordinates_sent({.1, 8}, 0, 1000) == 250);
    CHECK(coordinates_sent({.1, 8}, 2, 1000) == 100);
    CHECK(coordinates_sent({100, 8}, 2, 1000) == 100);
    CHECK(coordinates_sent({300, 8}, 0, 1000) == 300);
    CHECK(coordinates_sent({1, 8}, 7, 10) == 1);
    CHECK(coordinates_sent({.5, 0}, 0, 10) == 5);
}

TEST_CASE("its text has its arguments") { CHECK(to_string(warm_up{.001, 100}) == "warm_up(0.001, rounds=100)"); }

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

TEST_CASE_TEMPLATE("bounds are scaled distances, by vectors of numbers and behind the last of them", T, float, double) {
    for (std::size_t d = 0; d < 70; ++d) {
        std::vector<T> x(d), y(d), bounds(d, T(-1));
        for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(i), y[i] = T(6);
        host on;
        at_each_index(on, d, detail::scaled_distances<T>{T(2), x, y, bounds});
        for (std::size_t i = 0; i < d; ++i)
            CHECK(bounds[i] == static_cast<T>(i > 6 ? 2.0 * double(i) - 12 : 12 - 2.0 * double(i)));
    }
}
