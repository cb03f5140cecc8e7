// SPDX-License-Identifier: Apache-2.0
// The memory keeps shift, residual, mean shift and momentum as by hand, with each of its switches, and is saved.
#include "laconic/feedback/memory.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

static_assert(Feedback<memory<>> && Feedback<memory<float>, float>);

round_context const now;

template <class T>
std::vector<T> copied(std::span<T const> x) {
    return {x.begin(), x.end()};
}
template <class T>
std::span<T const> fixed(std::vector<T> const& x) {
    return x;
}

TEST_CASE("two rounds by hand, with both switches on") {
    host on;
    memory<> m(.5, true);
    m.start(3);
    std::vector<double> delta{4, -8, 2};
    m.compensate(on, now, std::span(delta));
    CHECK(delta == std::vector<double>{4, -8, 2});
    auto sent = compress(top_k{1}, delta, key{});  // (0, -8, 0)
    m.update(on, fixed(delta), sent);
    CHECK(copied(m.shift()) == std::vector<double>{0, -4, 0});
    CHECK(copied(m.residual()) == std::vector<double>{4, 0, 2});

    std::vector<double> mean{1, -6, 3};  // what the ranks sent, on average
    m.reconstruct(on, now, std::span(mean));
    CHECK(mean == std::vector<double>{1, -6, 3});
    CHECK(copied(m.mean_shift()) == std::vector<double>{.5, -3, 1.5});

    delta = {1, -8, 1};
    m.compensate(on, now, std::span(delta));
    CHECK(delta == std::vector<double>{5, -4, 3});
    sent = compress(top_k{2}, delta, key{});  // (5, -4, 0)
    m.update(on, fixed(delta), sent);
    CHECK(copied(m.shift()) == std::vector<double>{2.5, -6, 0});
    CHECK(copied(m.residual()) == std::vector<double>{0, 0, 3});
    mean = {2, 2, 0};
    m.reconstruct(on, now, std::span(mean));
    CHECK(mean == std::vector<double>{2.5, -1, 1.5});
    CHECK(copied(m.mean_shift()) == std::vector<double>{1.5, -2, 1.5});
}

TEST_CASE("what a collective gives back is sent later, where errors alone are kept") {
    host on;
    memory<> m(0, true);
    m.start(3);
    std::vector<double> const delta{4, -8, 2};
    auto const sent = compress(top_k{1}, delta, key{});
    m.update(on, fixed(delta), sent);
    add_message(on, m.residual_for_leftover(), 1., sent);
    CHECK(copied(m.residual()) == delta);                                                            // all of it
    add_message(on, m.residual_for_leftover(), 1., messages::full_vector<double, host>{{1, 2, 3}});  // others'
    CHECK(copied(m.residual()) == std::vector<double>{5, -6, 5});
    CHECK(m.keeps_leftover());
    CHECK(!memory<>(0, 0).keeps_leftover());
    CHECK(!memory<>(.5, 0).keeps_leftover());
    CHECK(!memory<>(.5, 1).keeps_leftover());
}

TEST_CASE("both switches off: nothing is remembered and nothing is changed") {
    host on;
    memory<float> m;
    m.start(4);
    std::vector<float> g{1, 2, 3, 4}, const_g = g;
    m.compensate(on, now, std::span(g));
    CHECK(g == const_g);
    m.update(on, fixed(g), compress(top_k{1}, g, key{}));
    m.reconstruct(on, now, std::span(g));
    CHECK(g == const_g);
    CHECK(m.shift().empty());
    CHECK(m.mean_shift().empty());
    CHECK(m.residual().empty());
}

