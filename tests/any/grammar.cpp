// SPDX-License-Identifier: Apache-2.0
// The grammar reads names, arguments and pipes, however long, and refuses the rest with the column of the mistake.
#include "laconic/any/grammar.hpp"

#include "support/everything.hpp"
#include "support/refused.hpp"

using grammar::read_pipe;

void refused(std::string const& text, std::size_t column, char const* why) {
    refuses(read_pipe, text, column, why, false);
}

std::string times(int n, std::string const& s) {
    std::string all;
    for (int i = 0; i < n; ++i) all += s;
    return all;
}

TEST_CASE("names, arguments, pipes, and where they stand") {
    auto const p = read_pipe(" ef ( top_k(k = 0.01) | natural, step=1e-3 ) | x");
    REQUIRE(p.size() == 2);
    CHECK((p[0].name == "ef" && p[0].position == 1));
    CHECK((p[1].name == "x" && p[1].position == 47 && p[1].items.empty()));
    REQUIRE(p[0].items.size() == 2);
    auto const& first = p[0].items[0];
    CHECK((first.name == "" && first.position == 6 && first.calls.size() == 2));
    CHECK((first.calls[0].name == "top_k" && first.calls[1].name == "natural"));
    auto const& k = first.calls[0].items.at(0);
    CHECK((k.name == "k" && k.word == "0.01" && k.position == 16));
    auto const& step = p[0].items[1];
    CHECK((step.name == "step" && step.word == "1e-3" && step.position == 38));
    CHECK(read_pipe("f()").at(0).items.empty());
    CHECK(read_pipe("a|b|c").size() == 3);
    CHECK(read_pipe("f(1/L)").at(0).items.at(0).word == "1/L");
}

TEST_CASE("what is no pipe, and where") {
    refused("", 1, "a name is expected here");
    refused("   ", 4, "a name is expected here");
    refused("(3)", 1, "a name is expected here");
    refused("|a", 1, "a name is expected here");
    refused("a|", 3, "a name is expected here");
    refused("a||b", 3, "a name is expected here");
    refused("a b", 3, "this is left over");
    refused("a)", 2, "this is left over");
    refused("a=3", 2, "this is left over");
    refused("a(3", 4, "',' or ')' is expected here");
    refused("a(3 4)", 5, "',' or ')' is expected here");
    refused("a(", 3, "a number or a name is expected here");
    refused("a(3,)", 5, "a number or a name is expected here");
    refused("a(,3)", 3, "a number or a name is expected here");
    refused("a(=3)", 3, "a number or a name is expected here");
    refused("a(k=)", 5, "a number or a name is expected here");
    refused("a(k==3)", 5, "a number or a name is expected here");
    refused("a(3|)", 5, "a name is expected here");
    refused("a(k=3=4)", 6, "',' or ')' is expected here");
}

TEST_CASE("deep and long texts are read or refused, never a crash") {
    CHECK(read_pipe(times(31, "a(") + "b(3)" + times(31, ")")).size() == 1);
    refused(times(33, "a(") + "3" + times(33, ")"), 67, "more than 32 parentheses deep");
    refused(times(1000000, "a("), 67, "more than 32 parentheses deep");
    CHECK(read_pipe(times(31, "a|") + "a").size() == 32);
    refused(times(32, "a|") + "a", 65, "more than 32 pieces");
    refused(times(500000, "a|") + "a", 65, "more than 32 pieces");
    CHECK(read_pipe(times(1000000, "a")).at(0).name.size() == 1000000);
    CHECK(read_pipe("a(" + times(100000, "1,") + "1)").at(0).items.size() == 100001);
    CHECK(read_pipe(std::string("a\0b", 3)).at(0).name == std::string("a\0b", 3));
    refused("\xff\xfe(", 4, "a number or a name is expected here");
}

