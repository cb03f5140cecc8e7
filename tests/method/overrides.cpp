// SPDX-License-Identifier: Apache-2.0
// Steps, memory rates and batches are taken as given or from a theorem, and refused by the method's name.
#include "laconic/method/overrides.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE("a step is a number, or a number over the smoothness") {
    overrides const given{.step = .25};
    CHECK(given.step->value == .25);
    CHECK_FALSE(given.step->over_smoothness);
    CHECK(to_string(step_size{.5, true}) == "0.5/L");
    CHECK(to_string(step_size{1e-12}) == "1e-12");
    CHECK(step_size{.5, true} != step_size{.5});
}

namespace {

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

}  // namespace

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

TEST_CASE("the theorem is asked only where no step is given") {
    problem const p{3, 2, 8, 0, 0, 0};
    int asked = 0;
    auto const theorem = [&] {
        ++asked;
        return .75;
    };
    CHECK(detail::step_or({.step = .1}, p, "m", theorem) == .1);
    CHECK(detail::step_or({.step = step_size{2, true}}, p, "m", theorem) == .25);
    CHECK(asked == 0);
    CHECK(detail::step_or({}, p, "m", theorem) == .75);
    CHECK(asked == 1);
}

TEST_CASE("the noise of batches: max L_ij over all rows that are drawn in a round") {
    problem p{3, 2, 8, 0, 0, 0};
    CHECK(detail::noise_of_batch({}, p, "m") == 0);
    CHECK_THROWS_WITH_AS(detail::noise_of_batch({.batch = 3}, p, "m"), doctest::Contains("max L_ij"), theory_error);
    p.largest_sample_smoothness = 12;
    CHECK(detail::noise_of_batch({.batch = 3}, p, "m") == 2);
}

TEST_CASE("numbers that cannot be are refused, by the method's name") {
    problem const p{3, 2, 8, 0, 0, 0};
    auto const one = [] { return 1.; };
    for (double const bad : {0., -1., double(NAN), double(HUGE_VAL)})
        CHECK_THROWS_WITH_AS(detail::step_or({.step = bad}, p, "m", one), doctest::Contains("m: the step "),
                             argument_error);
    CHECK_THROWS_AS(detail::step_or({.step = step_size{1, true}}, problem{}, "m", one), theory_error);
    CHECK_THROWS_AS(detail::step_or({}, p, "m", [] { return 0.; }), argument_error);
    for (double const bad : {0., -1., .51, double(NAN)})
        CHECK_THROWS_WITH_AS(detail::memory_or({.memory = bad}, .1, .5, "m"), doctest::Contains("outside (0, 0.5]"),
                             argument_error);
    CHECK(detail::memory_or({.memory = .5}, .1, .5, "m") == .5);
    CHECK(detail::memory_or({}, .1, .5, "m") == .1);
    CHECK_THROWS_WITH_AS(detail::own_step({}, p, "m", "none is known"), "m: none is known; give the step yourself",
                         theory_error);
    CHECK(detail::own_step({.step = .5}, p, "m", "none is known") == .5);
    CHECK_THROWS_WITH_AS(detail::refuse_batch({.batch = 3}, "m"), doctest::Contains("with batch = 3"), theory_error);
    detail::refuse_batch({}, "m");
    for (double const bad : {0., -1., double(NAN), double(HUGE_VAL)})
        CHECK_THROWS_WITH_AS(detail::known(bad, "the thing", "m"), doctest::Contains("m: its theorem needs the thing"),
                             theory_error);
}
