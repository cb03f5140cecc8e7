// SPDX-License-Identifier: Apache-2.0
// One include reads compressors, costs, collectives, reductions and methods from their texts.
#include "laconic/parse.hpp"

#include "named_methods.hpp"
#include "named_reductions.hpp"
#include "support/everything.hpp"

TEST_CASE("each kind of value is read from its text") {
    CHECK(to_string(parse_compressor("rand_k(0.5) | natural")) == "rand_k(0.5) | natural");
    CHECK(to_string(parse_cost("packets(20, 4, 1)")) == "packets(20, 4, 1)");
    CHECK(to_string(parse_collective("gtop_k(0.01)")) == "gtop_k(0.01)");
    CHECK(to_string(parse_reduction("error_feedback(top_k(0.01))")) == "error_feedback(top_k(0.01))");
    CHECK(to_string(parse_method("diana(natural)")) == "diana(natural)");
}
