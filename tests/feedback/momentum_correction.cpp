// SPDX-License-Identifier: Apache-2.0
// Momentum correction sends each value with the momentum it gathered, loses nothing, and is saved.
#include "laconic/feedback/momentum_correction.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

using vec = std::vector<double>;

static_assert(Feedback<momentum_correction<>> && Feedback<momentum_correction<float>, float>);

vec copied(std::span<double const> x) { return {x.begin(), x.end()}; }

// One round on one rank: what is sent of g.
vec sent_of(momentum_correction<>& f, vec g, std::size_t k) {
    host on;
    f.compensate(on, round_context{}, std::span(g));
    auto const m = compress(top_k{k}, g, key{});
    f.update(on, std::span<double const>(g), m);
    vec sent(g.size());
    add_message(on, std::span(sent), 1.0, m);
    return sent;
}
void about(vec const& x, vec const& y) {
    REQUIRE(x.size() == y.size());
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == doctest::Approx(y[i]).epsilon(1e-14));
}

TEST_CASE("the trace of a constant gradient: each value is sent with the momentum it gathered") {
    momentum_correction<> f(.9);
    f.start(2);
    about(sent_of(f, {1, .5}, 1), {1, 0});
    about(copied(f.momentum()), {0, .5});
    about(copied(f.residual()), {0, .5});
    about(sent_of(f, {1, .5}, 1), {0, 1.45});
    about(copied(f.momentum()), {1, 0});
    about(sent_of(f, {1, .5}, 1), {2.9, 0});
    about(copied(f.momentum()), {0, .5});
}

TEST_CASE("Nesterov's form, by hand: u = m (u + g), v = v + u + g") {
    momentum_correction<> f(.5, true);
    f.start(2);
    about(sent_of(f, {4, 2}, 1), {6, 0});  // u = (2, 1), v = (6, 3)
    about(copied(f.momentum()), {0, 1});
    about(copied(f.residual()), {0, 3});
    about(sent_of(f, {4, 2}, 1), {0, 6.5});  // u = (2, 1.5), v = (6, 3 + 1.5 + 2)
    about(copied(f.momentum()), {2, 0});
    about(copied(f.residual()), {6, 0});
}

TEST_CASE("in full and without masking it is momentum SGD; with masking momentum never gathers") {
    host on;
    momentum_correction<> keeps(.9, false, false), forgets(.9);
    keeps.start(3);
    forgets.start(3);
    momentum<> heavy(1, .9);
    vec x(3), y(3);
    for (int k = 0; k < 20; ++k) {
        vec g{std::sin(k), 1, -.5 * k};
        auto const sent = sent_of(keeps, g, 3);
        for (std::size_t i = 0; i < 3; ++i) x[i] -= sent[i];
        CHECK(sent_of(forgets, g, 3) == g);
        heavy(on, std::span(y), std::span(g));
        about(x, y);
        CHECK(copied(keeps.residual()) == vec(3, 0.0));
    }
}

TEST_CASE("nothing is lost: with m = 0 what was sent and what was not add up to all gradients") {
    momentum_correction<> f(0);
    f.start(5);
    vec sum(5), sent(5);
    for (int k = 1; k <= 30; ++k) {
        vec g(5);
        for (std::size_t i = 0; i < 5; ++i) sum[i] += g[i] = std::cos(double(k * (int(i) + 1)));
        auto const m = sent_of(f, g, 2);
        for (std::size_t i = 0; i < 5; ++i) sent[i] += m[i];
    }
    for (std::size_t i = 0; i < 5; ++i) CHECK(sent[i] + f.residual()[i] == doctest::Approx(sum[i]).epsilon(1e-12));
}

TEST_CASE("compensate may be called again, and changes nothing that lasts") {
    host on;
    momentum_correction<float> f(.9f);
    f.start(2);
    std::vector<float> first{1, 2}, second{1, 2}, other{NAN, 7};
    f.compensate(on, round_context{}, std::span(other));
    f.compensate(on, round_context{}, std::span(first));
    f.compensate(on, round_context{}, std::span(second));
    CHECK(first == second);
    CHECK(first == std::vector<float>{1, 2});
    CHECK(f.residual()[0] == 0);
    CHECK(f.momentum()[1] == 0);
}

// Messages that list their terms forget momentum there alone, others pass over all of it.
TEST_CASE("whatever becomes of delta and however the message is known, it is the same") {
    host on;
    for (bool const nesterov : {false, true}) {
        momentum_correction<> copies(.9, nesterov), takes(.9, nesterov), unlisted(.9, nesterov);
        for (auto* const f : {&copies, &takes, &unlisted}) f->start(6);
        for (int round = 0; round < 9; ++round) {
            vec delta{1, -2, 3, .5 * round, -4, 0}, given;
            copies.compensate(on, round_context{}, std::span(delta));
            given = vec{1, -2, 3, .5 * round, -4, 0};
            takes.compensate(on, round_context{}, std::span(given));
            CHECK(given == delta);
            given = vec{1, -2, 3, .5 * round, -4, 0};
            unlisted.compensate(on, round_context{}, std::span(given));
            auto const m = compress(top_k{2}, delta, key{});
            copies.update(on, std::span<double const>(delta), m);
            unlisted.update(on, std::span<double const>(delta), compress(any_compressor<>(top_k{2}), delta, key{}));
            takes.update(on, std::move(given), m);
            CHECK(given.size() == 6);  // NOLINT: an array in return
            for (auto const* const f : {&takes, &unlisted}) {
                CHECK(copied(f->residual()) == copied(copies.residual()));
                CHECK(copied(f->momentum()) == copied(copies.momentum()));
            }
        }
    }
}

TEST_CASE("what a collective gives back is gathered with the rest, and momentum stays as it is") {
    host on;
    momentum_correction<> f(.5);
    f.start(2);
    CHECK(sent_of(f, {4, 1}, 1) == vec{4, 0});
    CHECK(f.keeps_leftover());
    f.keep(on, messages::full_vector<double, host>{{4, -3}});
    CHECK(copied(f.residual()) == vec{4, -2});
    CHECK(copied(f.momentum()) == vec{0, 1});
}

TEST_CASE("both vectors are its state") {
    momentum_correction<> f(.9), same(.9);
    f.start(2);
    same.start(2);
    sent_of(f, {1, .5}, 1);
    sent_of(f, {1, .5}, 1);
    restore_from(f, same);
    CHECK(sent_of(same, {1, .5}, 1) == sent_of(f, {1, .5}, 1));
}

TEST_CASE("a factor outside [0, 1) is refused, and its text has what differs from the defaults") {
    for (double const bad : {-.1, 1., double(NAN)}) CHECK_THROWS_AS(momentum_correction<>{bad}, argument_error);
    CHECK(to_string(momentum_correction<>{}) == "momentum_correction(0.9)");
    CHECK(to_string(momentum_correction<>{.5, true, false}) == "momentum_correction(0.5, nesterov, no masking)");
}
