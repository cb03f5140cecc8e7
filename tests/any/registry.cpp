// SPDX-License-Identifier: Apache-2.0
// A text becomes a value by the descriptions of a list of types: by name, by what the arguments fit, in pipes or alone.
#include "laconic/any/registry.hpp"

#include "support/everything.hpp"

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
