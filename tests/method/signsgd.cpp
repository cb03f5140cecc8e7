// SPDX-License-Identifier: Apache-2.0
// signSGD fails on its three counter-examples, where error feedback does not.
#include "laconic/method/signsgd.hpp"

#include "support/everything.hpp"
#include "support/sums.hpp"
#include "support/tasks.hpp"

using namespace toys;

// The projection onto [-1, 1]^d.
struct box {
    template <class B, Scalar T>
    void operator()(B&, double, std::span<T> x) const {
        for (T& v : x) v = std::clamp(v, T(-1), T(1));
    }
    friend std::string to_string(box) { return "box"; }
};

// The mean of two slopes in one dimension and more: f(x) = mean_j a_j . x.
struct slopes {
    std::vector<vec> rows;
    std::size_t dimension() const { return rows[0].size(); }
    std::size_t samples() const { return rows.size(); }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (auto const& a : rows) sum += dot(a, x) / double(rows.size());
        return sum;
    }
    void gradient(std::span<double const>, std::span<double> g) const {
        auto const m = mean_of(rows);
        std::copy(m.begin(), m.end(), g.begin());
    }
    void batch_gradient(std::span<std::uint32_t const> of, std::span<double const>, std::span<double> g) const {
        std::fill(g.begin(), g.end(), 0);
        for (auto const j : of)
            for (std::size_t i = 0; i < g.size(); ++i) g[i] += rows[j][i] / double(of.size());
    }
};

// e |x_1 + x_2| + |x_1 - x_2|, with one of its subgradients.
struct narrow {
    double e = .5;
    std::size_t dimension() const { return 2; }
    double value(std::span<double const> x) const { return e * std::abs(x[0] + x[1]) + std::abs(x[0] - x[1]); }
    void gradient(std::span<double const> x, std::span<double> g) const {
        double const along = x[0] + x[1] < 0 ? -e : e, across = x[0] - x[1] < 0 ? -1 : 1;
        g[0] = along + across;
        g[1] = along - across;
    }
};

// The gradient of round k times 0.1 / sqrt(k + 1): a learning rate that is inside the memory.
struct learning_rate {
    template <class B, class F, Scalar T>
    std::optional<double> operator()(B& on, F const& f, round_context const& now, std::span<T const> x,
                                     std::span<T> g) const {
        f.gradient(x, g);
        multiply(on, .1 / std::sqrt(double(now.round + 1)), g);
        return std::nullopt;
    }
    template <class B, Scalar T>
    void update(B&, std::span<T const>) const {}
};
// x <- x - 0.1 / sqrt(k) d in the k-th step.
struct shrinking_step {
    double taken = 0;
    template <class B, Scalar T>
    void operator()(B& on, std::span<T> x, std::span<T> d) {
        add_scaled(on, -.1 / std::sqrt(++taken), std::span<T const>(d), x);
    }
};

// Karimireddy, Rebjock, Stich, Jaggi (ICML 2019), the three counter-examples.
TEST_CASE("CE1: signs of noise point uphill, where errors that are kept find the way down") {
    any_objectives const f{slopes{{{4}, {-1}, {-1}, {-1}}}};  // on [-1, 1], f = x / 4
    auto signs = named("signsgd(step=0.01, batch=1)", {}),
         corrected = named("ef_sgd(scaled_sign, step=0.01, batch=1)", {});
    signs.step = proximal<gradient_step, box>{{.01}, {}, .01};
    corrected.step = proximal<gradient_step, box>{{1}, {}, .01};
    any_run up(signs, f, {0}, 1), down(corrected, f, {0}, 1);
    double top = 0, bottom = 0;
    for (int k = 0; k < 4000; ++k) {
        up.round();
        down.round();
        if (k >= 2000) {
            top += up.x()[0] / 2000;
            bottom += down.x()[0] / 2000;
        }
    }
    CHECK(top > .95);
    CHECK(bottom < -.85);
}

TEST_CASE("CE2: on a narrow valley the signs never leave x_1 + x_2 = 2") {
    any_objectives const f{narrow{}};
    auto signs = named("signsgd(step=1)", {}), corrected = named("ef_sgd(scaled_sign, step=1)", {});
    signs.step = shrinking_step{};
    corrected.estimator = learning_rate{};
    any_run stuck(signs, f, {1, 1}, 1), free(corrected, f, {1, 1}, 1);
    double least = 1e300;
    for (int k = 0; k < 200; ++k) {
        stuck.round();
        least = std::min(least, f[0].value(stuck.x()));
        CHECK(stuck.x()[0] + stuck.x()[1] == doctest::Approx(2).epsilon(1e-12));
    }
    CHECK(least >= 1);
    CHECK(least == doctest::Approx(1.00324).epsilon(1e-5));
    free.rounds(2000);
    CHECK(f[0].value(free.x()) < 5e-3);
}

TEST_CASE("CE3: least squares of two rows; signs never get below 8 e^2, the others go to 0") {
    double const e = .5;
    std::vector<quadratic<>> rows;
    for (double const side : {1., -1.}) {
        Eigen::Vector2d const a(side + e, -side + e);
        rows.push_back({4 * a * a.transpose(), Eigen::Vector2d::Zero(), 0});  // the mean of two is f
    }
    any_objectives const f{mean_of_rows(rows)};
    any_run stuck(named("signsgd(step=0.01, batch=1)", {}), f, {1, 1}, 1);
    any_run free(named("ef_sgd(scaled_sign, step=0.05, batch=1)", {}), f, {1, 1}, 1);
    any_run usual(named("sgd(step=0.05)", {}), f, {1, 1}, 1);
    for (int k = 0; k < 3000; ++k) {
        stuck.round();
        CHECK(f[0].value(stuck.x()) >= 8 * e * e - 1e-9);
    }
    free.rounds(3000);
    usual.rounds(3000);
    CHECK(f[0].value(free.x()) < 1e-40);
    CHECK(f[0].value(usual.x()) < 1e-40);
}
