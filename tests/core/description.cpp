// SPDX-License-Identifier: Apache-2.0
// A value's text, and its entry in a list, come from its description and from the defaults of its members alone.
// Also tests listed.hpp.
#include "laconic/core/description.hpp"

#include "support/everything.hpp"

enum class mode { slow, quick };
constexpr std::array<std::string_view, 2> words_of(mode) { return {"slow", "quick"}; }

struct inner {
    double part = 0.5;
    bool operator==(inner const&) const = default;
};
struct machine {
    portion k = 0.25;
    mode how = mode::slow;
    std::size_t count = 3;
    bool loud = false;
    inner in{};

    static constexpr void description(auto&& describe) {
        describe("machine", "does nothing", "Nobody 2026", field("k", &machine::k).written(),
                 field("how", &machine::how), field("count", &machine::count).between(1, 9).written(),
                 field("loud", &machine::loud),
                 field(
                     "part", [](auto& m) -> auto& { return m.in.part; }));
    }
    bool operator==(machine const&) const = default;
};
struct bare {
    static constexpr void description(auto&& describe) { describe("bare", "has no fields", ""); }
    bool operator==(bare const&) const = default;
};
struct needy {
    std::size_t n = 0;
    static constexpr void description(auto&& describe) {
        describe("needy", "needs n", "", field("n", &needy::n).needed());
    }
    bool operator==(needy const&) const = default;
};

TEST_CASE(
    "a text has what is always written, by position as far as nothing is left out, and what differs from its default") {
    CHECK(to_string(bare{}) == "bare");
    CHECK(to_string(machine{}) == "machine(0.25, count=3)");
    CHECK(to_string(machine{7, mode::quick, 4}) == "machine(7, how=quick, count=4)");
    CHECK(to_string(machine{7, mode::slow, 3, true, {1}}) == "machine(7, count=3, loud=yes, part=1)");
    CHECK(to_string(needy{8}) == "needy(8)");
}

TEST_CASE("lists have the defaults of the members") {
    auto const l = detail::listed<machine>();
    CHECK(l.name == "machine");
    CHECK(l.parameters == "(k=0.25, how=slow, count=3, loud=no, part=0.5)");
    CHECK(l.about == "does nothing");
    CHECK(l.source == "Nobody 2026");
    CHECK(detail::listed<bare>().parameters.empty());
    CHECK(detail::listed<needy>().parameters == "(n)");
}

struct no_default {
    explicit no_default(double v) : number(v) {}
    double number;
    std::optional<int> more{};
    static constexpr void description(auto&& describe) {
        describe("no_default", "", "", field("number", &no_default::number), field("more", &no_default::more));
    }
};

TEST_CASE("where there is no default, all is written but what is not set") {
    CHECK(to_string(no_default(2)) == "no_default(number=2)");
}

template <bool Louder>
struct choice {
    double share = 0.5;
    mode how = mode::slow;
    static constexpr void description(auto&& describe) {
        describe("choice", "one of two types", "", field("share", &choice::share).between(0, 1),
                 field("how", &choice::how), detail::decided_field<Louder>("louder"));
    }
};

TEST_CASE("what a type decides is written unless it is the first there is") {
    CHECK(to_string(choice<false>{}) == "choice");
    CHECK(to_string(choice<true>{0.25}) == "choice(share=0.25, louder=yes)");
    CHECK(detail::listed<choice<false>>().parameters == "(share=0.5, how=slow, louder=no)");
    CHECK(detail::listed<choice<true>>().parameters == "(share=0.5, how=slow, louder=yes)");
}

TEST_CASE("numbers are checked against the ranges of their fields") {
    CHECK_NOTHROW(detail::check_fields(choice<true>{1, mode::quick}));
    CHECK_THROWS_WITH_AS(detail::check_fields(choice<true>{1.5}), "choice: share = 1.5 is outside 0 .. 1",
                         argument_error);
    CHECK_THROWS_AS(detail::check_fields(choice<true>{std::nan("")}), argument_error);
    CHECK_THROWS_WITH_AS(detail::check_fields(choice<true>{1, static_cast<mode>(2)}),
                         "choice: how is none of its values", argument_error);
    CHECK_THROWS_AS(detail::check_fields(machine{.count = 10}), argument_error);
}
