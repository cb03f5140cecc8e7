// SPDX-License-Identifier: Apache-2.0
#include "problem.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "laconic/objective/optimum.hpp"
#include "laconic/objective/regression.hpp"
#include "laconic/objective/linear_model.hpp"
#include "laconic/objective/softmax.hpp"
#include "laconic/objective/weighted.hpp"

namespace race {
namespace {

/// make(rows) is the objective of some rows; best(f) is where f + R is least.
template <class Make, class Best>
contest cut(laconic::dataset<double> const& data, int workers, double l1_weight, Make make, Best best) {
    contest c;
    auto const n = static_cast<std::size_t>(workers);
    auto const whole = make(data);
    c.samples = data.samples();
    if (l1_weight > 0) c.prox = {l1_weight, 0};

    auto& p = c.constants;
    p.dimension = whole.dimension();
    p.workers = workers;
    p.smoothness = whole.smoothness();
    p.strong_convexity = whole.strong_convexity();
    bool const equal = data.samples() % n == 0;
    for (std::size_t i = 0; i < n; ++i) {
        auto part = make(data.part(i, n));
        // Of parts that differ by a row, each counts by its rows, so that f is the mean over all rows.
        double const weight = equal ? 1 : static_cast<double>(part.samples() * n) / static_cast<double>(c.samples);
        double const smoothness = weight * part.smoothness(), convexity = weight * part.strong_convexity();
        p.least_strong_convexity = i == 0 ? convexity : std::min(p.least_strong_convexity, convexity);
        p.largest_smoothness = std::max(p.largest_smoothness, smoothness);
        p.mean_square_smoothness += smoothness * smoothness / workers;
        p.largest_sample_smoothness = std::max(p.largest_sample_smoothness, weight * part.sample_smoothness());
        p.samples = std::max(p.samples, part.samples());
        laconic::any_objective<> const own(std::move(part));
        c.workers.push_back(equal ? own : laconic::any_objective<>(laconic::weighted(own, weight)));
    }
    p.mean_square_smoothness = std::sqrt(p.mean_square_smoothness);

    c.convex = p.strong_convexity >= 0;
    if (c.convex) {
        auto const least = best(whole);
        c.f_star = least.value;
        double sum = 0;
        for (auto const& f : c.workers) sum += f.value(least.x);
        c.least_mean = sum * (1.0 / workers) + c.prox.value(std::span<double const>(least.x));
    }
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
