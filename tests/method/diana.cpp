// SPDX-License-Identifier: Apache-2.0
// DIANA on mirrored losses. (The program convergence has its expectations, to digits that another program knows.)
#include "laconic/method/diana.hpp"

#include "support/everything.hpp"
#include "support/tasks.hpp"

using namespace toys;

logistic_regression<> one_row(double sign, double lambda) {
    dataset<> data;
    data.name = "one row";
    data.rows.resize(1, 8);
    for (int j = 0; j < 8; ++j) data.rows.insert(0, j) = sign * (j + 1) / 8.;
    data.labels = {1};
    return {std::move(data), lambda};
}

TEST_CASE("mirrored logistic losses: the theorem's steps, and the optimum to 1e-30") {
    std::vector<logistic_regression<>> const f{one_row(1, .1), one_row(-1, .1)};
    for (auto const& known : {std::pair{"2", .70932}, {"inf", 1.04809}}) {
        CAPTURE(known.first);
        std::vector<problem> agreed(2);
        threads::run(2, [&](threads::member& comm) {
            auto const me = static_cast<std::size_t>(comm.rank());
            agreed[me] = agree_on_problem(comm, f[me]);
        });
        auto const r = named("diana(quantize(1, p=" + std::string(known.first) + "))", agreed[0]);
        CHECK(r.step.rate() == doctest::Approx(known.second).epsilon(1e-5));
        // Exact arithmetic gives 0. Ranks keep mean h_i by itself, so it drifts from the h_i by roundings, and x* with
        // it.
        any_run run(r, any_objectives(f.begin(), f.end()), vec(8, 1.0), 4);
        run.rounds(3000);
        CHECK(norm2(run.x()) < 1e-27);
    }
}
