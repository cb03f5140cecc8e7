// SPDX-License-Identifier: Apache-2.0
// DIANA's expectations are those of exact recursions that other programs computed.
#include "laconic/method/diana.hpp"

#include "support/everything.hpp"
#include "support/tasks.hpp"

using namespace laconic;

using namespace toys;

workers pulling_apart(int n, std::size_t d) {
    std::vector<vec> centres;
    for (int i = 0; i < n; ++i) centres.emplace_back(d, n == 1 ? 0 : i % 2 == 0 ? 1.0 : -1.0);
    return around(centres);
}

// For f_i = |x - b_i|^2 / 2, sum b_i = 0, a round maps (E|x|^2, E mean |h_i - h_i*|^2, E<x, mean (h_i - h_i*)>)
// linearly. The matrix, from what the library does at three states.
Eigen::Matrix3d round_matrix(int n, std::size_t d, double alpha, double step) {
    auto const f = pulling_apart(n, d);
    known_optimum const best(f);
    Eigen::Matrix3d from, to;
    for (Eigen::Index s = 0; s < 3; ++s) {
        vec x(d);
        for (std::size_t j = 0; j < d; ++j) x[j] = s == 2 ? 0 : key{5}.child(std::uint64_t(s)).uniform(j);
        std::vector<vec> known = best.gradients;
        double apart = 0, cross = 0;
        for (std::size_t i = 0; i < known.size(); ++i)
            for (std::size_t j = 0; j < d; ++j) {
                double const off = s == 0 ? 0 : key{6}.child(i).uniform(j) - .3;
                known[i][j] += off;
                apart += off * off / n;
                cross += off * x[j] / n;
            }
        expected_round const next(rand_k{1}, alpha, step, f, x, known, best);
        from.col(s) << norm2(x), apart, cross;
        to.col(s) << next.x, next.h, next.cross;
    }
    return to * from.inverse();
}

// |M^k|^(1/k) for k = 2^50. (Eigen's solver would take longer to compile than all the rest of this file.)
double spectral_radius(Eigen::Matrix3d m) {
    double log_radius = 0;
    for (int squarings = 0; squarings <= 50; ++squarings) {
        double const size = m.norm();
        log_radius += std::ldexp(std::log(size), -squarings);
        m /= size;
        m = (m * m).eval();
    }
    return std::exp(log_radius);
}

logistic_regression<> one_row(double sign, double lambda) {
    dataset<> data;
    data.name = "one row";
    data.rows.resize(1, 8);
    for (int j = 0; j < 8; ++j) data.rows.insert(0, j) = sign * (j + 1) / 8.;
    data.labels = {1};
    return {std::move(data), lambda};
}

TEST_CASE("the exact recursion of the expectations, to all printed digits") {
    struct line {
        double alpha, step, x1, x2, x10, x50, x100, h10, factor;
    };
    for (auto const& known :
         {line{.1, .05, 9.1375, 8.3460859375, 4.00624921636, .113850046587, .00199722541618, 7.6219765535, .9234085737},
          line{.05, .05, 9.1375, 8.3473515625, 4.02344667122, .125848252177, .00413116349698, 6.15850699539,
               .9339833053},
          line{.1, .1, 8.55, 7.322625, 2.35902052456, .084068650488, .00189271103547, 6.67446590137, .9267949344}}) {
        CAPTURE(known.alpha);
        CAPTURE(known.step);
        auto const m = round_matrix(4, 10, known.alpha, known.step);
        Eigen::Vector3d state(10, 10, 0);
        std::vector<Eigen::Vector3d> after{state};
        for (int k = 0; k < 100; ++k) after.push_back(m * after.back());
        CHECK(after[1][0] == doctest::Approx(known.x1).epsilon(1e-10));
        CHECK(after[2][0] == doctest::Approx(known.x2).epsilon(1e-10));
        CHECK(after[10][0] == doctest::Approx(known.x10).epsilon(1e-10));
        CHECK(after[50][0] == doctest::Approx(known.x50).epsilon(1e-10));
        CHECK(after[100][0] == doctest::Approx(known.x100).epsilon(1e-10));
        CHECK(after[10][1] == doctest::Approx(known.h10).epsilon(1e-10));
        CHECK(spectral_radius(m) == doctest::Approx(known.factor).epsilon(1e-9));
    }
}

TEST_CASE("asymptotic factors for other numbers of workers and coordinates, all below the theorem's") {
    struct line {
        int n;
        std::size_t d;
        double factor;
    };
    for (auto const& known : {line{1, 2, .74700095}, line{2, 2, .65230265}, line{2, 4, .83928204},
                              line{10, 10, .91471917}, line{10, 100, .99143985}}) {
        double const omega = double(known.d) - 1, alpha = 1 / (1 + omega);
        double const step = std::min(alpha / 2, 1 / (1 + 6 * omega / known.n));
        double const factor = spectral_radius(round_matrix(known.n, known.d, alpha, step));
        CHECK(factor == doctest::Approx(known.factor).epsilon(1e-7));
        CHECK(factor < 1 - step);
    }
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
