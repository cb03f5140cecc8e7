// SPDX-License-Identifier: Apache-2.0
// Softmax regression is its definition with exact derivatives, its L and mu are reached, for any number of classes.
#include "laconic/objective/softmax.hpp"

#include <thread>

#include "support/data.hpp"
#include "support/drawn.hpp"
#include "support/everything.hpp"
#include "support/toys.hpp"

static_assert(SmoothFiniteSum<softmax<>> && GeneralisedLinear<softmax<float>, float> && FusedObjective<softmax<>>);

static_assert(SmoothFiniteSum<softmax<float>, float> && FusedObjective<softmax<>> && NewtonObjective<softmax<>>);
static_assert(!HessianObjective<softmax<>>);

struct defined {
    double value;
    std::vector<double> gradient;
};

// From the definition: probabilities as they are written, and sums in any order.
defined by_definition(dataset<> const& data, double lambda, std::vector<double> const& x) {
    auto const names = classes(data);
    std::size_t const n = data.samples(), d = data.features(), k = names.size();
    defined result{0, std::vector<double>(x.size())};
    for (std::size_t j = 0; j < n; ++j) {
        std::vector<double> row(d), p(k);
        for (dataset<>::matrix::InnerIterator at(data.rows, std::ptrdiff_t(j)); at; ++at)
            row[std::size_t(at.col())] = at.value();
        double sum = 0;
        for (std::size_t c = 0; c < k; ++c) {
            for (std::size_t i = 0; i < d; ++i) p[c] += row[i] * x[i * k + c];
            p[c] = std::exp(p[c]);
            sum += p[c];
        }
        for (std::size_t c = 0; c < k; ++c) {
            bool const right = names[c] == data.labels[j];
            if (right) result.value -= std::log(p[c] / sum) / double(n);
            for (std::size_t i = 0; i < d; ++i) result.gradient[i * k + c] += row[i] * (p[c] / sum - right) / double(n);
        }
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        result.value += lambda / 2 * x[i] * x[i];
        result.gradient[i] += lambda * x[i];
    }
    return result;
}

double largest_bend(softmax<> const& f, std::vector<double> const& x) {
    return largest_eigenvalue(f.dimension(),
                              [&](std::span<double const> v, std::span<double> out) { f.hessian_times(x, v, out); });
}

TEST_CASE("softmax: by hand") {
    softmax<> const f({"toy", Eigen::MatrixXd{{1, 0}, {0, 2}}.sparseView(), {4, -1}}, 0.5);
    CHECK(f.dimension() == 4);
    CHECK(f.outputs() == 2);
    CHECK(f.classes() == std::vector<double>{-1, 4});
    CHECK(f.lambda() == 0.5);
    CHECK(f.data().name == "toy");

    // row 0 sees (log 3, 0) and its class is the second: 1/4. Row 1 sees (0, 0) and has 1/2.
    std::vector<double> const x{std::log(3.), 0, 0, 0};
    double const square = std::log(3.) * std::log(3.);
    CHECK(f.value(x) == doctest::Approx((std::log(4.) + std::log(2.)) / 2 + square / 4).epsilon(1e-15));
    std::vector<double> g(4), s(2);
    f.gradient(x, g);
    CHECK(g[0] == doctest::Approx(0.375 + std::log(3.) / 2).epsilon(1e-15));
    CHECK(g[1] == doctest::Approx(-0.375).epsilon(1e-15));
    CHECK(g[2] == doctest::Approx(-0.5).epsilon(1e-15));
    CHECK(g[3] == doctest::Approx(0.5).epsilon(1e-15));
    f.slopes(0, x, s);
    CHECK(s[0] == doctest::Approx(0.75).epsilon(1e-15));
    CHECK(s[1] == doctest::Approx(-0.75).epsilon(1e-15));
    CHECK(f.accuracy(x) == 0.5);  // row 0 is taken for the first class; row 1 is a tie, and the first class is right
    CHECK(f.accuracy(std::vector<double>{0, 1, 0, 1}) == 0.5);
    CHECK(f.accuracy(std::vector<double>{0, 1, 0, -1}) == 1);
}

