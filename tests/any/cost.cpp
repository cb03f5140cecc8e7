// SPDX-License-Identifier: Apache-2.0
// Costs are read by position and by name, read back as equal, and each mistake is refused with its column.
#include "laconic/any/cost.hpp"

#include "support/everything.hpp"
#include "support/refused.hpp"

void refused(std::string const& text, std::size_t column, std::string const& why) {
    refuses(parse_cost, text, column, why);
}

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
    CHECK(parse_cost("lossy(affine(1, 64), 0.005)") == lossy_cost(affine_cost(1, 64), .005));
    CHECK(parse_cost("lossy(loss=0.5, once=bits)") == lossy_cost({}, .5));
    CHECK(parse_cost("lossy(bits, 0)") == message_cost{});
}

TEST_CASE("a cost for each way is read, with names and without") {
    two_way_cost const served{affine_cost(1, 30), message_cost{}, 50176};
    CHECK(parse_cost("two_way(up=affine(1, 30), down=bits, answer=50176)") == served);
    CHECK(parse_cost("two_way(affine(1, 30), bits, 50176)") == served);
    CHECK(parse_cost("two_way(answer=50176, affine(per_message=30, per_bit=1), bits)") == served);
    two_way_cost const gathered{packet_cost(512, 64, 60), energy_cost(1, 2, 3, 4), 0, 9};
    CHECK(parse_cost("two_way(packets(512, 64, 60), energy(1, 2, 3, 4), others=9)") == gathered);
    CHECK(parse_cost("two_way(bits, bits)") == two_way_cost{{}, message_cost{}});
}

TEST_CASE("what a cost is written as reads back as the same") {
    for (auto const& c : {message_cost{}, affine_cost(2, 64), affine_cost(0, 1), affine_cost(1, 0), affine_cost(1, 3),
                          packet_cost(512, 64, 60), packet_cost(1460, 0, 0), packet_cost(512, .1, 60),
                          packet_cost(1.5, 0x1p53, 0), energy_cost(1e-6, 1e-3, 100, .5), energy_cost(0, 700, 512, 60),
                          energy_cost(0, 2, 512, 60), energy_cost(0, 0, 1, 0), air_time_cost(250e3, .01, 125, .2),
                          lossy_cost(packet_cost(512, 64, 60), .01), lossy_cost({}, .25)}) {
        CAPTURE(to_string(c));
        CHECK(parse_cost(to_string(c)) == c);
        for (auto const& both : {two_way_cost{c, packet_cost(100, 10, 1), 5e4}, {c, c, 0, 9}, {c, c}, {c, {}, .5, 1e9}})
            CHECK(parse_cost(to_string(both)) == both);
    }
}

TEST_CASE("the list has every cost, with its parameters") {
    std::string names;
    for (auto const& c : list_costs()) names += c.name + c.parameters + " ";
    CHECK(names ==
          "bits affine(per_bit, per_message) packets(payload, header, fixed) energy(per_bit, per_packet, payload, "
          "to_wake) air_time(rate, preamble, payload, wait) lossy(once, loss) two_way(up, down, answer=0, others=0) ");
}

