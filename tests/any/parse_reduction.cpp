// SPDX-License-Identifier: Apache-2.0
// Every reduction is read from its text, with defaults, and written back; mistakes are refused by name.
#include "laconic/any/parse_reduction.hpp"

#include "named_reductions.hpp"
#include "support/everything.hpp"

TEST_CASE("every reduction is read, with its defaults, and written back") {
    auto const read = [](std::string const& text) { return to_string(parse_reduction(text)); };
    CHECK(read("plain") == "plain(identity)");
    CHECK(read("plain( natural )") == "plain(natural)");
    CHECK(read("error_feedback(top_k(0.01) | quantize(4), decay=0.9)") ==
          "error_feedback(top_k(0.01) | quantize(4), decay=0.9)");
    CHECK(read("error_feedback(top_k(0.01), decay=1)") == "error_feedback(top_k(0.01))");
    CHECK(read("error_feedback(scaled_sign, over=ring)") == "error_feedback(scaled_sign, over=ring)");
    CHECK(read("error_feedback(top_k(0.01), over=gtop_k(0.01))") ==
          "error_feedback(top_k(0.01), over=" + to_string(parse_collective("gtop_k(0.01)")) + ")");
    CHECK(read("plain(quantize(4), over=robust(krum(2)))") == "plain(quantize(4), over=robust(krum(2)))");
    CHECK(read("shifted(rand_k(3))") == "shifted(rand_k(3))");
    CHECK(read("ef21_shift(top_k(3))") == "ef21_shift(top_k(3))");
    CHECK(read("majority_vote") == "majority_vote");
    CHECK(read("unproved(plain(top_k(3)))") == "unproved(plain(top_k(3)))");
    CHECK(read("loco(block_float(int4), block_float(int8))") == "loco(block_float(int4), block_float(int8))");
    CHECK(read("unproved(loco(store=bf16, compressor=top_k(3), reset=9, beta=0.5, over=ring))") ==
          "unproved(loco(top_k(3), bf16, beta=0.5, reset=9, over=ring))");
    CHECK(read("unproved(error_feedback(dct | top_k(8, chunk=4096) | vote, decay=0, momentum=0.999))") ==
          "unproved(error_feedback(dct | top_k(8, chunk=4096) | vote, decay=0, momentum=0.999))");
    for (auto const& r : list_reductions())
        CHECK(read(r.name + (r.name == "plain" || r.name == "majority_vote" ? ""
                             : r.name == "unproved"                         ? "(plain)"
                             : r.name == "loco"                             ? "(top_k(2), bf16)"
                                                                            : "(top_k(2))"))
                  .starts_with(r.name));
}

TEST_CASE("an error has its place and the valid names") {
    auto const has = [](std::string const& text, char const* part) {
        CHECK_THROWS_WITH_AS(parse_reduction(text), doctest::Contains(part), error);
    };
    has("error_feedbak(top_k(1))", "error_feedback");
    has("error_feedback", "error_feedback needs a compressor: error_feedback(compressor=...)");
    has("error_feedback(top_k(1), decay=2)", "column 32: decay is from 0 to 1");
    has("plain(top_j(1))", "top_k");
    has("plain(identity, over=rin)", "ring");
    has("plain(identity, over=rin)", "robust");
    has("plain(identity, over=robust(mean))", "mean_over_senders");
    has("plain | plain", "a reduction cannot be part of a pipe");
    has("plain(identity, momentum=3)", "'momentum' is none of them");
    has("loco(top_k(1))", "loco needs store: loco(store=...)");
    has("loco(top_k(1), bf16, beta=1.5)", "beta is from 0 to 1");
    has("unproved", "unproved needs a reduction");
}
