// SPDX-License-Identifier: Apache-2.0
// Toy problems: sums of squares whose constants and optimum are known in closed form.
#include "toy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace convergence {

double squared(std::span<double const> x) {
    double sum = 0;
    for (double const v : x) sum += v * v;
    return sum;
}
double squared_distance(std::span<double const> x, std::span<double const> y) {
    double sum = 0;
    for (std::size_t c = 0; c < x.size(); ++c) sum += (x[c] - y[c]) * (x[c] - y[c]);
    return sum;
}

worker::worker(std::vector<bowl> rows)
    : rows_(std::move(rows)), curvature_(rows_.at(0).curvature.size()), pull_(curvature_.size()) {
    for (auto const& row : rows_)
        for (std::size_t c = 0; c < curvature_.size(); ++c) {
            curvature_[c] += row.curvature[c] / static_cast<double>(rows_.size());
            pull_[c] += row.curvature[c] * row.centre[c] / static_cast<double>(rows_.size());
        }
}

double worker::value(std::span<double const> x) const {
    double sum = 0;
    for (auto const& row : rows_)
        for (std::size_t c = 0; c < x.size(); ++c)
            sum += row.curvature[c] * (x[c] - row.centre[c]) * (x[c] - row.centre[c]) / 2;
    return sum / static_cast<double>(rows_.size());
}

void worker::gradient(std::span<double const> x, std::span<double> g) const {
    for (std::size_t c = 0; c < x.size(); ++c) g[c] = curvature_[c] * x[c] - pull_[c];
}

void worker::hessian_times(std::span<double const>, std::span<double const> v, std::span<double> out) const {
    for (std::size_t c = 0; c < v.size(); ++c) out[c] = curvature_[c] * v[c];
}

void worker::batch_gradient(std::span<std::uint32_t const> rows, std::span<double const> x, std::span<double> g) const {
    std::fill(g.begin(), g.end(), 0.0);
    for (auto const j : rows)
        for (std::size_t c = 0; c < x.size(); ++c)
            g[c] += rows_[j].curvature[c] * (x[c] - rows_[j].centre[c]) / static_cast<double>(rows.size());
}

toy::toy(std::vector<worker> all, vec from)
    : workers(std::move(all)), start(std::move(from)), optimum(start.size()), curvature(start.size()) {
    auto const n = size();
    for (auto const& w : workers)
        for (std::size_t c = 0; c < start.size(); ++c) {
            curvature[c] += w.curvature()[c] / n;
            optimum[c] += w.pull()[c] / n;
        }
    for (std::size_t c = 0; c < start.size(); ++c) optimum[c] /= curvature[c];

    auto const [least, most] = std::minmax_element(curvature.begin(), curvature.end());
    constants.dimension = start.size();
    constants.workers = static_cast<int>(workers.size());
    constants.smoothness = *most;
    constants.strong_convexity = constants.least_strong_convexity = *least;
    for (std::size_t i = 0; i < workers.size(); ++i) {
        auto const& w = workers[i];
        auto const [its_least, its_most] = std::minmax_element(w.curvature().begin(), w.curvature().end());
        constants.least_strong_convexity = std::min(constants.least_strong_convexity, *its_least);
        constants.largest_smoothness = std::max(constants.largest_smoothness, *its_most);
        constants.mean_square_smoothness += *its_most * *its_most / n;
        constants.samples = std::max(constants.samples, w.samples());
        for (auto const& row : w.rows())
            constants.largest_sample_smoothness = std::max(
                constants.largest_sample_smoothness, *std::max_element(row.curvature.begin(), row.curvature.end()));
        gradients.emplace_back(start.size());
        w.gradient(optimum, gradients.back());
        heterogeneity += squared(gradients.back()) / n;
    }
    constants.mean_square_smoothness = std::sqrt(constants.mean_square_smoothness);
}

double toy::gap(std::span<double const> x) const {
    double sum = 0;
    for (std::size_t c = 0; c < x.size(); ++c) sum += curvature[c] * (x[c] - optimum[c]) * (x[c] - optimum[c]) / 2;
    return sum;
}

double toy::memory_error(std::vector<vec> const& known) const {
    double sum = 0;
    for (std::size_t i = 0; i < known.size(); ++i) sum += squared_distance(known[i], gradients[i]) / size();
    return sum;
}

laconic::problem toy::constants_of(std::size_t i) const {
    auto p = constants;
    p.own_smoothness = *std::max_element(workers[i].curvature().begin(), workers[i].curvature().end());
    return p;
}

toy spheres(int n, std::size_t d, double spread, double start) { return layered(n, d, 1, spread, start); }

toy layered(int n, std::size_t d, std::size_t m, double spread, double start) {
    std::vector<worker> all;
    for (int i = 0; i < n; ++i) {
        std::vector<bowl> rows;
        for (std::size_t j = 1; j <= m; ++j)
            rows.push_back(
                {vec(d, static_cast<double>(j) / static_cast<double>(m)), vec(d, i % 2 == 0 ? spread : -spread)});
        all.emplace_back(std::move(rows));
    }
    return {std::move(all), vec(d, start)};
}

toy valleys(int n, std::size_t d, double mu, double spread, std::size_t rows) {
    std::vector<worker> all;
    for (int i = 0; i < n; ++i) {
        vec curvature(d), centre(d);
        for (std::size_t c = 0; c < d; ++c) {
            auto const place = static_cast<double>((c + static_cast<std::size_t>(i)) % d);
            // A share of one order that all have, so that f itself is no sphere.
            double const own = std::pow(mu, place / static_cast<double>(d - 1));
            double const common = std::pow(mu, static_cast<double>(c) / static_cast<double>(d - 1));
            curvature[c] = (own + 3 * common) / 4;
            centre[c] = std::cos(static_cast<double>(c)) + spread * std::sin(static_cast<double>(7 * i) + place);
        }
        std::vector<bowl> its;
        for (std::size_t j = 1; j <= rows; ++j) {
            its.push_back({curvature, centre});
            for (double& h : its.back().curvature) h *= static_cast<double>(j) / static_cast<double>(rows);
            for (double& a : its.back().centre)  // rows that differ at the optimum where workers do
                a += spread * (static_cast<double>(j) - static_cast<double>(rows + 1) / 2) / static_cast<double>(rows);
        }
        all.emplace_back(std::move(its));
    }
    return {std::move(all), vec(d, 0.0)};
}

}  // namespace convergence
