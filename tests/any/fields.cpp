// SPDX-License-Identifier: Apache-2.0
// Values are read from texts by their descriptions: by position or by name, within their ranges, with their defaults.
#include "laconic/any/fields.hpp"

#include "support/everything.hpp"

enum class mode { slow, quick };
constexpr std::array<std::string_view, 2> words_of(mode) { return {"slow", "quick"}; }

struct machine {
    portion k = 0.25;
    std::size_t count = 3;
    mode how = mode::slow;
    bool loud = false;
    double share = 0.5;
    std::optional<double> rate{};

    static constexpr void description(auto&& describe) {
        describe("machine", "", "", field("k", &machine::k).needed(), field("count", &machine::count).between(1, 9),
                 field("how", &machine::how), field("loud", &machine::loud),
                 field("share", &machine::share).between(0, 1).by_name(), field("rate", &machine::rate).by_name());
    }
    bool operator==(machine const&) const = default;
};

machine read(std::string const& text) {
    auto const calls = grammar::read_pipe(text);
    grammar::arguments a(text, calls[0]);
    auto const m = grammar::read_fields<machine>(a);
    a.finish();
    return m;
}
std::string refused(std::string const& text) {
    try {
        read(text);
    } catch (parse_error const& e) {
        std::string const what = e.what();
        return what.substr(what.find(": ") + 2) + " at " + std::to_string(e.column);
    }
    return "";
}

TEST_CASE("fields come by position or by name, and to_string writes what is read") {
    CHECK(read("machine(0.5)") == machine{0.5});
    CHECK(read("machine(7, 2, quick)") == machine{7, 2, mode::quick});
    CHECK(read("machine(how=quick, share=1, 7, loud=yes)") == machine{7, 3, mode::quick, true, 1});
    CHECK(read("machine(7, rate=3)") == machine{7, 3, mode::slow, false, 0.5, 3});
    for (auto const& m : {machine{1}, machine{0.5, 9}, machine{3, 3, mode::quick, true, 0, 2}})
        CHECK(read(to_string(m)) == m);
}

TEST_CASE("what is no value of a field is refused, with its place") {
    CHECK(refused("machine") == "machine needs k: machine(k=...) at 1");
    CHECK(refused("machine(x)") == "k is a number at 9");
    CHECK(refused("machine(k=y(3))") == "k is a number at 11");
    CHECK(refused("machine(3|4)") == "k is a number at 9");
    CHECK(refused("machine(1, rate=inf)") == "rate is a number at 17");
    CHECK(refused("machine(1, 10)") == "count is a whole number from 1 to 9 at 12");
    CHECK(refused("machine(1, 0)") == "count is a whole number from 1 to 9 at 12");
    CHECK(refused("machine(1, how=fast)") == "how is slow or quick at 16");
    CHECK(refused("machine(1, loud=2)") == "loud is yes or no at 17");
    CHECK(refused("machine(1, share=1.5)") == "share is from 0 to 1 at 18");
    CHECK(refused("machine(1, 2, slow, 0.5)") ==
          "machine takes k, count, how, loud, share or rate; this is none of them at 21");
}

struct machine_inside {
    machine inner{};
    static constexpr void description(auto&& describe) {
        describe("both", "", "", field("inner", &machine_inside::inner).needed(), detail::decided_field<false>("fast"));
    }
};
struct machines {
    std::vector<machine> all{};
    static constexpr void description(auto&& describe) {
        describe("all", "", "", field("all", &machines::all).needed());
    }
};

TEST_CASE("a described value may hold another") {
    std::string const text = "both(machine(2, loud=yes))";
    auto const calls = grammar::read_pipe(text);
    grammar::arguments a(text, calls[0]);
    CHECK(grammar::read_fields<machine_inside>(a).inner == machine{.k = 2, .loud = true});
    for (auto const& [wrong, why] : {std::pair{"both(machine(2, loud=3))", "column 22: loud is yes or no"},
                                     {"both(engine)", "inner is machine"},
                                     {"both(machine(2) | machine(3))", "inner is machine"},
                                     {"both", "both needs a inner"},
                                     {"both(machine(2), fast=yes)", "column 23: fast is no here"}}) {
        std::string const bad = wrong;
        auto const pipe = grammar::read_pipe(bad);
        grammar::arguments b(bad, pipe[0]);
        CHECK_THROWS_WITH_AS(grammar::read_fields<machine_inside>(b), doctest::Contains(why), parse_error);
    }
}

TEST_CASE("the fields of a list follow one another until all arguments are taken") {
    std::string const text = "all(1, 2, quick, rate=3, 0.5)";
    auto const calls = grammar::read_pipe(text);
    grammar::arguments a(text, calls[0]);
    CHECK(grammar::read_fields<machines>(a).all == std::vector<machine>{{1, 2, mode::quick, false, 0.5, 3}, {0.5}});
    CHECK_NOTHROW(a.finish());
}
