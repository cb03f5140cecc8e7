// SPDX-License-Identifier: Apache-2.0
// A network of any depth is its definition with the gradient of differences; without a hidden layer it is linear, with
// one it is the perceptron.
#include "laconic/objective/neural_network.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"

using regression = neural_network<squared_output<>>;
using classification = neural_network<class_output<>, double, activation::tanh>;
static_assert(FiniteSum<regression> && FusedObjective<regression> && !SmoothObjective<regression>);

template <class F>
concept classifies = requires(F const& f, std::vector<double> const& x) {
    f.accuracy(x);
};
static_assert(classifies<classification> && !classifies<regression>);

// The outputs of row j, one number at a time.
std::vector<double> outputs(auto const& f, std::vector<double> const& x, std::size_t j, bool relu) {
    std::vector<double> h(f.features());
    for (std::size_t i = 0; i < h.size(); ++i) h[i] = f.data().rows.coeff(std::ptrdiff_t(j), std::ptrdiff_t(i));
    for (std::size_t l = 0; l < f.matrices().size(); ++l) {
        auto const m = f.matrices()[l];
        std::vector<double> next(m.rows);
        for (std::size_t u = 0; u < m.rows; ++u) {
            next[u] = x[m.offset + m.size() + u];
            for (std::size_t i = 0; i < m.columns; ++i) next[u] += x[m.at(u, i)] * h[i];
            if (l + 1 < f.matrices().size()) next[u] = relu ? std::max(next[u], 0.) : std::tanh(next[u]);
        }
        h = next;
    }
    return h;
}

void value_is_as_defined(auto const& f, std::vector<double> const& x, bool relu) {
    double sum = 0, square = 0;
    std::vector<double> z(f.samples() * f.outputs());
    f.predict(x, z);
    for (std::size_t j = 0; j < f.samples(); ++j) {
        auto row = outputs(f, x, j, relu);
        for (std::size_t c = 0; c < row.size(); ++c)
            CHECK(z[j * row.size() + c] == doctest::Approx(row[c]).epsilon(1e-12));
        sum += f.loss().loss(std::span<double>(row), j);
    }
    for (auto const m : f.matrices())
        for (std::size_t i = 0; i < m.size(); ++i) square += x[m.offset + i] * x[m.offset + i];
    CHECK(f.value(x) == doctest::Approx(sum / double(f.samples()) + f.lambda() / 2 * square).epsilon(1e-13));
}

void is_as_defined(auto const& f, bool relu) {
    auto const x = drawn::point(f.dimension(), 1);
    value_is_as_defined(f, x, relu);
    drawn::gradient_is_true(f, x, 1e-6, 1e-6);
    drawn::batches_are_means(f, x);
}

TEST_CASE(
    "neural_network: as defined and with the gradient of differences, without and with up to three hidden layers") {
    auto const data = drawn::data(70, 4, 0.7, 3);
    for (std::vector<std::size_t> const& hidden : std::vector<std::vector<std::size_t>>{{}, {5}, {3, 6}, {4, 2, 3}}) {
        regression const f(data, hidden, squared_output<>(data), 0.02);
        CHECK(f.depth() == hidden.size());
        CHECK(f.outputs() == 1);
        is_as_defined(f, true);
        is_as_defined(classification(data, hidden, class_output<>(data)), false);
    }
    CHECK(regression(data, {4, 2, 3}, squared_output<>(data)).dimension() == 4 * 5 + 2 * 5 + 3 * 3 + 1 * 4);
}

TEST_CASE("neural_network: matrices larger than what is multiplied at once; the Hessian is symmetric") {
    auto const data = drawn::data(3, 300, 0.3, 2);
    classification const f(data, {70}, class_output<>(data), 0.01);
    auto const x = drawn::point(f.dimension(), 2, 0.1), v = drawn::point(f.dimension(), 3),
               w = drawn::point(f.dimension(), 4);
    value_is_as_defined(f, x, false);
    auto up = x, down = x;
    for (std::size_t i = 0; i < x.size(); ++i) up[i] += 1e-6 * v[i], down[i] -= 1e-6 * v[i];
    auto const inner = [](auto const& a, auto const& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.);
    };
    CHECK(inner(drawn::gradient(f, x), v) == doctest::Approx((f.value(up) - f.value(down)) / 2e-6).epsilon(1e-7));
    std::vector<double> of_v(f.dimension()), of_w(f.dimension());
    f.hessian_times(x, v, of_v);
    f.hessian_times(x, w, of_w);
    CHECK(inner(w, of_v) == doctest::Approx(inner(v, of_w)).epsilon(1e-12));
    drawn::products_are_true(f, x, drawn::point(f.dimension(), 3, 0.1));
}

