// SPDX-License-Identifier: Apache-2.0
#include "race_problem.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "laconic/objective/composite_optimum.hpp"
#include "laconic/objective/logistic_regression.hpp"
#include "laconic/objective/optimum.hpp"
#include "laconic/objective/penalty.hpp"
#include "laconic/objective/ridge.hpp"
#include "laconic/objective/softmax.hpp"

namespace race {
namespace {

/// make(rows) is the objective of some rows; best(f) is where f + R is least.
template <class Make, class Best>
contest cut(laconic::dataset<double> const& data, int workers, double l1_weight, Make make, Best best) {
    contest c;
    auto const n = static_cast<std::size_t>(workers);
    std::vector<decltype(make(data))> parts;
    // Equal parts, so that all methods minimise the mean over the same rows; what is left over is dropped.
    auto const equal = data.samples() % n == 0 || data.samples() < n ? data : data.first(data.samples() / n * n);
    for (std::size_t i = 0; i < n; ++i) parts.push_back(make(equal.part(i, n)));
    c.samples_per_worker = parts[0].samples();
    c.samples = n * c.samples_per_worker;
    auto const whole = make(data.first(c.samples));
    if (l1_weight > 0) c.prox = {l1_weight, 0};

    auto& p = c.constants;
    p.dimension = whole.dimension();
    p.workers = workers;
    p.smoothness = whole.smoothness();
    p.strong_convexity = whole.strong_convexity();
    p.least_strong_convexity = parts[0].strong_convexity();
    p.samples = c.samples_per_worker;
    for (auto const& f : parts) {
        p.least_strong_convexity = std::min(p.least_strong_convexity, f.strong_convexity());
        p.largest_smoothness = std::max(p.largest_smoothness, f.smoothness());
        p.mean_square_smoothness += f.smoothness() * f.smoothness() / workers;
        p.largest_sample_smoothness = std::max(p.largest_sample_smoothness, f.sample_smoothness());
    }
    p.mean_square_smoothness = std::sqrt(p.mean_square_smoothness);

    c.convex = p.strong_convexity >= 0;
    if (c.convex) {
        auto const least = best(whole);
        c.f_star = least.value;
        double sum = 0;
        for (auto const& f : parts) sum += f.value(least.x);
        c.least_mean = sum * (1.0 / workers) + c.prox.value(std::span<double const>(least.x));
    }
    c.workers.assign(parts.begin(), parts.end());
    return c;
}

}  // namespace

laconic::problem contest::constants_of(int worker) const {
    auto p = constants;
    p.own_smoothness = workers[static_cast<std::size_t>(worker)].smoothness();
    return p;
}

contest prepare(laconic::dataset<double> data, std::string const& objective, double lambda, int workers) {
    using namespace laconic;
    using nonconvex = linear_model<logistic_loss, double, bounded_penalty>;
    auto const newton = [](auto const& f) { return find_optimum(f); };
    if (objective == "ridge")
        return cut(
            data, workers, 0, [&](dataset<double> rows) { return ridge<>(std::move(rows), lambda); }, newton);
    if (objective == "lasso")
        return cut(
            data, workers, lambda, [](dataset<double> rows) { return ridge<>(std::move(rows), 0); },
            [&](auto const& f) { return find_composite_optimum(f, lambda); });
    if (objective == "softmax") {
        auto const labels = classes(data);
        return cut(
            data, workers, 0, [&](dataset<double> rows) { return softmax<>(std::move(rows), lambda, labels); }, newton);
    }
    binary_labels(data);
    if (objective == "nonconvex-logistic")
        return cut(
            data, workers, 0, [&](dataset<double> rows) { return nonconvex(std::move(rows), lambda); }, newton);
    return cut(
        data, workers, 0, [&](dataset<double> rows) { return logistic_regression<>(std::move(rows), lambda); }, newton);
}

}  // namespace race
