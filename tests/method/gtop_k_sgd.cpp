// SPDX-License-Identifier: Apache-2.0
// gTop-k SGD is the one by hand, and reaches a common optimum as top_k_sgd does, corrected or as published.
#include "laconic/method/gtop_k_sgd.hpp"

#include "laconic/any/recursion.hpp"
#include "laconic/method/top_k_sgd.hpp"
#include "support/test.hpp"
#include "support/toys.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<gtop_k_sgd>);

namespace {

// Workers that agree on their minimiser, so that every method that loses nothing leads there with any step that is
// short enough.
workers agreeing(int n, Eigen::Index d) {
    auto f = random_ridges(n, d, 1, 4);
    vec const best(static_cast<std::size_t>(d), 2.0);
    for (auto& each : f) each.b = each.h * eigen(best);
    return f;
}

// |x - x*|^2 after so many rounds.
template <class M>
double left_after(M const& method, workers const& f, std::size_t rounds) {
    auto const r = erased<double, host>(method.template compose<double, host>(constants(f)));
    std::vector<any_objective<>> const any(f.begin(), f.end());
    vec end;
    threads::run(static_cast<int>(f.size()), [&](threads::member& comm) {
        vec x(f[0].dimension(), 1.0);
        descend(r, any[static_cast<std::size_t>(comm.rank())], x, comm, {.rounds = rounds});
        if (comm.rank() == 0) end = x;
    });
    return distance2(end, vec(end.size(), 2.0));
}

}  // namespace

TEST_CASE("two rounds by hand") {
    // Around (5, -3, 0) and (-4, -2, 1), step 1/2, one number each and one of the sum.
    workers const f = around({{5, -3, 0}, {-4, -2, 1}});
    auto const r = gtop_k_sgd{1, false, {.step = .5}}.compose<double, host>(constants(f));
    auto const all = history(r, f, vec(3, 0.0), 2);
    // -2.5 and 2 at the first: -0.5 is sent to all. The first keeps 1.5 of its own, the second 1 and -0.5.
    for (std::size_t i = 0; i < 2; ++i) CHECK(all[1].x[i] == vec{.25, 0, 0});
    CHECK(all[1].residual[0] == vec{0, 1.5, 0});
    CHECK(all[1].residual[1] == vec{0, 1, -.5});
    // Now the deltas are (-2.375, 3, 0) and (2.125, 2, -1): 3 at the second and 2.125 at the first, of which 3 is
    // applied.
    for (std::size_t i = 0; i < 2; ++i) CHECK(all[2].x[i] == vec{.25, -1.5, 0});
    CHECK(all[2].residual[0] == vec{-2.375 + 2.125, 0, 0});
    CHECK(all[2].residual[1] == vec{0, 2, -1});
}

TEST_CASE("it leads to the optimum, as top_k_sgd does, and so it does as published, at another pace") {
    auto const f = agreeing(6, 12);
    rates const given{.step = step_size{.3, true}};
    for (double const k : {1., 3.}) {
        double const start = 12, gathered = left_after(top_k_sgd{k, given}, f, 600);
        double const tree = left_after(gtop_k_sgd{k, false, given}, f, 600);
        double const published = left_after(gtop_k_sgd{k, true, given}, f, 600);
        CHECK(gathered < 1e-8 * start);
        CHECK(tree < 1e-8 * start);
        CHECK(published < 1e-8 * start);
    }
}

TEST_CASE("its numbers by hand, wrong arguments refused with the reason, and its text") {
    problem const p{8, 5, 4, .5, 9, 6};
    auto const r = gtop_k_sgd{.25, true, {.step = step_size{2, true}, .batch = 3}}.compose<double, host>(p);
    CHECK(r.scale == .5);
    CHECK(r.step.rate == 1);
    CHECK(r.feedback.keeps_leftover());
    CHECK(r.transport == gtop_k{.25, true});
    CHECK(r.compressor == top_k{.25});
    CHECK(to_string(r.estimator) == "mini_batch(3)");
    CHECK_THROWS_WITH_AS((gtop_k_sgd{2}.compose<double, host>(p)), doctest::Contains("no theorem gives its step"),
                         theory_error);
    CHECK_THROWS_AS((gtop_k_sgd{2, false, {.step = .1, .memory = .5}}.compose<double, host>(p)), argument_error);
    CHECK(to_string(gtop_k_sgd{}) == "gtop_k_sgd(k=0.01)");
    CHECK(to_string(gtop_k_sgd{100, true, {.step = .1}}) == "gtop_k_sgd(k=100, as_published=yes, step=0.1)");
}
