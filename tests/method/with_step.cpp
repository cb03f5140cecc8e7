// SPDX-License-Identifier: Apache-2.0
// with_momentum and with_prox replace a method's step by one of the same size (methods_optimum.cpp has what a prox
// leads to), and with_step by that of another optimizer.
#include "laconic/method/with_step.hpp"

#include "support/everything.hpp"
#include "support/tasks.hpp"

using namespace toys;

template <class R>
concept TakesMomentum = requires(R const& r) {
    with_momentum<double, host>(r, .5);
};
template <class M>
using recursion_of = decltype(std::declval<M>().template compose<double, host>(problem{}));

static_assert(TakesMomentum<recursion_of<gd>> && TakesMomentum<recursion_of<diana<rand_k<>>>>);
static_assert(TakesMomentum<recursion_of<local_sgd>> && !TakesMomentum<recursion_of<proxskip>>);
static_assert(!TakesMomentum<recursion_of<adiana<rand_k<>>>> && !TakesMomentum<recursion_of<locodl<rand_k<>>>>);

template <class R>
concept TakesProx = requires(R const& r) {
    with_prox(r, elastic_net{});
};
static_assert(TakesProx<recursion_of<gd>> && TakesProx<recursion_of<diana<rand_k<>>>>);
static_assert(!TakesProx<recursion_of<local_sgd>> && !TakesProx<recursion_of<diloco<>>>);
static_assert(!TakesProx<recursion_of<adiana<rand_k<>>>> && !TakesProx<recursion_of<locodl<rand_k<>>>>);
static_assert(!TakesProx<recursion_of<proxskip>> && !TakesProx<recursion_of<ef21_muon<top_k<>>>>);

problem const some{4, 3, 1, 1, 1, 1, 1};

TEST_CASE("without momentum it is the method itself, bit for bit; with a prox it keeps it") {
    auto const f = random_ridges(3, 5, 1, 2);
    auto const r = with_prox(diana{rand_k{2}}.compose<double, host>(constants(f)), elastic_net{.1});
    auto const none = with_momentum<double, host>(r, 0);
    CHECK(none.step.rate == r.step.rate);
    any_objectives const any(f.begin(), f.end());
    auto const a = history(erased<double, host>(r), any, vec(5, 1.0), 20);
    auto const b = history(erased<double, host>(none), any, vec(5, 1.0), 20);
    for (std::size_t k = 0; k <= 20; ++k) CHECK(a[k].x == b[k].x);
    CHECK_THROWS_AS((with_momentum<double, host>(r, 1)), argument_error);
    CHECK_THROWS_AS((with_momentum<double, host>(r, -.1)), argument_error);
}

TEST_CASE("with_prox of a ball replaces a prox that is there, and has the whole step") {
    auto const ball = with_momentum<double, host>(gd{{.step = .25}}.compose<double, host>(problem{}), .5);
    auto const once = with_prox(ball, elastic_net{0, 3});
    CHECK(once.step.rate == .5);  // .25 / (1 - .5)
    CHECK(to_string(with_prox(once, elastic_net{.5}).step) == to_string(with_prox(ball, elastic_net{.5}).step));
    CHECK(to_string(once.step) != to_string(with_prox(ball, elastic_net{.5}).step));
}

TEST_CASE("a prox that is there is replaced") {
    auto const plain = diana{rand_k{1}, {.step = .125}}.compose<double, host>(some);
    auto const once = with_prox(plain, elastic_net{.5}),
               again = with_prox(with_prox(plain, elastic_net{0, 3}), elastic_net{.5});
    static_assert(std::same_as<decltype(once), decltype(again)>);
    CHECK(to_string(once.step) == to_string(again.step));
    CHECK(again.step.rate == .125);
}

TEST_CASE("where the scale is inside the messages the prox is for the whole step") {
    auto const r = with_prox(ef_sgd{top_k{4}, {.step = .25}}.compose<double, host>(some), elastic_net{.5});
    CHECK(r.scale == .25);
    CHECK(r.step.step.rate == 1);
    CHECK(r.step.rate == .25);
}

TEST_CASE("with_step: the method's estimate, and the step of another optimizer") {
    auto const f = random_ridges(3, 5, 1, 2);
    any_objectives const any(f.begin(), f.end());
    diana<rand_k<>> const inside{rand_k{2}, {.step = .02}};
    auto const typed = with_step{inside, adam<>(.1)}.compose<double, host>(constants(f));
    static_assert(std::same_as<std::remove_cvref_t<decltype(typed.step)>, adam<>>);
    any_method<> const named = with_step{any_method<>(inside), parse_step("adam(0.1)")};
    CHECK(to_string(named) == "with_step(diana(rand_k(2), step=0.02), adam(0.1))");
    auto const a = history(erased<double, host>(typed), any, vec(5, 1.0), 20);
    auto const b = history(named.compose(constants(f), {}), any, vec(5, 1.0), 20);
    auto const plain = history(erased<double, host>(inside.compose<double, host>(constants(f))), any, vec(5, 1.0), 20);
    for (std::size_t k = 0; k <= 20; ++k) CHECK(a[k].x == b[k].x);
    double most = 0;
    for (double const v : a[1].x[0]) most = std::max(most, std::abs(v - 1));
    CHECK(most == doctest::Approx(.1));  // Adam's first step, whatever the gradient's length
    CHECK(a[20].x != plain[20].x);
}

TEST_CASE("with_step: what it does not go with is refused") {
    auto const around = [](any_method<> inside) -> any_method<> { return with_step{inside, parse_step("adam(0.1)")}; };
    problem const p{4, 3, 1, 1, 1, 1, 1};
    CHECK_THROWS_WITH_AS(around(proxskip{.5}).compose(p, {}),
                         "with_step: a method that corrects its local steps has no other step", argument_error);
    CHECK_THROWS_WITH_AS(around(scaffold{3, {.step = .1}}).compose(p, {}),
                         "with_step: a method that corrects its local steps has no other step", argument_error);
    CHECK(to_string(around(local_sgd{3, 0, {.step = .1}}).compose(p, {}).step) == "adam(0.1)");  // FedAdam
    CHECK_THROWS_WITH_AS((with_step{proxskip{.5}, adam<>()}.compose<double, host>(p)),
                         "with_step: a method that corrects its local steps has no other step", argument_error);
    CHECK_THROWS_WITH_AS(around(gd{}).compose(p, elastic_net{1, 0}),
                         "with_step: its step has no form with a proximal operator: adam(0.1)", argument_error);
    CHECK_THROWS_WITH_AS(around(gd{}).compose(p, {}, .5),
                         doctest::Contains("the momentum belongs to the method inside"), argument_error);
}
