// SPDX-License-Identifier: Apache-2.0
// Every compressor is read from its text and written back, and each mistake is refused with its column and names.
#include "laconic/any/parse.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"
#include "support/laws/pipelines.hpp"
#include "support/refused.hpp"

TEST_CASE_TEMPLATE("every pipeline is read and written back", T, float, double) {
    for (auto const& text : laws::pipelines()) CHECK(to_string(parse_compressor<T>(text)) == text);
    for (auto const& text : laws::in_parts()) CHECK(to_string(parse_compressor<T>(text)) == text);
}

TEST_CASE("the list has every compressor, with the defaults of its members") {
    std::string all;
    for (auto const& l : list_compressors()) {
        CHECK_FALSE(l.about.empty());
        all += l.name + l.parameters + "\n";
    }
    for (char const* const line :
         {"quantize(levels=1, bucket=0, p=2, damped=yes)\n", "top_k(k, chunk=0)\n",
          "uniform(bits=8, bucket=0, rounding=nearest)\n", "low_rank(rows=1, rank=1, warm_start=no)\n"})
        CHECK(all.find(line) != std::string::npos);
}

TEST_CASE("a grid of texts reads back") {
    std::vector<std::string> const sparsifiers{"",
                                               "dense | ",
                                               "top_k(1) | ",
                                               "top_k(0.01) | ",
                                               "top_k(1e+05) | ",
                                               "rand_k(0.1) | ",
                                               "threshold(0) | ",
                                               "threshold(1e-300) | ",
                                               "top_k(0.5) | rand_k(0.3333333333333333) | "};
    for (auto const& s : sparsifiers)
        for (std::string const q : {"identity", "natural", "quantize(1)", "quantize(32767, bucket=512)",
                                    "quantize(2, p=inf)", "quantize(3, bucket=7, p=1)"})
            CHECK(to_string(parse_compressor(s + q)) == s + q);
}

TEST_CASE("blanks, names and defaults are free") {
    auto const same = [](char const* text, auto const& c) { CHECK(to_string(parse_compressor(text)) == to_string(c)); };
    same("quantize", quantize{});
    same("quantize()", quantize{});
    same("quantize(levels=4)", quantize{4});
    same("quantize(bucket=16, levels=4)", quantize{4, 16});
    same("quantize(bucket=16, 4)", quantize{4, 16});
    same("quantize(4, 16)", quantize{4, 16});
    same("quantize(4,p=1)", quantize{4, 0, p_norm::one});
    same("quantize(p = 2)", quantize{1});
    same("\ttop_k ( k = 3 )\n|natural ", top_k{3} | natural{});
    same("threshold(bound=0.5)|quantize(2)", threshold{0.5} | quantize{2});
    same("rand_k(100)", rand_k{100});
    same("clip(factor=0.5, limit=2)", clip{2, .5});
    same("low_rank", low_rank{1, 1});
    same("low_rank(28, 4)", low_rank{28, 4});
    same("low_rank(rank=4, rows=28)", low_rank{28, 4});
    same("low_rank(rank=2, warm_start=yes)", low_rank<>{.rank = 2, .warm_start = true});
    same("natural_dithering", natural_dithering{});
    same("natural_dithering(p=inf, bucket=16, levels=4)", natural_dithering{4, 16, p_norm::largest});
    same("uniform", uniform{});
    same("uniform(rounding=random, 4, 16)", uniform{4, 16});
    same("uniform(bucket=16,rounding = nearest)", uniform<rounding::nearest>{8, 16});
    same("two_means(16)", two_means{16});
    same("block_float(mxfp4)", block_float{});
    same("block_float(int8, 128, rounding=random)", block_float{block_format::int8, 128, rounding::random});
    same("parts", parts<identity>{});
    same("parts( 2,scaled_sign(),1e2, identity)", parts<any_compressor<>>{{2, scaled_sign{}}, {100, identity{}}});
}

