// SPDX-License-Identifier: Apache-2.0
// last_gradient sends gradients or differences as in MARINA, by hand, and forgets what was not sent.
#include "laconic/feedback/last_gradient.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

using vec = std::vector<double>;

static_assert(Feedback<last_gradient<>> && Feedback<last_gradient<float>, float>);

vec copied(std::span<double const> x) { return {x.begin(), x.end()}; }

// A round of a key in which all ranks send in full, which has probability 1/2, or not.
round_context round_in_full(bool in_full) {
    for (std::uint64_t k = 1;; ++k)
        if (auto const now = round_context::of(key{7}, k, 0, 2); detail::sends_in_full(now, .5) == in_full) return now;
}

TEST_CASE("four rounds by hand: in full, two differences, in full") {
    host on;
    last_gradient<> f(.5);
    f.start(2);
    messages::full_vector<double, host> const message;
    auto const round = [&](round_context const& now, vec g, vec mean) {
        auto again = g;
        f.compensate(on, now, std::span(again));
        f.compensate(on, now, std::span(g));
        CHECK(again == g);  // computing it changes nothing
        f.update(on, std::span<double const>(g), message);
        f.reconstruct(on, now, std::span(mean));
        CHECK(copied(f.last_estimate()) == mean);
        return std::pair{g, mean};
    };
    CHECK(round(round_context{}, {4, -8}, {1, 2}) == std::pair{vec{4, -8}, vec{1, 2}});
    CHECK(round(round_in_full(false), {5, -6}, {.5, 0}) == std::pair{vec{1, 2}, vec{1.5, 2}});
    CHECK(copied(f.last()) == vec{5, -6});
    CHECK(round(round_in_full(false), {5, -5}, {1, 1}) == std::pair{vec{0, 1}, vec{2.5, 3}});
    CHECK(round(round_in_full(true), {3, 3}, {7, 8}) == std::pair{vec{3, 3}, vec{7, 8}});
    CHECK(copied(f.last()) == vec{3, 3});
}

TEST_CASE("a gradient that was not sent leaves no trace") {
    host on;
    last_gradient<> f(.5);
    f.start(1);
    vec g{2};
    f.compensate(on, round_context{}, std::span(g));
    f.update(on, std::span<double const>(g), messages::full_vector<double, host>{});
    g = {100};
    f.compensate(on, round_in_full(true), std::span(g));  // and then a rank sends an error frame
    g = {5};
    f.compensate(on, round_in_full(false), std::span(g));
    CHECK(g == vec{3});
    CHECK(copied(f.last()) == vec{2});
}

TEST_CASE("what it remembers is saved") {
    host on;
    last_gradient<> f(.5), other(.5);
    f.start(2);
    other.start(2);
    vec g{1, 2}, mean{3, 4};
    f.compensate(on, round_context{}, std::span(g));
    f.update(on, std::span<double const>(g), messages::full_vector<double, host>{});
    f.reconstruct(on, round_context{}, std::span(mean));
    restore_from(f, other);
    CHECK(copied(other.last()) == vec{1, 2});
    CHECK(copied(other.last_estimate()) == vec{3, 4});
    CHECK(to_string(f) == "last_gradient(0.5)");
}

TEST_CASE("with a correction three rounds by hand: in full, then two of which the shift takes up half") {
    host on;
    last_gradient<> f(0, .25);
    CHECK(to_string(f) == "last_gradient(0, correction=0.25)");
    f.start(1);
    auto const round = [&](round_context const& now, double scale, double gradient, double sent) {
        vec g{gradient}, again{gradient};
        CHECK(f.make_delta(on, now, scale, std::span(again)));
        CHECK(f.make_delta(on, now, scale, std::span(g)));
        CHECK(again == g);
        f.update(on, std::span<double const>(g), messages::full_vector<double, host>{{sent}});
        vec mean{sent};
        f.reconstruct(on, now, std::span(mean));
        CHECK(copied(f.shift()) == mean);  // of one rank
        return g[0];
    };
    CHECK(round(round_context{}, 1, 4, 4) == 4);
    auto const later = round_in_full(false);
    CHECK(round(later, 2, 4, 2) == 4);       // 8 - 4 - 0: h 6, g 8
    CHECK(round(later, 1, 10, 2.5) == 2.5);  // 10 - 8 - (6 - 8) / 4
    CHECK(copied(f.shift()) == vec{8.5});
    last_gradient<> other(0, .25);
    other.start(1);
    restore_from(f, other);
    CHECK(copied(other.shift()) == vec{8.5});
    vec g{NAN};
    CHECK_FALSE(f.make_delta(on, later, 1, std::span(g)));
    CHECK_THROWS_AS(last_gradient<>(.5, .25), argument_error);
    CHECK_THROWS_AS(last_gradient<>(0, 1.5), argument_error);
}
