// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/key.hpp"
#include "laconic/objective/dataset.hpp"
#include "support/solvers.hpp"  // what Eigen solves is compiled once
#include "support/test.hpp"

/// Small data and points that are drawn, and what any objective's gradient and any mean over samples must be.
namespace drawn {

/// n rows of d numbers in [-2, 2), of which a share is not 0; labels 0 to classes - 1, or -1 and 1 for two classes.
template <class T = double>
laconic::dataset<T> data(std::size_t n, std::size_t d, double density = 0.5, std::size_t classes = 2,
                         std::uint64_t seed = 20) {
    laconic::key const from{seed};
    laconic::dataset<T> data{"drawn", {}, {}};
    data.rows.resize(static_cast<std::ptrdiff_t>(n), static_cast<std::ptrdiff_t>(d));
    std::uint64_t drawn = 0;
    for (std::size_t j = 0; j < n; ++j) {
        auto const label = j < classes ? j : from.child(2).below(j, classes);  // none is missing
        data.labels.push_back(classes == 2 ? T(2 * double(label) - 1) : T(label));
        for (std::size_t i = 0; i < d; ++i, ++drawn)
            if (from.uniform(drawn) < density)
                data.rows.insert(static_cast<std::ptrdiff_t>(j), static_cast<std::ptrdiff_t>(i)) =
                    T(4 * from.child(1).uniform(drawn) - 2);
    }
    return data;
}

/// d numbers in [-size, size).
template <class T = double>
std::vector<T> point(std::size_t d, std::uint64_t which, double size = 1) {
    std::vector<T> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = T(size * (2 * laconic::key{7}.child(which).uniform(i) - 1));
    return x;
}

template <class F>
std::vector<double> gradient(F const& f, std::vector<double> const& x) {
    std::vector<double> g(f.dimension(), 99);
    f.gradient(x, g);
    return g;
}

/// The gradient is that of central differences, and what is computed with it is the same.
template <class F>
void gradient_is_true(F const& f, std::vector<double> const& x, double step = 1e-5, double within = 1e-8) {
    auto const g = gradient(f, x);
    std::vector<double> again(f.dimension(), 99);
    CHECK(f.value_and_gradient(x, again) == f.value(x));
    CHECK(g == again);
    for (std::size_t i = 0; i < x.size(); ++i) {
        auto up = x, down = x;
        up[i] += step, down[i] -= step;
        CHECK(std::abs(g[i] - (f.value(up) - f.value(down)) / (2 * step)) < within);
    }
}

/// Products of the Hessian are those of central differences of the gradient.
template <class F>
void products_are_true(F const& f, std::vector<double> const& x, std::vector<double> const& v) {
    std::vector<double> product(f.dimension(), 99);
    f.hessian_times(x, v, product);
    double const step = 1e-5;
    auto up = x, down = x;
    for (std::size_t i = 0; i < x.size(); ++i) up[i] += step * v[i], down[i] -= step * v[i];
    auto const high = gradient(f, up), low = gradient(f, down);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(product[i] - (high[i] - low[i]) / (2 * step)) < 1e-8);
}

/// batch_gradient is the mean of the rows' gradients, however often they are listed, and the gradient for all rows.
template <class F>
void batches_are_means(F const& f, std::vector<double> const& x) {
    std::vector<double> batch(f.dimension(), 99), mean(f.dimension()), one(f.dimension(), 99);
    std::vector<std::uint32_t> all;
    for (std::uint32_t j = 0; j < f.samples(); ++j) all.push_back(j);
    f.batch_gradient(all, x, batch);
    CHECK(batch == gradient(f, x));

    auto const last = all.back();
    std::vector<std::uint32_t> const rows{last, 0, last, 1};
    f.batch_gradient(rows, x, batch);
    for (auto const j : rows) {
        f.batch_gradient(std::vector<std::uint32_t>{j}, x, one);
        for (std::size_t i = 0; i < x.size(); ++i) mean[i] += one[i] / 4;
    }
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(batch[i] - mean[i]) < 1e-13);
}

/// The slopes of a row, and the penalty's gradient, give the row's gradient.
template <class F>
void slopes_give_gradients(F const& f, std::vector<double> const& x) {
    std::vector<double> one(f.dimension()), rebuilt(f.dimension()), s(f.outputs());
    for (std::uint32_t j = 0; j < f.samples(); ++j) {
        f.batch_gradient(std::vector<std::uint32_t>{j}, x, one);
        rebuilt.assign(f.dimension(), 0.5);
        f.slopes(j, x, s);
        f.add_row(j, s, 0.75, rebuilt);
        f.add_row(j, s, 0.25, rebuilt);
        f.add_penalty_gradient(x, rebuilt);
        for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(rebuilt[i] - 0.5 - one[i]) < 1e-13);
    }
}

}  // namespace drawn
