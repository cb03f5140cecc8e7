// SPDX-License-Identifier: Apache-2.0
#include "laconic/any/cost.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace laconic;

namespace {

void refused(std::string const& text, std::size_t column, std::string const& why) {
    CAPTURE(text);
    try {
        auto const c = parse_cost(text);
        FAIL_CHECK("was read as " << to_string(c));
    } catch (spelling_error const& e) {
        CHECK(std::string(e.what()) == "'" + text + "', column " + std::to_string(column) + ": " + why);
        CHECK(e.column == column);
    }
}

}  // namespace

TEST_CASE("every cost is read, with names and without") {
    CHECK(parse_cost("bits") == message_cost{});
    CHECK(parse_cost("affine(2, 64)") == affine_cost(2, 64));
    CHECK(parse_cost("affine(per_message=64, per_bit=2)") == affine_cost(2, 64));
    CHECK(parse_cost("packets(512, 64, 60)") == packet_cost(512, 64, 60));
    CHECK(parse_cost(" packets ( fixed = 60 , 512 , 64 ) ") == packet_cost(512, 64, 60));
    CHECK(parse_cost("energy(1e-6, 0.001, 100, 0.5)") == energy_cost(1e-6, 1e-3, 100, .5));
    CHECK(parse_cost("energy(to_wake=0.5, per_bit=1e-6, per_packet=0.001, payload=100)") ==
          energy_cost(1e-6, 1e-3, 100, .5));
    CHECK(parse_cost("air_time(250000, 0.01, 125, 0.2)") == air_time_cost(250e3, .01, 125, .2));
    CHECK(parse_cost("air_time(rate=250000, preamble=0.01, payload=125, wait=0.2)") ==
          air_time_cost(250e3, .01, 125, .2));
}

TEST_CASE("what a cost is written as reads back as the same") {
    for (auto const& c : {message_cost{}, affine_cost(2, 64), affine_cost(0, 1), affine_cost(1, 0), affine_cost(1, 3),
                          packet_cost(512, 64, 60), packet_cost(1460, 0, 0), packet_cost(512, .1, 60),
                          packet_cost(1.5, 0x1p53, 0), energy_cost(1e-6, 1e-3, 100, .5), energy_cost(0, 700, 512, 60),
                          energy_cost(0, 2, 512, 60), energy_cost(0, 0, 1, 0), air_time_cost(250e3, .01, 125, .2)}) {
        CAPTURE(to_string(c));
        CHECK(parse_cost(to_string(c)) == c);
    }
}

TEST_CASE("what is no cost: the place, and what there is instead") {
    refused("packet(1, 2, 3)", 1,
            "there is no cost 'packet' (did you mean packets?); there are bits, affine, packets, energy or air_time");
    refused("3", 1, "there is no cost '3'; there are bits, affine, packets, energy or air_time");
    refused("bits(3)", 6, "bits takes no arguments");
    refused(" affine(2)", 2, "affine needs per_message: affine(per_message=...)");
    refused("packets", 1, "packets needs payload: packets(payload=...)");
    refused("packets(512, 64)", 1, "packets needs fixed: packets(fixed=...)");
    refused("energy(1, 2, 3)", 1, "energy needs to_wake: energy(to_wake=...)");
    refused("air_time(1, payload=2, preamble=3)", 1, "air_time needs wait: air_time(wait=...)");
    refused("affine(2, much)", 11, "per_message is a number");
    refused("affine(2, inf)", 11, "per_message is a number");
    refused("affine(2, bits())", 11, "per_message is a number");
    refused("affine(2, 3, 4)", 14, "affine takes per_bit or per_message; this is none of them");
    refused("packets(512, 64, per_bit=60)", 1, "packets needs fixed: packets(fixed=...)");
    refused("bits | bits", 8, "a cost is no piece of a pipe");
    refused("", 1, "a name is expected here");
}

TEST_CASE("prices that cannot be") {
    refused("affine(-1, 0)", 1, "a cost per bit of -1: it is a finite number of at least 0");
    refused("affine(1, -0.5)", 1, "a cost per message of -0.5: it is a finite number of at least 0");
    refused("packets(0, 64, 60)", 1, "a packet of 0 bytes: it takes at least 1");
    refused("packets(512, -1, 60)", 1, "a cost per packet of -1: it is a finite number of at least 0");
    refused("energy(1, 2, 0.5, 4)", 1, "a packet of 0.5 bytes: it takes at least 1");
    refused("air_time(0, 1, 1, 1)", 1, "an air time at 0 bits a second: it takes more than 0");
    refused("air_time(1e-320, 1, 1, 1)", 1, "a cost per bit of inf: it is a finite number of at least 0");
}