TEST_CASE("one switch on, in float") {
    host on;
    memory<float> difference(1), error(0, true);
    difference.start(2);
    error.start(2);
    std::vector<float> const g{3, -1};
    auto const sent = compress(top_k{1}, g, key{});
    difference.update(on, fixed(g), sent);
    error.update(on, fixed(g), sent);
    CHECK(copied(difference.shift()) == std::vector<float>{3, 0});
    CHECK(difference.residual().empty());
    CHECK(copied(error.residual()) == std::vector<float>{0, -1});
    CHECK(error.shift().empty());
    CHECK(error.mean_shift().empty());
    std::vector<float> delta{1, 1};
    difference.compensate(on, now, std::span(delta));
    CHECK(delta == std::vector<float>{-2, 1});
    delta = {1, 1};
    error.compensate(on, now, std::span(delta));
    CHECK(delta == std::vector<float>{1, 0});
}

TEST_CASE("what is sent in full at rate 1 is the shift, at any length") {
    host on;
    for (std::size_t d : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 31u}) {
        memory<> m(1, true);
        m.start(d);
        std::vector<double> g(d);
        for (int round = 0; round < 3; ++round) {
            for (std::size_t j = 0; j < d; ++j) g[j] = double(1 + j) * (round + 1);
            auto delta = g;
            m.compensate(on, now, std::span(delta));
            messages::full_vector<double, host> const sent{delta};
            m.update(on, fixed(delta), sent);
            CHECK(copied(m.shift()) == g);
            CHECK(copied(m.residual()) == std::vector<double>(d));
        }
    }
}

TEST_CASE("an unbiased message may hold more than delta: the rest is owed") {
    host on;
    memory<> m(0, true);
    m.start(2);
    std::vector<double> const delta{3, 5};
    auto const sent = compress(rand_k{1}, delta, key{1});  // twice one of the two
    m.update(on, fixed(delta), sent);
    std::vector<double> expected = delta;
    expected[sent.support[0]] *= -1;
    CHECK(copied(m.residual()) == expected);
}

TEST_CASE("compensate may be called again, and reconstruct needs no start, for ranks that only receive") {
    host on;
    memory<> m(.5, true), receiver(.5, true);
    m.start(2);
    std::vector<double> first{4, -8}, again = first, mean{2, -6};
    m.compensate(on, now, std::span(first));
    m.update(on, fixed(first), compress(top_k{1}, first, key{}));
    first = again = {1, 1};
    m.compensate(on, now, std::span(first));
    m.compensate(on, now, std::span(again));
    CHECK(first == std::vector<double>{5, 5});
    CHECK(again == first);
    receiver.reconstruct(on, now, std::span(mean));
    mean = {2, -6};
    receiver.reconstruct(on, now, std::span(mean));
    CHECK(mean == std::vector<double>{3, -9});
    CHECK(receiver.shift().empty());
}

// As the loop does it: the scale in the same pass, and delta given away.
TEST_CASE_TEMPLATE("a delta that is given away becomes the residual, where there is one", T, float, double) {
    host on;
    for (double const rate : {0., .5}) {
        memory<T> copies(rate, true), takes(rate, true);
        copies.start(5);
        takes.start(5);
        for (int round = 1; round < 5; ++round) {
            std::vector<T> delta{T(3), T(-1), T(.1) * T(round), T(7), T(-5)}, given = delta;
            multiply(on, T(.3), std::span<T>(delta));
            copies.compensate(on, now, std::span<T>(delta));
            CHECK(takes.make_delta(on, now, T(.3), std::span<T>(given)));
            CHECK(given == delta);
            auto const sent = compress(top_k{2}, delta, key{});
            auto const* const at = given.data();
            copies.update(on, fixed(delta), sent);
            takes.update(on, std::move(given), sent);
            CHECK(takes.residual().data() == at);
            CHECK(given.size() == 5);  // NOLINT: an array in return
            CHECK(copied(takes.residual()) == copied(copies.residual()));
            CHECK(copied(takes.shift()) == copied(copies.shift()));
        }
    }
    memory<T> nothing;
    nothing.start(2);
    std::vector<T> g{1, 2}, const_g = g;
    CHECK(nothing.make_delta(on, now, T(1), std::span<T>(g)));
    nothing.update(on, std::move(g), messages::full_vector<T, host>{const_g});
    CHECK(g == const_g);  // NOLINT: nothing wants it
    g[1] = std::numeric_limits<T>::infinity();
    CHECK(!nothing.make_delta(on, now, T(1), std::span<T>(g)));
    CHECK(!nothing.make_delta(on, now, T(2), std::span<T>(g)));
}