TEST_CASE("softmax: as defined, for any number of classes; derivatives by differences; batches and slopes") {
    for (std::size_t k : {2, 3, 7, 16, 31}) {  // every width of a block
        CAPTURE(k);
        auto const data = drawn::data(90, 4, 0.7, k);
        REQUIRE(classes(data).size() == k);
        softmax<> const f(data, 0.03);
        auto const x = drawn::point(f.dimension(), 1), v = drawn::point(f.dimension(), 2);
        auto const expected = by_definition(data, 0.03, x);
        CHECK(f.value(x) == doctest::Approx(expected.value).epsilon(1e-13));
        auto const g = drawn::gradient(f, x);
        for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(g[i] - expected.gradient[i]) < 1e-14);
        drawn::products_are_true(f, x, v);
        if (k != 3 && k != 7) continue;
        drawn::gradient_is_true(f, x);
        drawn::batches_are_means(f, x);
        drawn::slopes_give_gradients(f, x);
    }
}

TEST_CASE("softmax: L is reached, by two classes at 0 and by more where all but two are ruled out; mu is reached") {
    softmax<> const two(drawn::data(50, 6), 0.01);
    CHECK(largest_bend(two, std::vector<double>(12)) == doctest::Approx(two.smoothness()).epsilon(1e-12));

    auto data = drawn::data(50, 6, 0.5, 4);
    for (std::ptrdiff_t j = 0; j < 50; ++j) data.rows.coeffRef(j, 0) = 1;
    softmax<> const four(data, 0.01);
    std::vector<double> x(24);
    CHECK(largest_bend(four, x) < 0.6 * four.smoothness());
    x[1] = x[3] = -800;
    CHECK(largest_bend(four, x) == doctest::Approx(four.smoothness()).epsilon(1e-12));
    for (std::uint64_t n = 0; n < 20; ++n)
        CHECK(largest_bend(four, drawn::point(24, n, 2)) <= four.smoothness() * (1 + 1e-12));

    auto v = drawn::point(24, 5), out = v;
    for (std::size_t i = 0; i < 24; ++i) v[i] = v[i / 4 * 4];  // the same for every class
    four.hessian_times(drawn::point(24, 6), v, out);
    CHECK(four.strong_convexity() == 0.01);
    for (std::size_t i = 0; i < 24; ++i) CHECK(std::abs(out[i] - 0.01 * v[i]) < 1e-14);
}

TEST_CASE("softmax: nothing overflows") {
    softmax<> const f(drawn::data(20, 3, 1, 3), 0);
    std::vector<double> g(9);
    CHECK(std::isfinite(f.value_and_gradient(drawn::point(9, 1, 1e150), g)));
    for (double gi : g) CHECK(std::isfinite(gi));
    g[4] = std::nan("");
    CHECK(std::isnan(f.value(g)));
}

TEST_CASE("softmax: two classes are the logistic regression of half the lambda") {
    auto data = test_data("heart_scale");
    if (!data) return;
    softmax<> const f(*data, 0.02);
    binary_labels(*data);
    logistic_regression<> const half(*data, 0.01);
    std::size_t const d = half.dimension();
    auto const split = [&](std::vector<double> const& w) {
        std::vector<double> x;
        for (double wi : w) x.push_back(-wi / 2), x.push_back(wi / 2);
        return x;
    };
    auto const w = drawn::point(d, 3);
    CHECK(f.value(split(w)) == doctest::Approx(half.value(w)).epsilon(1e-14));

    auto const best = find_optimum(f), expected = find_optimum(half);
    CHECK(best.gradient_norm < 1e-12);
    CHECK(best.value == doctest::Approx(expected.value).epsilon(1e-14));
    auto const x = split(expected.x);
    for (std::size_t i = 0; i < 2 * d; ++i) CHECK(std::abs(best.x[i] - x[i]) < 1e-9);
}

