// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include "decentralized/networks.hpp"
#include "laconic/core/key.hpp"
#include "support/data.hpp"
#include "support/toys.hpp"

// The problems 1.9(b) and 1.9(d): least squares that are stretched along one direction
// for each rank.
namespace networks {

inline double inner(std::span<double const> a, std::span<double const> b) {
    double sum = 0;
    for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
    return sum;
}

// f(x) = |X x - y|^2 / 2 with X = I + c q q', |q| = 1.
struct stretched {
    static constexpr bool constant_hessian = true;
    vec q, y;
    double c;
    double along_y = inner(q, y);  // q'y

    std::size_t dimension() const { return y.size(); }
    double value(std::span<double const> x) const {
        double square = 0, along = 0;
        for (std::size_t j = 0; j < x.size(); ++j) {
            double const off = x[j] - y[j];
            square += off * off;
            along += q[j] * x[j];
        }
        return (square + c * along * (2 * (along - along_y) + c * along)) / 2;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        double const along = inner(q, x), by = c * (2 * along - along_y + c * along);
        for (std::size_t j = 0; j < g.size(); ++j) g[j] = x[j] - y[j] + by * q[j];
    }
    void hessian(std::span<double const>, Eigen::MatrixXd& h) const {
        auto const d = static_cast<Eigen::Index>(y.size());
        h = Eigen::MatrixXd::Identity(d, d) + (2 * c + c * c) * toys::eigen(q) * toys::eigen(q).transpose();
    }
    double smoothness() const { return (1 + c) * (1 + c); }
};
// n ranks, of which rank i has c = 1.3^i, orthogonal directions that are drawn, and as y the first 50 labels of Body
// Fat.
inline std::optional<workers<stretched>> stretched_network(std::size_t n, std::uint64_t seed) {
    auto const data = test_data("bodyfat");
    if (!data) return std::nullopt;
    vec const y(data->labels.begin(), data->labels.begin() + 50);
    workers<stretched> w{{}, 1, vec(50), 0};
    for (std::size_t i = 0; i < n; ++i) {
        laconic::key const from = laconic::key{seed}.child(i);
        vec q(50);
        for (std::size_t j = 0; j < 50; ++j)
            q[j] = std::sqrt(-2 * std::log1p(-from.uniform(2 * j))) *
                   std::cos(2 * std::numbers::pi * from.uniform(2 * j + 1));
        for (int twice = 0; twice < 2; ++twice)
            for (auto const& before : w.f) {
                double const along = inner(before.q, q);
                for (std::size_t j = 0; j < 50; ++j) q[j] -= along * before.q[j];
            }
        double const length = std::sqrt(inner(q, q));
        for (double& v : q) v /= length;
        w.f.push_back({q, y, std::pow(1.3, i)});
    }
    // Along q_n the others, whose c does not matter there, want x = y, and rank n wants (1 + c) x = y; off all q_n all
    // want x = y.
    w.best = y;
    for (auto const& [q, same, c, from] : w.f) {
        double const k = static_cast<double>(n) - 1;
        double const to = from * (k + 1 + c) / (k + (1 + c) * (1 + c));
        for (std::size_t j = 0; j < 50; ++j) w.best[j] += (to - from) * q[j];
    }
    w.least = w.sum(std::vector<vec>(n, w.best));
    return w;
}

}  // namespace networks
