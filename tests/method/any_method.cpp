// SPDX-License-Identifier: Apache-2.0
// A method chosen at run time composes the recursion of the one inside, with its proximal operator and its answer.
#include "laconic/method/any_method.hpp"

#include "support/everything.hpp"
#include "support/pulled_left.hpp"
#include "support/toys.hpp"

problem const some_problem{8, 5, 4, .5, 9, 6, .5};

TEST_CASE("it composes what the method inside composes") {
    any_method<> const m = diana{rand_k{2}};
    CHECK(to_string(m) == "diana(rand_k(2))");
    auto const inside = diana{rand_k{2}}.compose<double, host>(some_problem);
    auto const r = m.compose<double, host>(some_problem);
    CHECK(to_string(r.compressor) == "rand_k(2)");
    CHECK(to_string(r.feedback) == to_string(inside.feedback));
    CHECK(r.step.rate() == inside.step.rate);
    CHECK(r.over.gathers());
    static_assert(Method<any_method<>> && !Method<any_method<>, float> && Method<any_method<float>, float>);
}

TEST_CASE("a proximal operator goes behind the step, at the step's own length") {
    elastic_net const net{.3, .2};
    auto const r = any_method<>(ef_sgd{top_k{2}, {.step = .125}}).compose(some_problem, net);
    CHECK(r.scale == .125);
    CHECK(to_string(r.step) == to_string(gradient_step{1}) + ", " + to_string(net) + " for 0.125");
    CHECK_THROWS_WITH_AS(any_method<>(dual_averaging{}).compose(some_problem, net),
                         doctest::Contains("dual_averaging: its step has no form with a proximal operator"),
                         argument_error);
}

TEST_CASE("a method around one that is chosen at run time: its answer, and the proximal operator inside") {
    using chosen = bidirectional<any_method<>, any_compressor<>>;
    any_method<> const m = chosen{diana{rand_k{2}}, natural{}, .5, true};
    CHECK(to_string(m) == "bidirectional(diana(rand_k(2)), natural, memory=0.5, keep_errors=yes)");
    for (auto const& r : {m.compose<double, host>(some_problem), m.compose(some_problem, elastic_net{.3, 0})}) {
        CHECK(to_string(r.over) == "served(natural, memory(rate=0.5, decay=1))");
    }
    CHECK(to_string(m.compose(some_problem, elastic_net{.3, 0}).step).find("elastic_net(0.3, 0)") != std::string::npos);
    any_method<> const twice = chosen{m, natural{}, 0, false};
    CHECK_THROWS_WITH_AS((twice.compose<double, host>(some_problem)),
                         doctest::Contains("the method has a transport of its own: served(natural, memory"),
                         argument_error);
}

TEST_CASE("a method with a loop of its own makes it, and has no recursion") {
    any_method<> const m = toys::pulled_left{0.25};
    CHECK(to_string(m) == "pulled_left(share=0.25)");
    CHECK(m.has_loop());
    CHECK_FALSE(any_method<>(gd{}).has_loop());
    CHECK_THROWS_WITH_AS((m.compose<double, host>(some_problem)),
                         "pulled_left(share=0.25) is no recursion: it makes its own loop", argument_error);
    auto const f = toys::random_ridges(3, 4, 1, 2);
    threads::run(3, [&](threads::member& comm) {
        auto const me = std::size_t(comm.rank());
        std::vector<double> x(4, double(me)), y = x;
        descend(toys::pulled_left{0.25}, f[me], x, comm, {.rounds = 5});
        any_objective<> const g(f[me]);
        CHECK(descend(m, g, y, comm, {.rounds = 5}).rounds == 5);
        CHECK(x == y);
        std::vector<double> z(4);
        descend(any_method<>(gd{}), g, z, comm, {.rounds = 5});
        any_communicator handle(comm);
        CHECK_THROWS_WITH_AS(any_method<>(gd{}).start(some_problem, g, handle, std::span(z), 0),
                             "gd is a recursion: descend() and descent run it", argument_error);
    });
}
