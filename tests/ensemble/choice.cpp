// SPDX-License-Identifier: Apache-2.0
// T4.3, and which ensemble a round chooses: the least F, the one before of equals, and none that is not finite.
#include "laconic/ensemble/choice.hpp"

#include "support/everything.hpp"

using member = ensemble_member<double>;
using members = std::vector<member>;

dataset<> four() {
    dataset<> data{"four", {}, {3, 1, 2, 0}};
    data.rows.resize(4, 1);
    return data;
}
member of(std::size_t depth, std::vector<double> outputs, double weight = 0) { return {depth, weight, {}, outputs}; }

std::optional<ensemble_choice> choose(ensemble_rule const& rule, members const& before, double value,
                                      members const& fresh) {
    return rule.choose<double>(squared_output<>(four()), std::span(before), value, std::span(fresh));
}

std::vector<double> const ones{1, 1, 1, 1}, alternating{1, -1, 1, -1}, exact{3, 1, 2, 0}, nothing{};

TEST_CASE("T4.3: the penalty is lambda r + beta, and 0 without them, whatever r is") {
    CHECK(complexity_penalty{0.1, 0}.of(2) == 0.2);
    CHECK(complexity_penalty{0.1, 0.25}.of(2) == doctest::Approx(0.45).epsilon(1e-15));
    CHECK(complexity_penalty{}.of(std::nan("")) == 0);
    CHECK(complexity_penalty{0, 0.25}.of(std::nan("")) == 0.25);
    ensemble_member<double> const two{4, 1, {}, ones};
    CHECK(two.complexity() == 2);
    ensemble_rule rule;
    rule.penalty = {0.1, 0};
    auto const mix = rule.mixture_of<double>(squared_output<>(four()), std::span(&two, 1));
    CHECK(mix.penalties()[0] == 0.2);
    CHECK(mix.penalised(std::vector<double>{1}) - mix.value(std::vector<double>{1}) == doctest::Approx(0.2));
}

TEST_CASE("choice: each strategy has its ensembles") {
    ensemble_rule rule;
    CHECK(rule.ensembles() == 2);
    CHECK(rule.added(2) == std::vector<std::size_t>{1});
    CHECK(rule.added(0).empty());
    CHECK(rule.keeps(1));
    rule.strategy = ensemble_strategy::all;
    CHECK(rule.ensembles() == 1);
    CHECK(rule.added(1) == std::vector<std::size_t>{0, 1});
    rule.strategy = ensemble_strategy::solo;
    CHECK(rule.ensembles() == 2);
    CHECK(rule.added(2) == std::vector<std::size_t>{1});
    CHECK(rule.keeps(0));
    CHECK_FALSE(rule.keeps(1));
}

TEST_CASE("choice: the least F, with the weights that have it") {
    members const before{of(0, ones, 1.5)}, fresh{of(0, {2, 2, 2, 2}), of(1, alternating)};
    double const value = 1.25;  // of the mean of the labels
    ensemble_rule rule;
    auto best = choose(rule, before, value, fresh);  // T4.2: (1.5, 1) has F = .25
    REQUIRE(best);
    CHECK(best->ensemble == 2);
    CHECK(best->weights[0] == doctest::Approx(1.5).epsilon(1e-14));
    CHECK(best->weights[1] == doctest::Approx(1).epsilon(1e-14));

    rule.strategy = ensemble_strategy::all;
    best = choose(rule, before, value, fresh);
    REQUIRE(best);
    CHECK(best->weights.size() == 3);
    CHECK(best->weights[2] == doctest::Approx(1).epsilon(1e-12));

    rule.strategy = ensemble_strategy::solo;
    best = choose(rule, before, value, {fresh[1], of(2, exact)});
    REQUIRE(best);
    CHECK(best->ensemble == 2);
    CHECK(best->weights == std::vector<double>{1});

    rule = {};
    rule.weights = mixture_weights::uniform;
    for (double const f :
         {1.25, 1.26}) {  // (1 + 2) / 2 is the mean of the labels, with F = 1.25; (1 + alternating) / 2 has 1.5
        best = choose(rule, before, f, fresh);
        REQUIRE(best);
        CHECK(best->ensemble == (f > value ? 1 : 0));
        CHECK(best->weights == (f > value ? std::vector<double>{.5, .5} : std::vector<double>{1.5}));
    }
}

TEST_CASE("choice: of equals the ensemble before; force_grow leaves it out") {
    members const before{of(0, ones, 1.5)}, fresh{of(0, {0, 0, 0, 0}), of(1, {0, 0, 0, 0})};
    ensemble_rule rule;
    auto best = choose(rule, before, 1.25, fresh);
    REQUIRE(best);
    CHECK(best->ensemble == 0);
    CHECK(best->weights == std::vector<double>{1.5});
    rule.force_grow = true;
    best = choose(rule, before, 1.25, fresh);
    REQUIRE(best);
    CHECK(best->ensemble == 1);
    CHECK(best->weights == std::vector<double>{1.5, 0});
}

TEST_CASE("choice: a penalty keeps what is deep out, also where weights are not learned") {
    ensemble_rule rule;
    members const fresh{of(1, {2.5, 1, 2, 0}), of(9, exact)};  // F without the penalty is 1/16, and 0
    for (auto const weights : {mixture_weights::learned, mixture_weights::uniform}) {
        rule.weights = weights;
        rule.penalty = {0, 1e-3};
        CHECK(choose(rule, {}, 0, fresh)->ensemble == 2);
        rule.penalty = {0.1, 0};
        CHECK(choose(rule, {}, 0, fresh)->ensemble == 1);
    }
}

TEST_CASE("choice: what is not finite is left out, and nothing is chosen where nothing is left") {
    ensemble_rule rule;
    auto best = choose(rule, {}, 0, {of(0, nothing), of(1, ones)});
    REQUIRE(best);
    CHECK(best->ensemble == 2);
    best = choose(rule, {}, 0, {of(0, {1e200, 0, 0, 0}), of(1, ones)});  // finite outputs, whose squares are not
    REQUIRE(best);
    CHECK(best->ensemble == 2);
    CHECK_FALSE(choose(rule, {}, 0, {of(0, nothing), of(1, nothing)}));
    members const before{of(0, ones, 1.5)};
    CHECK(choose(rule, before, 1.25, {of(0, nothing), of(1, nothing)})->ensemble == 0);
    rule.force_grow = true;
    CHECK_FALSE(choose(rule, before, 1.25, {of(0, nothing), of(1, nothing)}));
    rule = {};
    rule.strategy = ensemble_strategy::all;
    CHECK_FALSE(choose(rule, {}, 0, {of(0, nothing), of(1, ones)}));
}
