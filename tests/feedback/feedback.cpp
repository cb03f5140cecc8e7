// SPDX-License-Identifier: Apache-2.0
// A feedback is any type with four members, and make_delta checks, scales and compensates the gradient.
#include "laconic/feedback/feedback.hpp"

#include "support/everything.hpp"

struct forgetful {
    void start(std::size_t) {}
    void compensate(host&, round_context const&, std::span<double>) {}
    void update(host&, std::span<double const>, auto const&) {}
    void reconstruct(host&, round_context const&, std::span<double>) {}
};
struct without_estimate {
    void start(std::size_t) {}
    void compensate(host&, round_context const&, std::span<double>) {}
    void update(host&, std::span<double const>, auto const&) {}
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

// The server's answer is the estimate less its shift, by hand, and changes no memory, even where it is refused.

using vec = std::vector<double>;

template <class C>
struct downlink {
    C compressor{};
    memory<> feedback{.5};
};

struct without_preview {  // no preview()
    void start(std::size_t) {}
};

double const largest = std::numeric_limits<double>::max();

// What one server remembers.
template <class C>
struct server {
    host on;
    memory<> workers{.5};  // of their messages: mean h = (1, 2)
    downlink<C> down;      // of its own: h = (-1, 1)
    detail::message_of<C> answer;
    vec kept;

    server() {
        vec mean{2, 4};
        workers.reconstruct(on, {}, std::span(mean));
        down.feedback.start(2);
        messages::full_vector<double, host> m;
        m.values = {-2, 2};
        down.feedback.update(on, std::span<double const>(m.values), m);
    }
    vec delta_of(vec d) {
        detail::make_answer(workers, down, on, round_context{}, std::span(d), kept, answer);
        return d;
    }
};

TEST_CASE("by hand: the estimate less the server's shift; nothing is remembered, however often it is computed") {
    server<identity> s;
    for (int again = 0; again < 2; ++again) {
        CHECK(s.delta_of({10, 20}) == vec{12, 21});  // (10 + 1) - (-1), (20 + 2) - 1
        CHECK(s.kept == vec{10, 20});
        CHECK(s.answer.values == vec{12, 21});
    }
    vec d = s.kept;
    s.workers.reconstruct(s.on, {}, std::span(d));
    CHECK(d == vec{11, 22});  // what it was about
}

TEST_CASE("a mean or a delta that is not finite is refused, and so is what the compressor refuses") {
    server<identity> s;
    CHECK_THROWS_WITH_AS(s.delta_of({1, HUGE_VAL}), "the mean of the messages is not finite at coordinate 1", error);
    messages::full_vector<double, host> m;
    m.values = {0, -largest};
    s.down.feedback.update(s.on, std::span<double const>(m.values), m);
    CHECK_THROWS_WITH_AS(s.delta_of({1, largest}), "what the server has to send is not finite at coordinate 1", error);
    server<quantize> q;
    CHECK_THROWS_WITH_AS(q.delta_of({largest, largest}), "quantize: the norm of a bucket is not finite",
                         argument_error);
    CHECK(q.delta_of({3, 4}) == vec{5, 5});
    vec d{1, 1};
    CHECK_THROWS_WITH_AS(
        detail::make_answer(without_preview{}, s.down, s.on, round_context{}, std::span(d), s.kept, s.answer),
        doctest::Contains("has no preview"), argument_error);
}
