// SPDX-License-Identifier: Apache-2.0
// Values are read from texts by their descriptions: by position or by name, within their ranges, with their defaults.
#include "laconic/any/registry.hpp"

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
    double size = 1;

    static constexpr void description(auto&& describe) {
        describe("machine", "", "", field("k", &machine::k).needed(), field("count", &machine::count).between(1, 9),
                 field("how", &machine::how), field("loud", &machine::loud),
                 field("share", &machine::share).between(0, 1).by_name(), field("rate", &machine::rate).by_name(),
                 field("size", &machine::size).between(detail::above_0, 2).by_name());
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
    CHECK(refused("machine(1, size=0)") == "size is above 0, up to 2 at 17");
    CHECK(refused("machine(1, size=2.5)") == "size is above 0, up to 2 at 17");
    CHECK(refused("machine(1, 2, slow, 0.5)") ==
          "machine takes k, count, how, loud, share, rate or size; this is none of them at 21");
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

// A text becomes a value by the descriptions of a list of types: by name, by what the arguments fit, in pipes or alone.

namespace tests_of_registry {

namespace {

using laconic::field;

struct slow_engine {
    int cylinders = 4;
    static constexpr void description(auto&& describe) {
        describe("engine", "runs", "Otto", field("cylinders", &slow_engine::cylinders).between(1, 12),
                 laconic::detail::decided_field<false>("fast"));
    }
};
struct fast_engine {
    int cylinders = 8;
    static constexpr void description(auto&& describe) {
        describe("engine", "flies", "", field("cylinders", &fast_engine::cylinders).between(1, 24),
                 laconic::detail::decided_field<true>("fast"));
    }
};
struct wheel {
    static constexpr void description(auto&& describe) { describe("wheel", "rolls", ""); }
};
struct toy {
    std::string text = "none";
    toy() = default;
    explicit toy(slow_engine const& e) : text("slow " + std::to_string(e.cylinders)) {}
    explicit toy(fast_engine const& e) : text("fast " + std::to_string(e.cylinders)) {}
    explicit toy(wheel const&) : text("wheel") {
        if (broken) throw laconic::argument_error("the wheel is broken");
    }
    static inline bool broken = false;
};

// A chain has a rest, as sparsifiers do.
struct chain_part {
    std::string text;
};
template <class Rest = wheel>
struct chain {
    int links = 1;
    Rest rest{};
    static constexpr void description(auto&& describe) { describe("chain", "", "", field("links", &chain::links)); }
    template <class R>
    chain<R> with(R const& r) const {
        return {links, r};
    }
};
struct piped {
    std::string text = "none";
    piped() = default;
    explicit piped(wheel const&) : text("wheel") {}
    explicit piped(chain<> const& c) : text("chain " + std::to_string(c.links)) {}
    explicit piped(chain<piped> const& c) : text("chain " + std::to_string(c.links) + " of " + c.rest.text) {}
};

}  // namespace
}  // namespace tests_of_registry

template <>
struct laconic::registry<tests_of_registry::toy> {
    static constexpr char const* kind = "a toy";
    using types =
        detail::type_list<tests_of_registry::slow_engine, tests_of_registry::fast_engine, tests_of_registry::wheel>;
};
template <>
struct laconic::registry<tests_of_registry::piped> {
    static constexpr char const* kind = "a drive";
    using types = detail::type_list<tests_of_registry::wheel, tests_of_registry::chain<>>;
};

namespace tests_of_registry {

namespace {

template <class V>
std::string read(std::string const& text) {
    try {
        return laconic::grammar::parse<V>(text).text;
    } catch (laconic::parse_error const& e) {
        CHECK(e.text == text);
        return e.why + " at " + std::to_string(e.column);
    }
}

}  // namespace

TEST_CASE("a name is the value of a type, and of types that share a name the arguments choose") {
    CHECK(read<toy>("wheel") == "wheel");
    CHECK(read<toy>("engine") == "slow 4");
    CHECK(read<toy>("engine(6, fast=no)") == "slow 6");
    CHECK(read<toy>("engine(fast=yes)") == "fast 8");
    CHECK(read<toy>("engine(16, fast=yes)") == "fast 16");
}

TEST_CASE("what fits no type has the reason of the one that it fits longest") {
    CHECK(read<toy>("engine(30)") ==
          "cylinders is a whole number from 1 to 12, or cylinders is a whole number from 1 to 24 at 8");
    CHECK(read<toy>("engine(16)") == "cylinders is a whole number from 1 to 12 at 8");
    CHECK(read<toy>("engine(fast=maybe)") == "fast is yes or no at 13");
    CHECK(read<toy>("engine(6, fast=yes, 7)") == "engine takes cylinders or fast; this is none of them at 21");
}

TEST_CASE("an unknown name is refused with the nearest and all names, each once") {
    CHECK(read<toy>("engin") == "there is no toy 'engin' (did you mean engine?); there are engine or wheel at 1");
    CHECK(read<toy>("  x") == "there is no toy 'x'; there are engine or wheel at 3");
}

TEST_CASE("what a value itself refuses is refused at its call") {
    toy::broken = true;
    CHECK(read<toy>(" wheel") == "the wheel is broken at 2");
    toy::broken = false;
}

TEST_CASE("pipes, where some begin one; else a call stands alone") {
    CHECK(read<toy>("wheel | wheel") == "a toy cannot be part of a pipe at 9");
    CHECK(read<toy>("reel | wheel") == "there is no toy 'reel'; there are engine or wheel at 1");
    CHECK(read<piped>("chain(3)") == "chain 3");
    CHECK(read<piped>("chain(3) | chain | wheel") == "chain 3 of chain 1 of wheel");
    CHECK(read<piped>("wheel | chain") == "'wheel' is a quantizer, which leaves nothing to what follows it at 9");
    CHECK(read<piped>("chain | weel") ==
          "there is no drive 'weel' (did you mean wheel?); there are wheel or chain at 9");
}

TEST_CASE("the list has what the descriptions say") {
    auto const list = laconic::grammar::abouts<toy>();
    REQUIRE(list.size() == 3);
    CHECK(list[0].name == "engine");
    CHECK(list[0].parameters == "(cylinders=4, fast=no)");
    CHECK(list[0].about == "runs");
    CHECK(list[0].source == "Otto");
    CHECK(list[1].parameters == "(cylinders=8, fast=yes)");
    CHECK(list[2].name == "wheel");
}

}  // namespace tests_of_registry
