// SPDX-License-Identifier: Apache-2.0
// Each cost of a message, one way or both, gives the figures worked out by hand; impossible prices are refused.
#include "laconic/core/cost.hpp"

#include "support/everything.hpp"

static_assert(CommunicationCost<message_cost>);
static_assert(CommunicationCost<two_way_cost>);

// A cost of the user's: to send at all, and to keep the line open.
struct by_the_minute {
    double operator()(double bits) const { return 1 + std::floor(bits / 1e6); }
    bool operator==(by_the_minute const&) const = default;
    friend std::string to_string(by_the_minute) { return "by_the_minute"; }
};
static_assert(CommunicationCost<by_the_minute>);

TEST_CASE("bits, and bits with a fee") {
    CHECK(message_cost{}(34) == 34);
    CHECK(message_cost{}(0) == 0);
    CHECK(affine_cost(2, 64)(34) == 132);
    CHECK(affine_cost(0, 64)(34) == 64);
    CHECK(affine_cost(2, 64)(0) == 0);
}

TEST_CASE("a packet that is begun is paid in full") {
    auto const cost = packet_cost(512, 64, 60);
    CHECK(cost.packets(1) == 1);
    CHECK(cost.packets(8 * 512) == 1);
    CHECK(cost.packets(8 * 512 + 1) == 2);
    CHECK(cost(1) == 576 + 60);
    CHECK(cost(8 * 512 + 1) == 2 * 576 + 60);
    CHECK(cost(0) == 0);
}

TEST_CASE("a radio's energy and its time on the air") {
    CHECK(energy_cost(1e-6, 1e-3, 100, 0.5)(801) == doctest::Approx(801e-6 + 2e-3 + 0.5));
    CHECK(air_time_cost(250e3, 0.01, 125, 0.2)(2000) == doctest::Approx(0.008 + 0.02 + 0.2));
}

TEST_CASE("a lossy link takes a message again until it has arrived whole") {
    CHECK(lossy_cost({}, 0) == message_cost{});
    CHECK(lossy_cost({}, .5)(3) == doctest::Approx(3 * 8));
    CHECK(lossy_cost(affine_cost(2, 10), .01)(100) == doctest::Approx(210 * std::pow(.99, -100)));
    CHECK(lossy_cost(packet_cost(512, 64, 60), 1e-4)(8 * 512) == doctest::Approx(636 * std::pow(1 - 1e-4, -4096)));
    CHECK(lossy_cost({}, .5)(0) == 0);
    CHECK(lossy_cost({}, .5)(1e6) == std::numeric_limits<double>::infinity());
    CHECK(lossy_cost(affine_cost(0, 0), .5)(1e6) == 0);
    CHECK(two_way_cost{message_cost{}, lossy_cost({}, .5), 32}(1e6) == doctest::Approx(1e6 + 32 * 0x1p32));
    CHECK(to_string(lossy_cost(affine_cost(1, 64), .005)) == "lossy(affine(1, 64), 0.005)");
    for (double const loss : {-.1, 1., 2., std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_AS(lossy_cost({}, loss), argument_error);
    CHECK_THROWS_AS(lossy_cost(lossy_cost({}, .1), .1), argument_error);
}

TEST_CASE("they are named, and what cannot be a cost is refused") {
    CHECK(to_string(message_cost{}) == "bits");
    CHECK(to_string(affine_cost(2, 64)) == "affine(2, 64)");
    CHECK(to_string(packet_cost(512, 64, 60)) == "packets(512, 64, 60)");
    CHECK(to_string(energy_cost(1, 2, 3, 4)) == "energy(1, 2, 3, 4)");
    CHECK_THROWS_AS(affine_cost(-1, 0), argument_error);
    CHECK_THROWS_AS(affine_cost(1, std::numeric_limits<double>::quiet_NaN()), argument_error);
    CHECK_THROWS_AS(packet_cost(0, 64, 0), argument_error);
    CHECK_THROWS_AS(packet_cost(512, -1, 0), argument_error);
    CHECK_THROWS_AS(energy_cost(1, 1, 1, std::numeric_limits<double>::infinity()), argument_error);
    for (double const rate : {0., std::numeric_limits<double>::infinity()})
        CHECK_THROWS_WITH_AS(air_time_cost(rate, 1, 1, 1), doctest::Contains("air_time: rate = "), argument_error);
}

TEST_CASE("two ways, a server's answer: up for the message, down for the answer, however long the message is") {
    two_way_cost const cost{affine_cost(1, 30), affine_cost(.5, 7), 1000};
    CHECK(cost(34) == (34 + 30) + (500 + 7));
    CHECK(cost(68) == (68 + 30) + (500 + 7));
    CHECK(cost(0) == 507);
    CHECK(two_way_cost{packet_cost(512, 64, 60), packet_cost(100, 10, 1), 801}(1) == (576 + 60) + (2 * 110 + 1));
}

TEST_CASE("two ways, an all-gather: as many messages come down as there are others, each like the own") {
    two_way_cost const cost{affine_cost(1, 30), affine_cost(.5, 7), 0, 9};
    CHECK(cost(34) == (34 + 30) + 9 * (17 + 7));
    CHECK(cost(0) == 0);
    two_way_cost const both{message_cost{}, affine_cost(2, 0), 10, 3};
    CHECK(both(100) == 100 + 20 + 3 * 200);
}

TEST_CASE("a cost of one way is one of two whose way back is free") {
    for (auto const& up : {message_cost{}, affine_cost(2, 64), packet_cost(512, 64, 60)}) {
        two_way_cost const cost = up;
        for (double const bits : {0., 1., 34., 1e6}) CHECK(cost(bits) == up(bits));
        CHECK(to_string(cost) == to_string(up));
        CHECK(cost == two_way_cost{up, two_way_cost::free()});
        CHECK_FALSE(cost == two_way_cost{up, message_cost{}});
        CHECK_FALSE(cost == two_way_cost{up, two_way_cost::free(), 1});
    }
    CHECK(two_way_cost{} == message_cost{});
    CHECK(two_way_cost{}(34) == 34);
}

TEST_CASE("two ways are named with all that counts, and counts that cannot be are refused") {
    CHECK(to_string(two_way_cost{affine_cost(1, 30), {}, 50176}) == "two_way(affine(1, 30), bits, answer=50176)");
    CHECK(to_string(two_way_cost{{}, packet_cost(512, 64, 60), 0, 9}) ==
          "two_way(bits, packets(512, 64, 60), others=9)");
    CHECK(to_string(two_way_cost{{}, two_way_cost::free(), 5, 2}) == "two_way(bits, affine(0, 0), answer=5, others=2)");
    CHECK(to_string(two_way_cost{{}, message_cost{}}) == "two_way(bits, bits)");
    double const inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (double const bad : {-1., inf, nan}) {
        CHECK_THROWS_AS((two_way_cost{{}, {}, bad}), argument_error);
        CHECK_THROWS_AS((two_way_cost{{}, {}, 0, bad}), argument_error);
    }
    CHECK_THROWS_WITH_AS((two_way_cost{{}, {}, -8}), "two_way: answer = -8 is no finite number of at least 0",
                         argument_error);
}