TEST_CASE("numbers are whole words and finite") {
    double v = 7;
    for (auto const* bad : {"", "x", "1x", "0x10", "nan", "inf", "-inf", "1e400", "1 ", " 1", "+1", "1/2", "--1"}) {
        CAPTURE(bad);
        CHECK_FALSE(grammar::read_number(bad, v));
    }
    CHECK((grammar::read_number("-1.5e-3", v) && v == -1.5e-3));
    CHECK((grammar::read_number("0", v) && v == 0));
    CHECK((grammar::read_number("1e+05", v) && v == 100000));
}

TEST_CASE("lists") {
    CHECK(grammar::list({}) == "");
    CHECK(grammar::list({"a"}) == "a");
    CHECK(grammar::list({"a", "b"}) == "a or b");
    CHECK(grammar::list({"a", "b", "c"}) == "a, b or c");
}

TEST_CASE("what a name that is none was meant to be") {
    std::vector<std::string> const names{"gd", "sgd", "qsgd", "one_bit_sgd", "top_k", "about_top_k"};
    auto const meant = [&](std::string const& name) -> std::string {
        auto const text = grammar::no_such("method", name, names);
        CHECK(text.starts_with("there is no method '" + name + "'"));
        CHECK(text.ends_with("; there are gd, sgd, qsgd, one_bit_sgd, top_k or about_top_k"));
        auto const from = text.find("(did you mean ");
        return from == std::string::npos ? "" : text.substr(from + 14, text.find("?)") - from - 14);
    };
    CHECK(meant("top-k") == "top_k");
    CHECK(meant("TopK") == "top_k");
    CHECK(meant("top_kk") == "top_k");
    CHECK(meant("tpo_k") == "top_k");  // two letters in each other's place
    CHECK(meant("otp_k") == "top_k");
    CHECK(meant("txx_k") == "");  // two of five
    CHECK(meant("aboutopk") == "about_top_k");
    CHECK(meant("1-bit-sgd") == "one_bit_sgd");  // three of eleven
    CHECK(meant("1-bit-gd") == "");
    CHECK(meant("bsgd") == "sgd");  // as near as qsgd, and before it
    CHECK(meant("gdd") == "gd");
    for (char const* const far : {"3", "g", "adam", "foo", ""}) CHECK(meant(far) == "");
    CHECK(meant(std::string(1000000, 'a')) == "");  // and at once
    CHECK(grammar::no_such("thing", "a", {}) == "there is no thing 'a'; there are ");
}

TEST_CASE("arguments are taken by name, then by position, and none is left over") {
    std::string const text = "f(1, b=2, 3)";
    auto const p = read_pipe(text);
    grammar::arguments a(text, p[0]);
    CHECK(a.needed("b").word == "2");
    CHECK(a.needed("a").word == "1");
    CHECK(a.find("z", false) == nullptr);
    CHECK(!a.all_taken());
    CHECK_THROWS_WITH_AS(a.finish(), "'f(1, b=2, 3)', column 11: f takes b, a or z; this is none of them", parse_error);
    CHECK(a.needed("c").word == "3");
    CHECK(a.all_taken());
    CHECK_NOTHROW(a.finish());
    CHECK(a.find("d") == nullptr);
    CHECK_THROWS_WITH_AS(a.needed("d"), "'f(1, b=2, 3)', column 1: f needs d: f(d=...)", parse_error);
    CHECK_THROWS_WITH_AS(a.needed("d", true, "a "), "'f(1, b=2, 3)', column 1: f needs a d: f(d=...)", parse_error);

    std::string const words = "f(x, y(3), 3|4)";
    auto const q = read_pipe(words);
    grammar::arguments b(words, q[0]);
    CHECK(b.is_word(b.needed("a")));
    CHECK(!b.is_word(b.needed("b")));
    CHECK(!b.is_word(b.needed("c")));
    CHECK(b.find("d") == nullptr);
    std::string const bare = "f(1)";
    auto const r = read_pipe(bare);
    CHECK_THROWS_WITH_AS(grammar::arguments(bare, r[0]).finish(), "'f(1)', column 3: f takes no arguments",
                         parse_error);
}
