// SPDX-License-Identifier: Apache-2.0
// Sums over rows by the columns that hold a number have the bits of those by rows, and leave all other numbers alone.
#include "laconic/objective/used_columns.hpp"

#include <bit>

#include "laconic/objective/regression.hpp"
#include "support/everything.hpp"

// Drawn rows of about five numbers each, in every third column at most; the first row and the last have none.
template <class T>
dataset<T> few_columns(std::size_t n, std::size_t d) {
    key const from{7};
    auto const each = [&](std::size_t j, auto put) {
        if (j == 0 || j + 1 == n) return;
        for (std::size_t i = 0; i < d; i += 3)
            if (from.child(j).below(i, d) < 15) put(std::ptrdiff_t(i), T(from.child(j).uniform(d + i) - .5));
    };
    dataset<T> data{"few", laconic::detail::rows_of<T>(n, d, 0, each), std::vector<T>(n, T(1))};
    for (std::size_t j = 0; j < n; j += 2) data.labels[j] = -1;
    return data;
}

template <class T>
std::vector<T> drawn_numbers(std::size_t d, std::uint64_t seed) {
    std::vector<T> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = T(key{seed}.uniform(i) - .5);
    return x;
}

TEST_CASE_TEMPLATE("used_columns: the sum of the rows, each with its weight, bit for bit", T, float, double) {
    shared_rows<T> const rows(few_columns<T>(40, 300));
    auto const x = drawn_numbers<T>(300, 1);
    auto g = drawn_numbers<T>(300, 2), expected = g;
    auto const weight = [](std::size_t j, double z) { return z * z + double(j); };
    for (std::size_t j = 0; j < rows.size(); ++j)
        rows[j].add_to(std::span(expected), weight(j, rows[j].dot(std::span<T const>(x))));
    laconic::detail::used_columns<T>(rows).add_rows(rows, x, std::span(g), weight);
    CHECK(g == expected);
    auto const before = drawn_numbers<T>(300, 2);
    CHECK(g[1] == before[1]);
    CHECK(g != before);
}

TEST_CASE_TEMPLATE("a linear model of many features: a batch of all rows has the gradient's bits", T, float, double) {
    std::size_t const n = 20;
    for (std::size_t const d : {std::size_t{1} << 16, (std::size_t{1} << 16) - 1}) {
        logistic_regression<T> const f(few_columns<T>(n, d), 0.3);
        auto const x = drawn_numbers<T>(d, 3);
        std::vector<T> g(d), of_all(d), fused(d);
        f.gradient(x, g);
        std::vector<std::uint32_t> rows(n);
        for (std::uint32_t j = 0; j < n; ++j) rows[j] = j;
        f.batch_gradient(rows, x, of_all);
        CHECK(g == of_all);
        CHECK(f.value_and_gradient(x, fused) == f.value(x));
        CHECK(g == fused);
        // By the definition, where a column has numbers and where it has none.
        std::vector<double> expected(d);
        for (std::size_t i = 0; i < d; ++i) expected[i] = 0.3 * double(x[i]);
        auto const& data = f.data();
        for (std::ptrdiff_t j = 0; j < std::ptrdiff_t(n); ++j) {
            double z = 0;
            for (typename dataset<T>::matrix::InnerIterator at(data.rows, j); at; ++at)
                z += double(at.value()) * double(x[std::size_t(at.col())]);
            double const y = double(data.labels[std::size_t(j)]), slope = -y / (1 + std::exp(y * z));
            for (typename dataset<T>::matrix::InnerIterator at(data.rows, j); at; ++at)
                expected[std::size_t(at.col())] += slope * double(at.value()) / double(n);
        }
        double worst = 0;
        for (std::size_t i = 0; i < d; ++i) worst = std::max(worst, std::abs(double(g[i]) - expected[i]));
        CHECK(worst < 4 * std::numeric_limits<T>::epsilon());
        // The same for a product with the Hessian, by differences of the gradient.
        if constexpr (std::same_as<T, double>) {
            auto const v = drawn_numbers<T>(d, 4);
            auto ahead = x, behind = x;
            for (std::size_t i = 0; i < d; ++i) ahead[i] += 1e-4 * v[i], behind[i] -= 1e-4 * v[i];
            f.gradient(ahead, fused), f.gradient(behind, of_all), f.hessian_times(x, v, g);
            for (std::size_t i = 0; i < d; i += 3) CHECK(std::abs((fused[i] - of_all[i]) / 2e-4 - g[i]) < 1e-8);
        }
    }
}
