// SPDX-License-Identifier: Apache-2.0
// AdaNet: the weights of its networks minimise F.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "laconic/comm/fibers.hpp"
#include "laconic/ensemble/adanet.hpp"
#include "line.hpp"

namespace convergence {

using namespace laconic;

namespace {

// Rows of one number x, with their labels.
dataset<> rows_of(vec const& x, vec const& labels) {
    dataset<> data{"rows", dataset<>::matrix(static_cast<std::ptrdiff_t>(x.size()), 1), labels};
    for (std::size_t i = 0; i < x.size(); ++i) data.rows.insert(static_cast<std::ptrdiff_t>(i), 0) = x[i];
    data.rows.makeCompressed();
    return data;
}

// F after each round, of three ranks, starting at mean y^2, the F of no members; see(members) after each.
template <class See>
vec run(adanet const& how, dataset<> const& data, std::size_t rounds, See see) {
    vec f{squared(data.labels) / static_cast<double>(data.samples())};
    fibers::run(3, [&](fibers::member& comm) {
        auto ensemble = how.start(data, squared_output<>(data), comm, 1);
        for (std::size_t k = 0; k < rounds; ++k) {
            ensemble.round();
            if (comm.rank() > 0) continue;
            f.push_back(ensemble.look().value());
            see(ensemble.look().members);
        }
    });
    return f;
}

// The least F = |Zw - y|^2 / m + sum Gamma_j |w_j|: of a sign for each weight, or 0, it has a closed form, and the
// least of all 3^n is F's.
double least_f(Eigen::MatrixXd const& z, Eigen::VectorXd const& y, Eigen::VectorXd const& gamma) {
    auto const n = z.cols();
    auto const m = static_cast<double>(z.rows());
    double least = std::numeric_limits<double>::infinity();
    for (int code = 0, codes = static_cast<int>(std::lround(std::pow(3, n))); code < codes; ++code) {
        Eigen::MatrixXd h = z.transpose() * z / m;
        Eigen::VectorXd b = z.transpose() * y / m;
        for (auto [j, left] = std::pair{Eigen::Index{0}, code}; j < n; ++j, left /= 3) {
            b[j] -= (left % 3 - 1) * gamma[j] / 2;
            if (left % 3 == 1) h.row(j).setZero(), h.col(j).setZero(), h(j, j) = 1, b[j] = 0;
        }
        Eigen::VectorXd const w = h.fullPivLu().solve(b);
        least = std::min(least, (z * w - y).squaredNorm() / m + gamma.dot(w.cwiseAbs()));
    }
    return least;
}

line weights_exact() {
    vec x, y;
    for (int i = -10; i <= 10; ++i) x.push_back(i / 5.), y.push_back(std::cos(i / 2.) + i / 10.);
    adanet how;
    how.width = 4, how.steps = 300, how.batch = 8, how.rate = .01, how.lambda = .02, how.beta = .01, how.retry = true;
    auto const rows = static_cast<Eigen::Index>(x.size());
    vec exact{squared(y) / static_cast<double>(rows)};
    vec const f = run(how, rows_of(x, y), 5, [&](auto const& members) {
        Eigen::MatrixXd z(rows, static_cast<Eigen::Index>(members.size()));
        Eigen::VectorXd gamma(z.cols());
        for (Eigen::Index j = 0; j < z.cols(); ++j) {
            auto const& its = members[static_cast<std::size_t>(j)];
            z.col(j) = Eigen::Map<Eigen::VectorXd const>(its.outputs.data(), rows);
            gamma[j] = .02 * std::sqrt(static_cast<double>(its.depth)) + .01;
        }
        exact.push_back(least_f(z, Eigen::Map<Eigen::VectorXd const>(y.data(), rows), gamma));
    });
    return {"adanet(lambda=0.02, beta=0.01)",
            "the least F of its members",
            "21 rows of a curve",
            {f, vec(f.size())},
            exact,
            true};
}

// Without training and biases the outputs of a ReLU network for rows of one number x are a x where x > 0 and b x where
// not, a = b without hidden layers. So the linear candidate's F in the first round is that of the best line, and two
// members whose outputs are not proportional, as for this seed, have the F of the best line with a bend at 0.
line bends() {
    vec const x{-2, -1, -.5, .5, 1, 1.5, 2}, y{-1.5, -1.25, 0, 1, 1.5, 2.5, 4};
    auto const fall = [&](auto const& counts) {  // of the mean square, by the best a
        double xx = 0, xy = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (counts(x[i])) xx += x[i] * x[i], xy += x[i] * y[i];
        return xy * xy / xx / static_cast<double>(x.size());
    };
    adanet how;
    how.width = 4, how.steps = 0;
    vec const f = run(how, rows_of(x, y), 3, [](auto const&) {});
    double const line_fall = fall([](double) { return true; });
    double const bent = fall([](double at) { return at > 0; }) + fall([](double at) { return at < 0; });
    return {"adanet(steps=0)",
            "least squares of its outputs",
            "7 rows, a line and a bend",
            {f, vec(f.size())},
            {f[0], f[0] - line_fall, f[0] - bent, f[0] - bent}};
}

}  // namespace

std::vector<line> ensemble_lines(options const&) { return {weights_exact(), bends()}; }

}  // namespace convergence