TEST_CASE("softmax: the gradient vanishes at the optimum of real data, by the definition" *
          doctest::test_suite("slow")) {
    for (auto const name : {"digits", "dna_scale"}) {
        auto data = test_data(name);
        if (!data) return;
        *data = data->first(500);
        softmax<> const f(*data, 0.01);
        auto const best = find_optimum(f, 1e-10);
        auto const there = by_definition(*data, 0.01, best.x);
        CAPTURE(name);
        CHECK(toys::norm2(there.gradient) < 1e-18);
        CHECK(there.value == doctest::Approx(best.value).epsilon(1e-13));
        CHECK(f.accuracy(best.x) > 0.95);
    }
}

TEST_CASE("softmax: workers that lack a class agree with the whole") {
    auto const data = drawn::data(40, 3, 0.8, 5);
    auto const names = classes(data);
    softmax<> const whole(data, 0.1);
    auto const x = drawn::point(whole.dimension(), 1);
    std::vector<double> mean(x.size());
    for (std::size_t i = 0; i < 20; ++i) {  // two rows each
        softmax<> const part(data.part(i, 20), 0.1, names);
        REQUIRE(part.dimension() == whole.dimension());
        auto const g = drawn::gradient(part, x);
        for (std::size_t c = 0; c < x.size(); ++c) mean[c] += g[c] / 20;
    }
    auto const g = drawn::gradient(whole, x);
    for (std::size_t c = 0; c < x.size(); ++c) CHECK(std::abs(g[c] - mean[c]) < 1e-14);
}

TEST_CASE("softmax: threads that work on different objectives do not disturb each other") {
    softmax<> const few(drawn::data(60, 5, 0.5, 3), 0.1), many(drawn::data(60, 5, 0.5, 20), 0.1);
    auto const x = drawn::point(15, 1), y = drawn::point(100, 2);
    auto const g = drawn::gradient(few, x), h = drawn::gradient(many, y);
    std::vector<int> wrong(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; ++i) {
                std::vector<double> a(15), b(100);
                few.gradient(x, a);
                many.gradient(y, b);
                wrong[t] += a != g || b != h;
            }
        });
    for (auto& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("softmax: single precision follows double") {
    softmax<> const exact(drawn::data(80, 6, 0.5, 5), 0.01);
    softmax<float> const f(drawn::data<float>(80, 6, 0.5, 5), 0.01);
    auto const x = drawn::point(30, 1);
    std::vector<float> const single(x.begin(), x.end());
    std::vector<double> g(30);
    std::vector<float> rough(30);
    CHECK(f.value_and_gradient(single, rough) == doctest::Approx(exact.value_and_gradient(x, g)).epsilon(1e-6));
    for (std::size_t i = 0; i < 30; ++i) CHECK(std::abs(rough[i] - g[i]) < 1e-6);
    CHECK(f.smoothness() == doctest::Approx(exact.smoothness()).epsilon(1e-6));
}

TEST_CASE("softmax: what makes no objective is refused") {
    auto const data = drawn::data(6, 2, 1, 3);
    CHECK_THROWS_AS(softmax<>(data, -1e-9), argument_error);      // linear_model.cpp has more of lambda and of data
    CHECK_THROWS_AS(softmax<>(data, 1, {0, 1}), argument_error);  // and output_loss.cpp of classes
    auto other = data;
    other.labels.pop_back();
    CHECK_THROWS_AS(softmax<>(other, 1), shape_error);
    other.labels.assign(6, 1);
    CHECK_THROWS_WITH_AS(softmax<>(other, 1), "drawn: two classes are needed, not 1", argument_error);
    dataset<> wide{"wide", {}, {0, 1}};
    wide.rows.resize(2, std::ptrdiff_t{1} << 31);
    CHECK_THROWS_WITH_AS(softmax<>(wide, 1),
                         "wide: 2147483648 features times 2 classes are more than a vector can hold", argument_error);
}
