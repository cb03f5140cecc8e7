// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "laconic/core/key.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/estimate/estimator.hpp"
#include "laconic/objective/dataset.hpp"
#include "laconic/objective/regression.hpp"
#include "support/solvers.hpp"  // what Eigen solves is compiled once
#include "support/states.hpp"
#include "support/test.hpp"

// Small means over samples, and everything that a stochastic estimator may draw from them.
namespace samples {

using vec = std::vector<double>;

/// m rows of d numbers in (-1, 1), a third of them 0; labels 0, 1, .., classes - 1 in turn.
inline laconic::dataset<> rows(std::size_t m, std::size_t d, std::uint64_t seed, std::size_t classes) {
    laconic::dataset<> data{"toy", {}, {}};
    data.rows.resize(static_cast<std::ptrdiff_t>(m), static_cast<std::ptrdiff_t>(d));
    for (std::size_t j = 0; j < m; ++j) {
        for (std::size_t i = 0; i < d; ++i)
            if (double const u = laconic::key{seed}.child(j).uniform(i); 3 * u > 1 || i == j % d)
                data.rows.insert(static_cast<std::ptrdiff_t>(j), static_cast<std::ptrdiff_t>(i)) = 3 * u - 2;
        data.labels.push_back(static_cast<double>(j % classes));
    }
    data.rows.makeCompressed();
    return data;
}

inline laconic::logistic_regression<> logistic_of(std::size_t m, std::size_t d, std::uint64_t seed,
                                                  double lambda = 0.1) {
    auto data = rows(m, d, seed, 2);
    for (double& label : data.labels) label = 2 * label - 1;
    return {std::move(data), lambda};
}

/// A point with numbers in (-1, 1).
inline vec point(std::size_t d, std::uint64_t seed) {
    vec x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = 2 * laconic::key{seed}.uniform(i) - 1;
    return x;
}

template <class F>
vec gradient_of(F const& f, vec const& x) {
    vec g(x.size());
    f.gradient(std::span<double const>(x), std::span<double>(g));
    return g;
}
/// The gradient of the function of one sample.
template <class F>
vec gradient_of_row(F const& f, std::uint32_t j, vec const& x) {
    vec g(x.size());
    f.batch_gradient(std::span(&j, 1), std::span<double const>(x), std::span<double>(g));
    return g;
}

/// One round_context for each list of `size` rows out of m that mini_batch, l_svrg and saga may draw; all are as
/// likely.
inline std::vector<laconic::round_context> all_draws(std::size_t m, std::size_t size) {
    std::size_t lists = 1;
    for (std::size_t t = 0; t < size; ++t) lists *= m;
    std::map<std::vector<std::uint32_t>, laconic::round_context> found;
    std::vector<std::uint32_t> drawn;
    for (std::uint64_t seed = 0; found.size() < lists; ++seed) {
        auto const now = laconic::round_context::of({seed}, 1, 0, 1);
        laconic::detail::draw_rows(now.gradient, m, size, drawn);
        found.emplace(drawn, now);
    }
    std::vector<laconic::round_context> all;
    for (auto const& entry : found) all.push_back(entry.second);
    return all;
}

/// What an estimator gives at x on that round_context; it may be asked again.
template <class E, class F>
vec estimated(E& e, F const& f, laconic::round_context const& now, vec const& x) {
    laconic::host on;
    vec g(x.size());
    e(on, f, now, std::span<double const>(x), std::span<double>(g));
    return g;
}
/// The same, and the round then ends with y as the next iterate.
template <class E, class F>
vec round_of(E& e, F const& f, laconic::round_context const& now, vec const& x, vec const& y) {
    auto const g = estimated(e, f, now, x);
    laconic::host on;
    e.update(on, std::span<double const>(y));
    return g;
}

/// The mean and the variance E|g - mean|^2 of what an estimator gives at x, over the occasions.
struct moments {
    vec mean;
    double variance = 0;

    template <class E, class F>
    moments(E& e, F const& f, std::vector<laconic::round_context> const& all, vec const& x) : mean(x.size()) {
        auto const share = 1 / static_cast<double>(all.size());
        double squares = 0;
        for (auto const& now : all) {
            auto const g = estimated(e, f, now, x);
            for (std::size_t i = 0; i < g.size(); ++i) {
                mean[i] += share * g[i];
                squares += share * g[i] * g[i];
            }
        }
        variance = squares;
        for (double const v : mean) variance -= v * v;
    }
};

/// max |a_i - b_i|.
inline double distance(std::span<double const> a, std::span<double const> b) {
    double most = a.size() == b.size() ? 0 : 1e300;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
    return most;
}

/// An estimator goes on as another whose state it has, and as a new one from a state before the first round; with one
/// sample it is the full gradient. Of the fresh estimators `e` and `alone`, the former draws from rows of f.
template <class E, class F, class One>
void has_a_state_and_is_exact(E e, F const& f, E alone, One const& one) {
    using laconic::round_context;
    auto const fresh = e;
    auto other = e;
    auto const round = [&](E& which, std::uint64_t k) {
        return round_of(which, f, round_context::of({2}, k, 0, 1), point(3, k), point(3, k + 1));
    };
    for (std::uint64_t k = 0; k < 5; ++k) round(e, k);
    restore_from(e, other);
    for (std::uint64_t k = 5; k < 10; ++k) CHECK(round(other, k) == round(e, k));
    restore_from(fresh, other);
    CHECK(round_of(other, f, round_context{}, point(3, 0), point(3, 1)) == gradient_of(f, point(3, 0)));
    for (std::uint64_t k = 0; k < 10; ++k) {
        auto const now = round_context::of({1}, k, 0, 1);
        CHECK(distance(round_of(alone, one, now, point(3, k), point(3, k + 1)), gradient_of(one, point(3, k))) < 1e-15);
    }
}

}  // namespace samples