TEST_CASE("neural_network: with one hidden layer it has the perceptron's bits") {
    auto const data = drawn::data(70, 4, 0.7, 3);
    neural_network<class_output<>> const f(data, {5}, class_output<>(data), 0.01);
    perceptron<> const known(data, 5, 0.01);
    auto const x = f.initial_point(key{3});
    CHECK(x == known.initial_point(key{3}));
    CHECK(f.value(x) == known.value(x));
    CHECK(f.accuracy(x) == known.accuracy(x));
    CHECK(drawn::gradient(f, x) == drawn::gradient(known, x));
}

TEST_CASE("neural_network: the start has the ranges that are named, and biases 0") {
    auto const data = drawn::data(4, 100, 0.5, 3);
    neural_network<class_output<>> const f(data, {40, 30}, class_output<>(data));
    for (auto const bound : {activation::relu::first_weight, activation::tanh::first_weight}) {
        auto const x = f.initial_point(key{1}, bound);
        CHECK(x == f.initial_point(key{1}, bound));
        for (std::size_t l = 0; l < 3; ++l) {
            auto const m = f.matrices()[l];
            double const largest = l < 2 ? bound(double(m.columns), double(m.rows)) : std::sqrt(6 / 33.);
            double most = 0, square = 0;
            for (std::size_t i = 0; i < m.size(); ++i) {
                most = std::max(most, std::abs(x[m.offset + i]));
                square += std::pow(x[m.offset + i], 2) / double(m.size());
            }
            CHECK(most <= largest);
            CHECK(most > 0.9 * largest);
            CHECK(square == doctest::Approx(largest * largest / 3).epsilon(4 / std::sqrt(double(m.size()))).scale(0));
            for (std::size_t i = 0; i < m.rows; ++i) CHECK(x[m.offset + m.size() + i] == 0);
        }
    }
    CHECK(f.initial_point(key{1}) == f.initial_point(key{1}, activation::relu::first_weight));
    CHECK(f.initial_point(key{1}) != f.initial_point(key{2}));
}

TEST_CASE("neural_network: what makes none is refused") {
    auto const data = drawn::data(6, 2, 1, 3);
    squared_output<> const loss(data);
    CHECK_THROWS_AS(regression(data, {2}, loss, -1), argument_error);
    CHECK_THROWS_WITH_AS(regression(data, {2, 0}, loss), "drawn: a layer without units", argument_error);
    for (std::size_t const units : {std::size_t{1} << 31, std::numeric_limits<std::size_t>::max()})
        CHECK_THROWS_AS(regression(data, {units}, loss), argument_error);
    // 2^32 - 1 numbers at most: units (2 + 1 + 1) + 1
    CHECK(regression(data, {1073741823}, loss).dimension() == 4294967293);
    CHECK_THROWS_AS(regression(data, {1073741824}, loss), argument_error);
    CHECK_THROWS_AS(regression(data, {1 << 16, 1 << 16}, loss), argument_error);
    CHECK_THROWS_WITH_AS(regression(data.first(5), {2}, loss), "drawn: 5 rows, but a loss of 6", shape_error);
    CHECK_THROWS_AS(regression(dataset<>{}, {2}, squared_output<>(dataset<>{})), argument_error);
}

TEST_CASE("network: products with the Hessian are differences of gradients, for any number of layers") {
    for (std::size_t depth = 0; depth < 4; ++depth) {
        CAPTURE(depth);
        auto const data = drawn::data(70, 3, 1, 3);
        std::vector<std::size_t> const hidden(depth, 4);
        classification const classes(data, hidden, class_output<>(data), 0.01);
        drawn::products_are_true(classes, drawn::point(classes.dimension(), 1),
                                 drawn::point(classes.dimension(), 2, 0.1));
        neural_network<class_output<>> const bent(data, hidden, class_output<>(data), 0.01);
        drawn::products_are_true(bent, drawn::point(bent.dimension(), 1), drawn::point(bent.dimension(), 5, 0.1));
        neural_network<squared_output<>, double, activation::tanh> const squares(data, hidden, squared_output<>(data));
        drawn::products_are_true(squares, drawn::point(squares.dimension(), 1),
                                 drawn::point(squares.dimension(), 2, 0.1));
    }
}
