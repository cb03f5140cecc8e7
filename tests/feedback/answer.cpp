// SPDX-License-Identifier: Apache-2.0
// The server's answer is the estimate less its shift, by hand, and changes no memory, even where it is refused.
#include "laconic/feedback/answer.hpp"

#include "support/everything.hpp"

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
