// SPDX-License-Identifier: Apache-2.0
// The text of best_level names a family, a cost and sizes; it reads back, and each mistake has its column.
#include "laconic/any/best_level.hpp"

#include "named.hpp"
#include "support/everything.hpp"
#include "support/laws/messages.hpp"
#include "support/refused.hpp"

TEST_CASE("the families, without their levels, and the cost") {
    auto const same = [](char const* text, auto const& c) { CHECK(to_string(parse_compressor(text)) == to_string(c)); };
    same("best_level(top_k)", best_level{top_k{1}});
    same("best_level(top_k())", best_level{top_k{1}});
    same("best_level(top_k, cost=bits)", best_level{top_k{1}});
    same("best_level(cost=affine(1, 640), compressor=top_k)", best_level{top_k{1}, affine_cost(1, 640)});
    same("best_level( top_k|scaled_sign , cost = packets(512,64,60) )",
         best_level{top_k{1} | scaled_sign{}, packet_cost(512, 64, 60)});
    same("best_level(top_k | scaled_sign(bucket=16))", best_level{top_k{1} | scaled_sign{16}});
    same("best_level(top_blocks)", best_level{top_blocks{1, 256}});
    same("best_level(top_blocks(block=64), cost=energy(1, 2, 3, 4))",
         best_level{top_blocks{1, 64}, energy_cost(1, 2, 3, 4)});
    same("best_level(top_k, sort_up_to=0)", best_level{top_k{1}, message_cost{}, formula_sizes{}, 0});
    same("best_level(top_k, sizes=written)", best_level{top_k{1}, message_cost{}, message_sizes{}});
    same("best_level(top_k, sizes=formula)", best_level{top_k{1}});
    same("best_level(sizes=written, sort_up_to=9, top_k, cost=affine(1, 2))",
         best_level{top_k{1}, affine_cost(1, 2), message_sizes{}, 9});
    same("best_level(top_k, sort_up_to=65536)", best_level{top_k{1}});
    CHECK(to_string(best_level{top_k{1}, affine_cost(1, 2), formula_sizes{}, 7}) ==
          "best_level(top_k, cost=affine(1, 2), sort_up_to=7)");
    same("best_level(top_k, top_k | scaled_sign)", best_level{one_of{top_k{1}, top_k{1} | scaled_sign{}}});
    same("best_level(cost=affine(1, 2), or=top_k | scaled_sign(bucket=8), top_k)",
         best_level{one_of{top_k{1}, top_k{1} | scaled_sign{8}}, affine_cost(1, 2)});
    same("best_level(quantize)", best_level{damped_quantize{}});
    same("best_level(quantize(bucket=16, p=inf))", best_level{damped_quantize{1, 16, p_norm::largest}});
    same("best_level(quantize(p=1))", best_level{damped_quantize{7, 0, p_norm::one}});
    CHECK(to_string(parse_compressor("threshold(0.25) | best_level(top_k)")) == "threshold(0.25) | best_level(top_k)");
}

TEST_CASE("a text is read back, and sends the same bytes") {
    std::vector<double> const x{3, -4, 0, 1, 2, 0.5};
    auto const encoded = [&](auto const& c) { return laws::written(compress(c, x, key{1})); };
    auto const both = [&](auto const& c) {
        auto const read = parse_compressor(to_string(c));
        CHECK(to_string(read) == to_string(c));
        CHECK(encoded(read) == encoded(c));
    };
    both(best_level{top_k{1}, affine_cost(1, 64)});
    both(best_level{top_k{1} | scaled_sign{4}, packet_cost(20, 4, 1)});
    both(best_level{top_blocks{1, 2}, energy_cost(0, 2, 20, 1)});
    both(best_level{top_k{1} | scaled_sign{}, affine_cost(1, 30), message_sizes{}});
    // Two of six take 2 x (3 + 64) bits, which are 17 bytes, and the level 3 more.
    CHECK(encoded(parse_compressor("best_level(top_k, cost=packets(17, 2, 0))")).size() == 18);
    CHECK(encoded(parse_compressor("best_level(top_k, cost=packets(17, 2, 0), sizes=written)")).size() == 10);
    both(best_level{proportional<identity, true>{}, affine_cost(1, 100), formula_sizes{}, 0});
    both(best_level{one_of{top_k{1}, top_k{1} | scaled_sign{}}, affine_cost(1, 100)});
    CHECK(encoded(parse_compressor("best_level(top_k)")) !=
          encoded(parse_compressor("best_level(top_k, cost=affine(0, 1))")));
}

