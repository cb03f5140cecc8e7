// SPDX-License-Identifier: Apache-2.0
// A fixed level changes nothing, and the loop tunes by a level of the user's and updates it with each message.
#include "laconic/adapt/level.hpp"

#include "support/everything.hpp"
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