TEST_CASE("its state is all that it remembers, and nothing else") {
    host on;
    memory<float> saved(.5, true), restored(.5, true);
    saved.start(2);
    restored.start(2);
    std::vector<float> const delta{4, -8};
    std::vector<float> mean{1, 2};
    saved.update(on, fixed(delta), compress(top_k{1}, delta, key{}));
    saved.reconstruct(on, now, std::span(mean));
    restore_from(saved, restored);
    CHECK(copied(restored.shift()) == std::vector<float>{0, -4});
    CHECK(copied(restored.residual()) == std::vector<float>{4, 0});
    CHECK(copied(restored.mean_shift()) == std::vector<float>{.5f, 1});
    memory<float> other(.25f, true);
    CHECK_THROWS_AS(restore_from(other, restored), wire_error);  // it was not started
    CHECK(copied(restored.shift()) == std::vector<float>{0, -4});
    other.start(2);
    restore_from(other, restored);
    CHECK(copied(restored.shift()) == std::vector<float>{0, 0});
    CHECK(restored.mean_shift().empty());  // before the first round
    CHECK(restored.rate() == .5);          // what it was made with stays
    CHECK(restored.keeps_residual());
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(memory<>()) == "memory(rate=0)");
    CHECK(to_string(memory<>(.25)) == "memory(rate=0.25)");
    CHECK(to_string(memory<float>(1, 1)) == "memory(rate=1, decay=1)");
    CHECK(to_string(memory<>(0, 1, .9)) == "memory(rate=0, decay=1, momentum=0.9)");
    CHECK(to_string(memory<>(0, 1, .5, false, true)) == "memory(rate=0, decay=1, momentum=0.5, nesterov, not masked)");
    CHECK(to_string(memory<>(0, 1, .5, true, false, false, true)) == "memory(rate=0, decay=1, momentum=0.5, common)");
}

TEST_CASE("a momentum outside [0, 1) and a decay outside [0, 1] are refused") {
    for (double const bad : {-.1, 1., double(NAN)}) {
        CHECK_THROWS_AS((memory<>{0, 1, bad}), argument_error);
        if (bad != 1) CHECK_THROWS_AS((memory<>{0, bad}), argument_error);
    }
}

// Momentum correction sends each value with the momentum that it gathered.

using vec = std::vector<double>;

