// SPDX-License-Identifier: Apache-2.0
// One include of laconic.hpp is all that two ranks need to reach the optimum of their mean.
#include "laconic/laconic.hpp"

#include "support/everything.hpp"

static_assert(version[0] == 0 && version[1] >= 1 && version[2] >= 0);

TEST_CASE("everything in one include: two ranks, one line each") {
    struct bowl {
        double centre;
        std::size_t dimension() const { return 3; }
        double value(std::span<double const> x) const {
            double sum = 0;
            for (double const v : x) sum += (v - centre) * (v - centre) / 2;
            return sum;
        }
        void gradient(std::span<double const> x, std::span<double> g) const {
            for (std::size_t j = 0; j < 3; ++j) g[j] = x[j] - centre;
        }
        double smoothness() const { return 1; }
        double strong_convexity() const { return 1; }
    };
    std::vector<Eigen::VectorXd> x(2, Eigen::VectorXd::Zero(3));
    threads::run(2, [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        descend(ef21{top_k{1}}, bowl{me == 0 ? 1. : 3.}, x[me], comm, {.rounds = 600});
    });
    CHECK(x[0] == x[1]);
    for (double const v : x[0]) CHECK(v == doctest::Approx(2).epsilon(1e-10));
}
