// SPDX-License-Identifier: Apache-2.0
// At most as many seats compute as are allowed, in the order in which they could go on.
#include "laconic/comm/turns.hpp"

#include "support/test.hpp"

using laconic::detail::turns;

namespace {

// Which of the seats may compute, one letter each.
std::string computing(std::array<turns::seat, 4> const& seats) {
    std::string text;
    for (std::size_t i = 0; i < seats.size(); ++i)
        if (seats[i].may_compute) text += static_cast<char>('a' + i);
    return text;
}

}  // namespace

TEST_CASE("at most so many compute, the others in the order in which they could go on") {
    std::array<turns::seat, 4> seats;
    auto& [a, b, c, d] = seats;
    turns all(4, 2);
    for (auto* s : {&d, &b, &a, &c}) all.goes_on(*s);
    CHECK(computing(seats) == "bd");
    all.goes_on(b);  // it does already
    all.goes_on(a);  // it is in line already
    all.stops(b);
    CHECK(computing(seats) == "ad");
    all.goes_on(b);  // behind c
    all.stops(d);
    CHECK(computing(seats) == "ac");
    all.stops(d);  // it did not: nothing changes
    CHECK(computing(seats) == "ac");
    all.stops(a);
    all.stops(c);
    CHECK(computing(seats) == "b");
}

TEST_CASE("who has left is not called any more, and takes no one's turn") {
    std::array<turns::seat, 4> seats;
    auto& [a, b, c, d] = seats;
    turns all(4, 1);
    for (auto* s : {&a, &b, &c}) all.goes_on(*s);
    b.left = true;
    all.stops(b);
    CHECK(computing(seats) == "a");
    all.stops(a);
    CHECK(computing(seats) == "c");
    all.goes_on(d);
    all.stops(c);
    CHECK(computing(seats) == "d");
}

TEST_CASE("of those who compute, who has the oldest turn is found") {
    std::array<turns::seat, 4> seats;
    auto& [a, b, c, d] = seats;
    turns all(4, 2);
    CHECK(turns::longest(seats) == 4);
    for (auto* s : {&d, &b, &a}) all.goes_on(*s);
    CHECK(turns::longest(seats) == 3);
    all.stops(d);  // a computes, for a shorter time than b
    CHECK(turns::longest(seats) == 1);
    all.stops(b);
    CHECK(turns::longest(seats) == 0);
}
