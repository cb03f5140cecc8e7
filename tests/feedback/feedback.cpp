// SPDX-License-Identifier: Apache-2.0
// A feedback is any type with four members, and make_delta checks, scales and compensates the gradient.
#include "laconic/feedback/feedback.hpp"

#include "support/everything.hpp"

struct forgetful {
    void start(std::size_t) {}
    void compensate(host&, round_context const&, std::span<double>) {}
    template <class M>
    void update(host&, std::span<double const>, M const&) {}
    void reconstruct(host&, round_context const&, std::span<double>) {}
};
struct without_estimate {
    void start(std::size_t) {}
    void compensate(host&, round_context const&, std::span<double>) {}
    template <class M>
    void update(host&, std::span<double const>, M const&) {}
};

TEST_CASE("a feedback is any type with the four members, for one kind of number") {
    static_assert(Feedback<forgetful> && !Feedback<forgetful, float>);
    static_assert(!Feedback<without_estimate> && !Feedback<int>);
    static_assert(Feedback<memory<float>, float> && !Feedback<memory<float>, double>);
    memory<> m(.5, false);
    m.start(3);
    CHECK(m.shift().size() == 3);
}

// Doubles what it is given.
struct doubling : forgetful {
    void compensate(host& on, round_context const&, std::span<double> g) { multiply(on, 2., g); }
};

TEST_CASE("delta of a feedback without make_delta(): checked, scaled, then compensate()") {
    host on;
    doubling f;
    std::vector<double> g{1, -3};
    CHECK(laconic::detail::make_delta(f, on, round_context{}, .5, std::span(g)));
    CHECK(g == std::vector<double>{1, -3});
    g[1] = INFINITY;
    CHECK(!laconic::detail::make_delta(f, on, round_context{}, .5, std::span(g)));
    CHECK(g == std::vector<double>{1, INFINITY});
    memory<> m(0, true);
    m.start(2);
    g = {1, -3};
    CHECK(laconic::detail::make_delta(m, on, round_context{}, .5, std::span(g)));
    CHECK(g == std::vector<double>{.5, -1.5});
}
