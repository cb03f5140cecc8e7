// SPDX-License-Identifier: Apache-2.0
// Each layer moves by its own step, and all state is saved.
#include "laconic/optim/layered_step.hpp"

#include "support/everything.hpp"
#include "support/steps.hpp"

using vec = std::vector<double>;

using muon_and_adam = layered_step<muon<>, adam<>>;
static_assert(Step<muon_and_adam> && Step<layered_step<muon<float>, lion<float>>, float>);

muon_and_adam model() {
    return muon_and_adam({{6, muon<>({.rows = 2, .rate = .5})},
                          {3, adam<>({.rate = .5, .weight_decay = .01, .decoupled = true})},
                          {2, muon<>({.rows = 2})}});
}

TEST_CASE("each layer moves as by its step alone") {
    host on;
    auto all = model();
    muon<> first({.rows = 2, .rate = .5}), last({.rows = 2});
    adam<> middle({.rate = .5, .weight_decay = .01, .decoupled = true});
    vec x(11), d(11);
    for (std::size_t j = 0; j < 11; ++j) x[j] = double(j);
    auto y = x;
    for (int t = 1; t < 4; ++t) {
        for (std::size_t j = 0; j < 11; ++j) d[j] = double(j * j % 7) - t;
        auto g = d;
        all(on, std::span(x), std::span(d));
        std::span<double> const ys(y), gs(g);
        first(on, ys.subspan(0, 6), gs.subspan(0, 6));
        middle(on, ys.subspan(6, 3), gs.subspan(6, 3));
        last(on, ys.subspan(9), gs.subspan(9));
        CHECK(x == y);
    }
    CHECK(all.size() == 11);
    CHECK(all.layers().size() == 3);
}

TEST_CASE("its state is that of all layers, and a vector of another length is refused") {
    steps::goes_on(model(), 11);
    steps::goes_on(layered_step<gradient_step, momentum<>>({{1, gradient_step{.5}}, {2, momentum<>(.5, .5)}}), 3);
    CHECK(to_string(model()) ==
          "layered_step(6: muon(rows=2, rate=0.5), 3: adam(0.5, weight_decay=0.01, decoupled=yes), 2: muon(rows=2, "
          "rate=0.001))");
    // Two layers whose lengths another step has the other way round.
    using two = layered_step<momentum<>>;
    two one({{2, momentum<>(.5, .5)}, {1, momentum<>(.5, .5)}}),
        other({{1, momentum<>(.5, .5)}, {2, momentum<>(.5, .5)}});
    host on;
    vec x(3), d(3, 1);
    one(on, std::span(x), std::span(d));
    CHECK_THROWS_WITH_AS(restore_from(one, other), doctest::Contains("a vector has another length"), wire_error);
    restore(one, saved(one), "a part", 3);  // as a loop restores it, which says how long x is
}

struct with_more {
    layered_step<momentum<>> layers{{{2, momentum<>(.5, .5)}, {1, momentum<>(.5, .5)}}};
    momentum<> more{.5, .5};
    void state(auto& archive) { archive(layers, more); }
};

TEST_CASE("vectors that a state has after those of the layers are as long as x") {
    host on;
    with_more one, other;
    vec x(3), d(3, 1);
    one.layers(on, std::span(x), std::span(d));
    one.more(on, std::span(x), std::span(d));
    restore(other, saved(one), "a part", 3);
    CHECK(saved(other) == saved(one));
    d.resize(2);
    one.more = momentum<>(.5, .5);
    one.more(on, std::span(x).first(2), std::span(d));
    CHECK_THROWS_WITH_AS(restore(other, saved(one), "a part", 3), doctest::Contains("a vector has another length"),
                         wire_error);
}

TEST_CASE("layers that do not fit are refused, and nothing moves") {
    host on;
    vec x(10, 1), d(10, 1);
    CHECK_THROWS_WITH_AS(model()(on, std::span(x), std::span(d)),
                         "layered_step: the layers have 11 elements, and x has 10", shape_error);
    CHECK(x == vec(10, 1));
    CHECK_THROWS_WITH_AS(muon_and_adam({{7, muon<>({.rows = 2})}}), "muon: 7 numbers are no matrix of 2 rows",
                         argument_error);
    CHECK_THROWS_WITH_AS((layered_step<dion2<>>({{7, dion2<>({.rows = 2})}})),
                         "dion2: 7 numbers are no matrix of 2 rows", argument_error);
}