TEST_CASE("what a level can be chosen for, and where it stands that it cannot") {
    std::string const families =
        "a level can be chosen for top_k, top_k | scaled_sign, top_blocks(block=...), proportional and quantize, which "
        "are "
        "written without their own";
    refused("best_level", 1, "best_level needs a compressor: best_level(compressor=...)");
    refused("dense | best_level()", 9, "best_level needs a compressor: best_level(compressor=...)");
    refused("best_level(natural)", 12, families);
    refused("best_level(cost=bits, rand_k)", 23, families);
    refused("best_level(top_k | natural)", 12, families);
    refused("best_level(top_k | scaled_sign | identity)", 12, families);
    refused("best_level(top_blocks | scaled_sign)", 12, families);
    refused("best_level(top_k(3))", 18, "top_k takes no arguments");
    refused("best_level(top_k | scaled_sign(k=3))", 34, "scaled_sign takes bucket; 'k' is none of them");
    refused("best_level(top_k(3) | scaled_sign)", 18, "top_k takes no arguments");
    refused("best_level(quantize(8))", 21, "quantize takes bucket or p; this is none of them");
    refused("best_level(quantize(levels=8))", 28, "quantize takes bucket or p; 'levels' is none of them");
    refused("best_level(quantize(p=3))", 23, "p is 1, 2 or inf");
    refused("best_level(quantize | identity)", 12, families);
    refused("best_level(top_blocks(block=0))", 29, "block is a whole number from 1 to 4294967295");
    refused("best_level(top_blocks(4, 3))", 26, "top_blocks takes block; this is none of them");
    std::string const pair = "only top_k goes with another, top_k | scaled_sign; in C++ one_of takes any two";
    for (char const* const other : {"3", "top_k", "top_k | natural", "scaled_sign", "proportional"})
        refused(std::string("best_level(top_k, ") + other + ")", 19, pair);
    refused("best_level(top_k | scaled_sign, top_k)", 33, pair);
    refused("best_level(top_k, or=top_k(3) | scaled_sign)", 28, "top_k takes no arguments");
    refused("best_level(top_k(3), top_k | scaled_sign)", 18, "top_k takes no arguments");
    refused("best_level(top_k, top_k | scaled_sign(3, 4))", 42, "scaled_sign takes bucket; this is none of them");
    refused("best_level(top_k, top_k | scaled_sign, top_k)", 40,
            "best_level takes compressor, or, cost, sizes or sort_up_to; this is none of them");
    refused("best_level(top_k, step=3)", 24,
            "best_level takes compressor, or, cost, sizes or sort_up_to; 'step' is none of them");
    refused("best_level(top_k, sizes=4)", 25, "sizes is formula or written");
    for (char const* const bad : {"-1", "0.5", "1e30", "x"})
        refused(std::string("best_level(top_k, sort_up_to=") + bad + ")", 30,
                "sort_up_to is a whole number from 0 to " + detail::shortest(0x1p53));
    refused("best_level(top_k) | identity", 21, "'best_level' is a quantizer, which leaves nothing to what follows it");
}

TEST_CASE("the cost is refused at its own place") {
    refused("best_level(top_k, cost=3)", 24,
            "there is no cost '3'; there are bits, affine, packets, energy, air_time, lossy or two_way");
    refused("best_level(top_k, cost=affin(1, 2))", 24,
            "there is no cost 'affin' (did you mean affine?); there are bits, affine, packets, energy, air_time, lossy "
            "or two_way");
    refused("best_level(top_k, cost=packets(512, 64))", 24, "packets needs fixed: packets(fixed=...)");
    refused("best_level(top_k, cost=affine(1, -2))", 34, "per_message is at least 0");
    refused("best_level(top_k, cost=affine(1, x))", 34, "per_message is a number");
    refused("best_level(top_k, cost=bits | bits)", 31, "a cost cannot be part of a pipe");
}
