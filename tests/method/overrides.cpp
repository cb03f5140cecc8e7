// SPDX-License-Identifier: Apache-2.0
// Steps, memory rates and batches are taken as given or from a theorem, and refused by the method's name.
#include "laconic/method/overrides.hpp"

#include "support/everything.hpp"

TEST_CASE("a step is a number, or a number over the smoothness") {
    overrides const given{.step = .25};
    CHECK(given.step->value == .25);
    CHECK_FALSE(given.step->over_smoothness);
    CHECK(to_string(step_size{.5, true}) == "0.5/L");
    CHECK(to_string(step_size{1e-12}) == "1e-12");
    CHECK(step_size{.5, true} != step_size{.5});
}

struct with_all {
    overrides given{};
    static constexpr void description(auto&& describe) {
        describe("m", "", "", detail::step_field, detail::memory_field, detail::batch_field);
    }
    bool operator==(with_all const&) const = default;
};
struct with_rows {
    overrides given{};
    static constexpr void description(auto&& describe) { describe("m", "", "", detail::rows_field.written()); }
    bool operator==(with_rows const&) const = default;
};

struct step_known {
    overrides given{};
    static constexpr void description(auto&& describe) { describe("m", "", "", detail::step_field); }
};

TEST_CASE("what is given is written, and nothing else") {
    auto const text = [](overrides const& r) { return to_string(with_all{r}); };
    CHECK(text({}) == "m");
    CHECK(text({.step = .1}) == "m(step=0.1)");
    CHECK(text({.memory = .5}) == "m(memory=0.5)");
    CHECK(text({.step = .1, .batch = 32}) == "m(step=0.1, batch=32)");
    CHECK(text({.step = step_size{2, true}, .memory = 1}) == "m(step=2/L, memory=1)");
    CHECK(overrides{.step = .1} == overrides{.step = .1});
    CHECK(overrides{.step = .1} != overrides{});
}

TEST_CASE("a method that draws at least one row has batch=1 in its text where none is given") {
    CHECK(to_string(with_rows{}) == "m(batch=1)");
    CHECK(to_string(with_rows{{.batch = 7}}) == "m(batch=7)");
    CHECK(detail::listed<with_rows>().parameters == "(batch=1)");
}

problem const p{3, 2, 8, 0, 0, 0};
detail::theory of(overrides const& given, problem const& its = p) { return {"m", given, its}; }

TEST_CASE("the theorem is asked only where no step is given") {
    int asked = 0;
    auto const theorem = [&] {
        ++asked;
        return .75;
    };
    CHECK(of({.step = .1}).step(theorem) == .1);
    CHECK(of({.step = step_size{2, true}}).step(theorem) == .25);
    CHECK(asked == 0);
    CHECK(of({}).step(theorem) == .75);
    CHECK(asked == 1);
    CHECK(of({.step = .5}).own_step("none is known") == .5);
}

TEST_CASE("the noise of batches: max L_ij over all rows that are drawn in a round") {
    CHECK(of({}).noise_of_batch() == 0);
    CHECK_THROWS_WITH_AS(of({.batch = 3}).noise_of_batch(), doctest::Contains("max L_ij"), theory_error);
    problem known = p;
    known.largest_sample_smoothness = 12;
    CHECK(of({.batch = 3}, known).noise_of_batch() == 2);
}

TEST_CASE("numbers that cannot be are refused, by the method's name") {
    auto const one = [] { return 1.; };
    for (double const bad : {0., -1., double(NAN), double(HUGE_VAL)}) {
        CHECK_THROWS_WITH_AS(of({.step = bad}).step(one), doctest::Contains("m: the step "), argument_error);
        CHECK_THROWS_WITH_AS(of({}).known(bad, "the thing"), doctest::Contains("m: its theorem needs the thing"),
                             theory_error);
    }
    CHECK_THROWS_AS(of({.step = step_size{1, true}}, {}).step(one), theory_error);
    CHECK_THROWS_AS(of({}).step([] { return 0.; }), argument_error);
    for (double const bad : {0., -1., .51, double(NAN)})
        CHECK_THROWS_WITH_AS(of({.memory = bad}).memory(.1, .5), doctest::Contains("outside (0, 0.5]"), argument_error);
    CHECK(of({.memory = .5}).memory(.1, .5) == .5);
    CHECK(of({}).memory(.1, .5) == .1);
    CHECK_THROWS_WITH_AS(of({}).own_step("none is known"), "m: none is known; give the step yourself", theory_error);
    CHECK_THROWS_WITH_AS(of({.batch = 3}).refuse_batch(), doctest::Contains("with batch = 3"), theory_error);
    of({}).refuse_batch();
}

TEST_CASE("a memory rate or a batch that is none of a method's fields is refused") {
    with_all const all{{.memory = .5, .batch = 3}};
    CHECK(detail::theory(all, p).given == all.given);
    CHECK(detail::theory(with_rows{}, p).with_rows().given.batch == 1);
    CHECK_THROWS_WITH_AS(detail::theory(with_rows{{.memory = .5}}, p),
                         doctest::Contains("memory = 0.5 cannot be given"), argument_error);
    CHECK_THROWS_WITH_AS(detail::theory(step_known{{.batch = 2}}, p), doctest::Contains("batch = 2 cannot be given"),
                         argument_error);
    CHECK_THROWS_WITH_AS(detail::theory(with_all{{.batch = std::size_t(2e9)}}, p), doctest::Contains("m: batch = "),
                         argument_error);
}