TEST_CASE("what is wrong, where, and what there is instead") {
    std::vector<std::string> listed;
    for (auto const& l : list_compressors())
        if (listed.empty() || listed.back() != l.name) listed.push_back(l.name);
    auto const names = grammar::list(listed);
    refused("top_q(3)", 1, "there is no compressor 'top_q' (did you mean top_k?); there are " + names);
    refused("top_k(3) | naturel", 12, "there is no compressor 'naturel' (did you mean natural?); there are " + names);
    refused("3", 1, "there is no compressor '3'; there are " + names);
    refused("natural | top_k(3)", 11, "'natural' is a quantizer, which leaves nothing to what follows it");
    refused("identity|identity", 10, "'identity' is a quantizer, which leaves nothing to what follows it");
    refused("top_k(1) | quantize(2) | natural", 26,
            "'quantize' is a quantizer, which leaves nothing to what follows it");
    refused("top_k", 1, "top_k needs k: top_k(k=...)");
    refused("dense | rand_k()", 9, "rand_k needs k: rand_k(k=...)");
    refused("threshold", 1, "threshold needs bound: threshold(bound=...)");
    refused("threshold(-1)", 11, "bound is at least 0");
    refused("dense | bernoulli(1.5)", 19, "p is from 2.3283064365386963e-10 to 1");
    refused("about_top_k(3, band=1)", 21, "band is from 0 to 0.9999999999999999");
    refused("quantize(4, damped=maybe)", 20, "damped is yes or no");
    refused("dense | quantize(bucket=16, levels=1.5)", 36, "levels is a whole number from 1 to 32767");
    refused("scaled_down", 1, "scaled_down needs a compressor: scaled_down(compressor=...)");
    refused("top_k(x)", 7, "k is a number");
    refused("top_k(k=nan)", 9, "k is a number");
    refused("top_k(natural)", 7, "k is a number");
    refused("top_k(3 | natural)", 7, "k is a number");
    refused("top_k(3())", 7, "k is a number");
    refused("top_k(3, 4, 5)", 13, "top_k takes k or chunk; this is none of them");
    refused("quantize(level=4)", 16, "quantize takes levels, bucket, p or damped; 'level' is none of them");
    refused("quantize(4, 16, inf)", 17, "quantize takes levels, bucket, p or damped; this is none of them");
    refused("vote(9)", 6, "vote takes no arguments");
    refused("natural(9)", 9, "natural takes no arguments");
    refused("dense(3)", 7, "dense takes no arguments");
    refused("quantize(p=3)", 12, "p is 1, 2 or inf");
    refused("quantize(4, p=inf | natural)", 15, "p is 1, 2 or inf");
    refused("quantize(p=inf(3))", 12, "p is 1, 2 or inf");
    refused("uniform(8, 16, nearest)", 16, "uniform takes bits, bucket or rounding; this is none of them");
    refused("uniform(rounding=down)", 18, "rounding is random or nearest");
    refused("uniform(rounding=nearest(1))", 18, "rounding is random or nearest");
    refused("natural_dithering(p=3)", 21, "p is 1, 2 or inf");
    refused("fp16(16)", 6, "fp16 takes random; this is none of them");
    refused("vote | fp16", 8, "'vote' is a quantizer, which leaves nothing to what follows it");
    refused("two_means | fp16", 13, "'two_means' is a quantizer, which leaves nothing to what follows it");
    refused("parts(3)", 1, "parts needs a compressor: parts(compressor=...)");
    refused("parts(identity, 3)", 7, "length is a whole number from 0 to 4294967296");
    refused("parts(3, identity, 4, foo)", 23, "there is no compressor 'foo'; there are " + names);
    refused("parts(3, identity, 2, 4)", 23, "there is no compressor '4'; there are " + names);
    refused("parts(3, identity) | identity", 22, "'parts' is a quantizer, which leaves nothing to what follows it");
    refused("top_k(3", 8, "',' or ')' is expected here");
    refused("", 1, "a name is expected here");
    for (char const* text :
         {"quantize(levels=1.5)", "quantize(-1)", "quantize(32768)", "quantize(bucket=1e16)", "natural_dithering(1001)",
          "natural_dithering(0)", "uniform(9)", "uniform(bits=0)", "two_means(0.5)"}) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(parse_compressor(text), doctest::Contains("is a whole number from"), parse_error);
    }
}

TEST_CASE("what depends on the dimension is left to check") {
    for (auto const* text : {"top_k(100)", "top_k(1.5)", "top_k(-1)", "rand_k(0)", "top_k(3) | top_k(4)"})
        CHECK_THROWS_AS(parse_compressor(text).check(10), argument_error);
}

TEST_CASE("texts from nowhere are read or refused: 20000 of them") {
    std::vector<std::string> const tokens{"top_k",  "rand_k", "natural",  "quantize", "dense",    "identity", "(",
                                          ")",      "(",      ")",        "|",        "|",        ",",        "=",
                                          "levels", "p",      "k",        "3",        "0.5",      "inf",      "1e9",
                                          " ",      "-1",     "\xc3\xa9", "bound",    "threshold"};
    std::size_t read = 0, refused_in_all = 0;
    for (std::uint64_t t = 0; t < 20000; ++t) {
        key const k = key{7}.child(t);
        std::string text;
        for (std::uint64_t i = 0, n = k.below(0, 12); i < n; ++i) text += tokens[k.below(1 + i, tokens.size())];
        try {
            auto const c = parse_compressor(text);
            ++read;
            if (to_string(parse_compressor(to_string(c))) != to_string(c)) FAIL_CHECK(text << " does not read back");
        } catch (parse_error const& e) {
            ++refused_in_all;
            if (e.column < 1 || e.column > text.size() + 1) FAIL_CHECK(text << ": column " << e.column);
        }
    }
    CHECK(read > 100);
    CHECK(refused_in_all > 10000);
}
