// SPDX-License-Identifier: Apache-2.0
// SparDL SGD is the one by hand, deals coordinates to blocks anew, and comes near the optimum on real data.
#include "laconic/method/spardl_sgd.hpp"

#include "laconic/any/recursion.hpp"
#include "laconic/method/gtop_k_sgd.hpp"
#include "laconic/method/top_k_sgd.hpp"
#include "support/real_data.hpp"
#include "support/test.hpp"
#include "support/toys.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<spardl_sgd>);

TEST_CASE("two rounds by hand, of blocks of neighbours") {
    // Around (8, 6, 1, 0) and (7, -2, 0, 4), step 1/2, two numbers each: of each half of the coordinates one.
    workers const f = around({{8, 6, 1, 0}, {7, -2, 0, 4}});
    auto const r = spardl_sgd{2, true, {.step = .5}}.compose<double, host>(constants(f));
    auto const all = history(r, f, vec(4, 0.0), 2);
    // News are (-4, -3, -.5, 0) and (-3.5, 1, 0, -2), of which (-4, -3) and (-3.5, -2) are sent. Of its second half the
    // first has nothing to hand on; of the first half -7.5 is applied, and of the second -2.
    for (std::size_t i = 0; i < 2; ++i) CHECK(all[1].x[i] == vec{3.75, 0, 0, 1});
    CHECK(all[1].residual[0] == vec{0, -3, -.5, 0});
    CHECK(all[1].residual[1] == vec{0, 1, 0, 0});
    // Then (-2.125, -6, -1, .5) and (-1.625, 2, 0, -1.5): (-2.125, -6) and (-1.625, 2) are sent, which the second hands
    // over as 2 alone.
    for (std::size_t i = 0; i < 2; ++i) CHECK(all[2].x[i] == vec{3.75, 2, 0, 1});
    CHECK(all[2].residual[0] == vec{-2.125, 0, -1, .5});
    CHECK(all[2].residual[1] == vec{-1.625, 0, 0, -1.5});
}

TEST_CASE("dealt to blocks anew in each round, it sends other numbers") {
    auto const f = random_ridges(4, 12, 1, 4);
    auto const p = constants(f);
    rates const given{.step = step_size{.3, true}};
    auto const dealt = history(spardl_sgd{4, false, given}.compose<double, host>(p), f, vec(12, 1.0), 10);
    auto const neighbours = history(spardl_sgd{4, true, given}.compose<double, host>(p), f, vec(12, 1.0), 10);
    CHECK(dealt[10].x[0] != neighbours[10].x[0]);
    for (auto const& x : dealt[10].x) CHECK(x == dealt[10].x[0]);
}

TEST_CASE("on real data it comes as near to the optimum as top_k_sgd, and so does gtop_k_sgd") {
    auto const real = real_data(10);
    if (!real) return;
    std::vector<any_objective<>> const f(real->f.begin(), real->f.end());
    auto const gap = [&](auto const& method) {
        lockstep<any_recursion<>, any_objective<>> run(
            erased<double, host>(method.template compose<double, host>(real->p)), f, vec(13, 0.0), 1);
        run.rounds(200);
        return mean_value(real->f, run.x()) - real->best.value;
    };
    rates const given{.step = step_size{.2, true}};
    double const start = mean_value(real->f, vec(13, 0.0)) - real->best.value;
    double const gathered = gap(top_k_sgd{3, given}), tree = gap(gtop_k_sgd{3, false, given}),
                 blocks = gap(spardl_sgd{3, false, given});
    CHECK(gathered < .01 * start);
    CHECK(tree < .01 * start);
    CHECK(blocks < .01 * start);
}

TEST_CASE("its numbers by hand, wrong arguments refused with the reason, and its text") {
    problem const p{8, 5, 4, .5, 9, 6};
    auto const r = spardl_sgd{.25, true, {.step = step_size{2, true}, .batch = 3}}.compose<double, host>(p);
    CHECK(r.scale == .5);
    CHECK(r.feedback.keeps_leftover());
    CHECK(r.transport == spar_reduce_scatter{.25, true});
    CHECK(spardl_sgd{.25, false, {.step = .1}}.compose<double, host>(p).transport == spar_reduce_scatter{.25});
    CHECK(r.compressor == top_k{.25});
    CHECK_THROWS_WITH_AS((spardl_sgd{2}.compose<double, host>(p)), doctest::Contains("no theorem gives its step"),
                         theory_error);
    CHECK_THROWS_AS((spardl_sgd{2, false, {.step = .1, .memory = .5}}.compose<double, host>(p)), argument_error);
    CHECK(to_string(spardl_sgd{}) == "spardl_sgd(k=0.01)");
    CHECK(to_string(spardl_sgd{100, true, {.step = .1}}) == "spardl_sgd(k=100, as_published=yes, step=0.1)");
}