// One round on one rank: what is sent of g.
vec sent_of(memory<>& f, vec g, std::size_t k) {
    host on;
    f.compensate(on, now, std::span(g));
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
    memory<> f(0, 1, .9);
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
    memory<> f(0, 1, .5, true, true);
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
    memory<> keeps(0, 1, .9, false), forgets(0, 1, .9);
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

TEST_CASE("nothing is lost: without momentum what was sent and what was not add up to all gradients") {
    memory<> f(0, 1);
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
    memory<float> f(0, 1, .9);
    f.start(2);
    std::vector<float> first{1, 2}, second{1, 2}, other{NAN, 7};
    f.compensate(on, now, std::span(other));
    f.compensate(on, now, std::span(first));
    f.compensate(on, now, std::span(second));
    CHECK(first == second);
    CHECK(first == std::vector<float>{1, 2});
    CHECK(f.residual()[0] == 0);
    CHECK(f.momentum()[1] == 0);
}

// Messages that list their terms forget momentum there alone, others pass over all of it.
TEST_CASE("whatever becomes of delta and however the message is known, it is the same") {
    host on;
    for (bool const nesterov : {false, true}) {
        memory<> const fresh(0, 1, .9, true, nesterov);
        auto copies = fresh, takes = fresh, unlisted = fresh;
        for (auto* const f : {&copies, &takes, &unlisted}) f->start(6);
        for (int round = 0; round < 9; ++round) {
            vec delta{1, -2, 3, .5 * round, -4, 0}, given;
            copies.compensate(on, now, std::span(delta));
            given = vec{1, -2, 3, .5 * round, -4, 0};
            takes.compensate(on, now, std::span(given));
            CHECK(given == delta);
            given = vec{1, -2, 3, .5 * round, -4, 0};
            unlisted.compensate(on, now, std::span(given));
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
    memory<> f(0, 1, .5);
    f.start(2);
    CHECK(sent_of(f, {4, 1}, 1) == vec{4, 0});
    CHECK(f.keeps_leftover());
    add_message(on, f.residual_for_leftover(), 1., messages::full_vector<double, host>{{4, -3}});
    CHECK(copied(f.residual()) == vec{4, -2});
    CHECK(copied(f.momentum()) == vec{0, 1});
}

TEST_CASE("a common momentum is what the ranks agreed on, and u = m u + (1 - m) g, by hand") {
    host on;
    memory<> f(0, 1, .75, true, false, false, true);
    CHECK((f.follows_estimate() && detail::follows_estimate<double, host>(f)));
    CHECK_FALSE(memory<>(0, 1, .75).follows_estimate());
    CHECK_THROWS_AS((memory<>(0, 1, .75, true, true, false, true)), argument_error);
    f.start(2);
    CHECK(sent_of(f, {8, 4}, 1) == vec{2, 0});
    CHECK(copied(f.momentum()) == vec{0, 0});  // until the estimate is known
    detail::show_estimate(f, on, fixed<double>({4, 8}));
    CHECK(copied(f.momentum()) == vec{4, 8});
    CHECK(sent_of(f, {8, 4}, 1) == vec{0, 8});  // (5, 7) and the residual (0, 1)
    CHECK(copied(f.common_momentum()) == vec{4, 8});
    CHECK(memory<>(0, 1, .75).common_momentum().empty());
    memory<> same(0, 1, .75, true, false, false, true);
    same.start(2);
    restore_from(f, same);
    CHECK(sent_of(same, {8, 4}, 1) == sent_of(f, {8, 4}, 1));
}

TEST_CASE("residual and momentum are its state") {
    memory<> f(0, 1, .9), same(0, 1, .9);
    f.start(2);
    same.start(2);
    sent_of(f, {1, .5}, 1);
    sent_of(f, {1, .5}, 1);
    restore_from(f, same);
    CHECK(sent_of(same, {1, .5}, 1) == sent_of(f, {1, .5}, 1));
}

TEST_CASE("controlled, the residual loses what was sent, whichever way it is updated") {
    host on;
    for (bool const moved : {false, true}) {
        memory<> m(1, .25, 0, true, false, true);
        CHECK(to_string(m) == "memory(rate=1, decay=0.25, controlled)");
        m.start(1);
        auto const round = [&](double gradient, double sent) {
            std::vector<double> g{gradient};
            m.compensate(on, round_context{}, std::span(g));
            double const delta = g[0];
            messages::full_vector<double, host> const message{{sent}};
            if (moved)
                m.update(on, std::move(g), message);
            else
                m.update(on, std::span<double const>(g), message);
            return delta;
        };
        CHECK(round(4, 1) == 4);  // e = 4 - 0 - 1
        CHECK(m.residual()[0] == 3);
        CHECK(round(5, 2) == 4.75);  // 5 - 1 + 3 / 4; e = 3 + 4 - 2
        CHECK(m.residual()[0] == 5);
        CHECK(m.shift()[0] == 3);
        CHECK(round(3, 0) == 1.25);
        CHECK(m.residual()[0] == 5);
    }
}
