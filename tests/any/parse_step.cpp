// SPDX-License-Identifier: Apache-2.0
// Every step is read from its text, with defaults, and written back; it moves as the typed one; mistakes have their
// place.
#include "laconic/any/parse_step.hpp"

#include "support/everything.hpp"
#include "support/steps.hpp"

TEST_CASE("every step is read, with its defaults, and written back") {
    auto const read = [](std::string const& text) { return to_string(parse_step(text)); };
    for (char const* const text :
         {"momentum(0.5, 0.25)", "momentum(0.7, 0.9, weight_decay=0.01, nesterov=yes)",
          "momentum(0.7, 0.9, dampening=0.5)", "adam(0.1)",
          "adam(0.1, beta1=0.5, weight_decay=0.01, decoupled=yes, bias_correction=no)", "adam(0.1, amsgrad=yes)",
          "lion(0.1, beta2=0.5)", "muon(rows=4, rate=0.1, scale=match_rms_adamw, by=polar_express)",
          "dion2(rows=4, rate=0.1, fraction=0.5)"})
        CHECK(read(text) == text);
    CHECK(read("adam") == "adam(0.001)");
    CHECK(read("momentum(rate=0.5)") == "momentum(0.5, 0.9)");
    for (auto const& s : list_steps()) CHECK(read(s.name + (s.name == "momentum" ? "(0.1)" : "")).starts_with(s.name));
}

TEST_CASE("what is read moves as the step itself, and saves the same state") {
    host on;
    auto step = parse_step<float>("adam(0.5, beta2=0.75, amsgrad=yes)");
    adam<float> typed({.rate = .5, .beta2 = .75, .amsgrad = true});
    std::vector<float> x{1, 2}, y = x, d{.3f, -.7f}, g;
    for (int t = 0; t < 3; ++t) {
        g = d;
        step(on, std::span(x), std::span(d));
        typed(on, std::span(y), std::span(g));
    }
    CHECK(x == y);
    CHECK(step.rate() == .5);
    CHECK(saved(step) == saved(typed));
    steps::goes_on(parse_step("muon(rows=2)"), 6);
}

TEST_CASE("an error has its place and the valid names") {
    auto const has = [](std::string const& text, char const* part) {
        CHECK_THROWS_WITH_AS(parse_step(text), doctest::Contains(part), parse_error);
    };
    has("sgd", "there is no step 'sgd'; there are momentum, adam, lion, muon or dion2");
    has("momentum", "momentum needs rate: momentum(rate=...)");
    has("adam(0.1, beta1=1)", "adam: beta1 = 1 is outside [0, 1)");
    has("adam(0.1, beta1=2)", "column 17: beta1 is from 0 to 1");
    has("muon(rows=0)", "rows is a whole number from 1");
    has("muon(rows=2, by=qr)", "by is newton_schulz, polar_express or polar");
    has("adam(0.1) | adam(0.1)", "a step cannot be part of a pipe");
}
