// SPDX-License-Identifier: Apache-2.0
#include "laconic/core/cost.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace laconic;

namespace {

// A cost of one's own: to send at all, and to keep the line open.
struct by_the_minute {
    double operator()(double bits) const { return 1 + std::floor(bits / 1e6); }
    bool operator==(by_the_minute const&) const = default;
    friend std::string to_string(by_the_minute) { return "by_the_minute"; }
};
static_assert(CommunicationCost<by_the_minute>);

}  // namespace

TEST_CASE("a cost of one's own") {
    CHECK(by_the_minute{}(2.5e6) == 3);
    CHECK(by_the_minute{} == by_the_minute{});
    CHECK(to_string(by_the_minute{}) == "by_the_minute");
}

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
    CHECK_THROWS_AS(air_time_cost(0, 1, 1, 1), argument_error);
}