TEST_CASE("what is no cost: the place, and what there is instead") {
    refused(
        "packet(1, 2, 3)", 1,
        "there is no cost 'packet' (did you mean packets?); there are bits, affine, packets, energy, air_time, lossy "
        "or two_way");
    refused("3", 1, "there is no cost '3'; there are bits, affine, packets, energy, air_time, lossy or two_way");
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
    refused("bits | bits", 8, "a cost cannot be part of a pipe");
    refused("", 1, "a name is expected here");
    std::string const one_way = "; there are bits, affine, packets, energy, air_time or lossy";
    refused("lossy(0.5)", 7, "there is no cost of one way '0.5'" + one_way);
    refused("lossy", 1, "lossy needs once: lossy(once=...)");
    refused("lossy(bits)", 1, "lossy needs loss: lossy(loss=...)");
    refused("lossy(two_way(bits, bits), 0.5)", 7, "there is no cost of one way 'two_way'" + one_way);
    refused("lossy(bits, 1)", 1, "a loss of 1: it is in [0, 1)");
    refused("lossy(bits, -0.5)", 1, "a loss of -0.5: it is in [0, 1)");
    refused("lossy(lossy(bits, 0.5), 0.5)", 1, "a loss of lossy(bits, 0.5): it has one already");
    refused("two_ways(bits, bits)", 1,
            "there is no cost 'two_ways' (did you mean two_way?); there are bits, affine, packets, energy, air_time, "
            "lossy or two_way");
    refused("two_way", 1, "two_way needs up: two_way(up=...)");
    refused("two_way(bits)", 1, "two_way needs down: two_way(down=...)");
    refused("two_way(up=bits, answer=3)", 1, "two_way needs down: two_way(down=...)");
    refused("two_way(two_way(bits, bits), bits)", 9, "there is no cost of one way 'two_way'" + one_way);
    refused("two_way(bits, 3)", 15, "there is no cost of one way '3'" + one_way);
    refused("two_way(bits, affine(1))", 15, "affine needs per_message: affine(per_message=...)");
    refused("two_way(bits, bits | bits)", 22, "a cost of one way cannot be part of a pipe");
    refused("two_way(bits, bits, many)", 21, "answer is a number");
    refused("two_way(bits, bits, 1, 2, 3)", 27, "two_way takes up, down, answer or others; this is none of them");
}

TEST_CASE("prices that cannot be") {
    refused("affine(-1, 0)", 8, "per_bit is at least 0");
    refused("affine(1, -0.5)", 11, "per_message is at least 0");
    refused("packets(0, 64, 60)", 9, "payload is at least 1");
    refused("packets(512, -1, 60)", 14, "header is at least 0");
    refused("energy(1, 2, 0.5, 4)", 14, "payload is at least 1");
    refused("air_time(0, 1, 1, 1)", 10, "rate is at least 1e-300");
    refused("air_time(1e-320, 1, 1, 1)", 10, "rate is at least 1e-300");
    refused("two_way(bits, bits, answer=-1)", 28, "answer is at least 0");
    refused("two_way(bits, bits, others=-1)", 28, "others is at least 0");
    refused("two_way(bits, affine(-1, 0))", 22, "per_bit is at least 0");
}

TEST_CASE("the dearer what comes back, the more is sent at a time: the levels for (4, 3, 2, 1), by hand") {
    // k of the four take 34 k bits and keep 16, 25, 29 or 30 of 30. With an answer that costs A beside them, k + 1 is
    // worth more than k from A > 238 / 9, then from A > 578 / 4, then from A > 884; at 884 they are worth as much.
    std::vector<float> const g{4, 3, 2, 1};
    auto const level = [&](std::string const& text) {
        best_level const c{top_k{1}, parse_cost(text)};
        host on;
        decltype(c)::memory_for<float> work;
        return c.level_for(on, std::span<float const>(g), work);
    };
    CHECK(level("bits") == 1);
    struct {
        int answer;
        std::size_t level;
    } const known[] = {{0, 1}, {26, 1}, {27, 2}, {144, 2}, {145, 3}, {884, 3}, {885, 4}};
    for (auto const& k : known) {
        CAPTURE(k.answer);
        CHECK(level("two_way(bits, bits, answer=" + std::to_string(k.answer) + ")") == k.level);
        CHECK(level("two_way(bits, affine(0.25, 0), answer=" + std::to_string(4 * k.answer) + ")") == k.level);
        // (1 + n) 34 k + n fee, with n = 3 others: as if A were 3/4 of the fee for each.
        CHECK(level("two_way(bits, affine(1, " + std::to_string(4 * k.answer) + "), others=3)") ==
              level("two_way(bits, bits, answer=" + std::to_string(3 * k.answer) + ")"));
    }
    CHECK(level("two_way(bits, bits, others=1000)") == 1);
    CHECK(level("two_way(bits, affine(1, 194), others=3)") == 3);  // A = 145.5
    CHECK(level("two_way(bits, affine(1, 192), others=3)") == 2);  // A = 144
}
