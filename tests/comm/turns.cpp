// SPDX-License-Identifier: Apache-2.0
// At most as many states compute as are allowed, in the order in which they could go on.
#include "laconic/comm/turns.hpp"

#include "support/everything.hpp"

using laconic::detail::turns;

// Which of the states may compute, one letter each.
std::string computing(std::array<turns::rank_state, 4> const& states) {
    std::string text;
    for (std::size_t i = 0; i < states.size(); ++i)
        if (states[i].may_compute) text += static_cast<char>('a' + i);
    return text;
}

TEST_CASE("at most so many compute, the others in the order in which they could go on") {
    std::array<turns::rank_state, 4> states;
    auto& [a, b, c, d] = states;
    turns all(4, 2);
    for (auto* s : {&d, &b, &a, &c}) all.resume(*s);
    CHECK(computing(states) == "bd");
    all.resume(b);  // it does already
    all.resume(a);  // it is in line already
    all.stops(b);
    CHECK(computing(states) == "ad");
    all.resume(b);  // behind c
    all.stops(d);
    CHECK(computing(states) == "ac");
    all.stops(d);  // it did not: nothing changes
    CHECK(computing(states) == "ac");
    all.stops(a);
    all.stops(c);
    CHECK(computing(states) == "b");
}

TEST_CASE("who has left is not called any more, and takes no one's turn") {
    std::array<turns::rank_state, 4> states;
    auto& [a, b, c, d] = states;
    turns all(4, 1);
    for (auto* s : {&a, &b, &c}) all.resume(*s);
    b.left = true;
    all.stops(b);
    CHECK(computing(states) == "a");
    all.stops(a);
    CHECK(computing(states) == "c");
    all.resume(d);
    all.stops(c);
    CHECK(computing(states) == "d");
}

TEST_CASE("of those who compute, who has the oldest turn is found") {
    std::array<turns::rank_state, 4> states;
    auto& [a, b, c, d] = states;
    turns all(4, 2);
    CHECK(turns::longest(states) == 4);
    for (auto* s : {&d, &b, &a}) all.resume(*s);
    CHECK(turns::longest(states) == 3);
    all.stops(d);  // a computes, for a shorter time than b
    CHECK(turns::longest(states) == 1);
    all.stops(b);
    CHECK(turns::longest(states) == 0);
}
