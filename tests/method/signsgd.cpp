// SPDX-License-Identifier: Apache-2.0
// signSGD keeps its theorem for one worker, fails on its three counter-examples, and sends a bit a number.
#include "laconic/method/signsgd.hpp"

#include "laconic/comm/metered.hpp"
#include "laconic/compress/scaled_sign.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/method/sgd.hpp"
#include "laconic/method/with_prox.hpp"
#include "support/real_data.hpp"
#include "support/sums.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<signsgd>);

namespace {

auto signs_with(double step, std::size_t batch = 0) {
    return signsgd{{.step = step, .batch = batch}}.compose<double, host>(problem{});
}
auto corrected(double step, std::size_t batch = 0) {
    return ef_sgd{scaled_sign{}, {.step = step, .batch = batch}}.compose<double, host>(problem{});
}

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

}  // namespace

TEST_CASE("a bit a number up, a bit down, and the majority decides; ties and zeros count as positive") {
    auto const f =
        around({{1, 5, 0, 2}, {1, -2, 0, -2}, {-4, -1, 0, 2}, {-1, -1, 0, -2}});  // the gradients: minus these
    std::vector<vec> x(4, vec(4, 0.0));
    std::vector<std::uint64_t> sent(4), received(4), broadcast(4);
    threads::run(4, [&](threads::member& comm) {
        auto const i = static_cast<std::size_t>(comm.rank());
        metered wire(comm);
        descend(signs_with(.25), f[i], x[i], wire, {.rounds = 1});
        sent[i] = wire.bytes_sent();
        received[i] = wire.bytes_received();
        broadcast[i] = wire.bytes_broadcast();
    });
    // Votes on the gradient: (- - + +), (- + + +), (+ + + +) for zeros, (- + - +).
    for (auto const& each : x) CHECK(each == vec{-.25, -.25, -.25, -.25});

    vec y(1000, 0.0);
    workers many;
    for (int i = 0; i < 3; ++i) many.push_back({Eigen::MatrixXd::Identity(1000, 1000), Eigen::VectorXd::Ones(1000), 0});
    std::vector<std::uint64_t> up(3), down(3);
    threads::run(3, [&](threads::member& comm) {
        auto const i = static_cast<std::size_t>(comm.rank());
        metered wire(comm);
        auto mine = y;
        descent run(signs_with(.25), many[i], wire, std::span(mine), 1);
        auto const before_up = wire.bytes_sent(), before_down = wire.bytes_received() + wire.bytes_broadcast();
        run.round();
        up[i] = wire.bytes_sent() - before_up;
        down[i] = wire.bytes_received() + wire.bytes_broadcast() - before_down;
        CHECK(mine == vec(1000, .25));
    });
    CHECK(up == std::vector<std::uint64_t>(3, 125));
    CHECK(down == std::vector<std::uint64_t>(3, 125));
}

namespace {

// The mean 1-norm of the gradient over the theorem's bound, with its best step, of one worker.
template <class F>
double share_of_bound(F const& f, double smoothness, double least, vec const& start, double rounds) {
    double const gap = f.value(start) - least, d = double(start.size());
    double const step = std::sqrt(2 * gap / (d * smoothness * rounds));
    std::vector<F> const alone{f};
    lockstep run(signs_with(step), alone, start, 1);
    double mean = 0;
    for (int k = 0; k < int(rounds); ++k) {
        auto const g = gradients(alone, run.x());
        for (double const v : g[0]) mean += std::abs(v) / rounds;
        run.round();
    }
    double const bound = gap / (step * rounds) + step * d * smoothness / 2;
    CHECK(bound == doctest::Approx(std::sqrt(2 * gap * d * smoothness / rounds)));
    return mean / bound;
}

}  // namespace

TEST_CASE("one worker: the mean 1-norm of the gradient is within the theorem, with its best step") {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        auto const f = random_ridges(1, 6, 1, seed);
        double const share = share_of_bound(f[0], constants(f).smoothness, known_optimum(f).value, vec(6, 2.0), 400);
        CHECK(share <= 1);
        CHECK(share > .05);
    }
}

TEST_CASE("real data, one worker: the same") {
    auto const real = real_data(1);
    if (!real) return;
    for (double const rounds : {30., 1000.}) {
        double const share = share_of_bound(real->f[0], real->p.smoothness, real->best.value, vec(13, 0.0), rounds);
        CHECK(share <= 1);
        CHECK(share > .05);
    }
}

// Karimireddy, Rebjock, Stich, Jaggi (ICML 2019), the three counter-examples.
TEST_CASE("CE1: signs of noise point uphill, where errors that are kept find the way down") {
    std::vector const f{slopes{{{4}, {-1}, {-1}, {-1}}}};  // on [-1, 1], f = x / 4
    lockstep up(with_prox(signs_with(.01, 1), box{}), f, {0}, 1);
    lockstep down(with_prox(corrected(.01, 1), box{}), f, {0}, 1);
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
    std::vector const f{narrow{}};
    lockstep stuck(signs_with(1).with_step(shrinking_step{}), f, {1, 1}, 1);
    double least = 1e300;
    for (int k = 0; k < 200; ++k) {
        stuck.round();
        least = std::min(least, f[0].value(stuck.x()));
        CHECK(stuck.x()[0] + stuck.x()[1] == doctest::Approx(2).epsilon(1e-12));
    }
    CHECK(least >= 1);
    CHECK(least == doctest::Approx(1.00324).epsilon(1e-5));
    lockstep free(corrected(1).with_estimator(learning_rate{}), f, {1, 1}, 1);
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
    std::vector const f{mean_of_rows(rows)};
    lockstep stuck(signs_with(.01, 1), f, {1, 1}, 1);
    lockstep free(corrected(.05, 1), f, {1, 1}, 1);
    lockstep usual(sgd{{.step = .05}}.compose<double, host>({}), f, {1, 1}, 1);
    for (int k = 0; k < 3000; ++k) {
        stuck.round();
        CHECK(f[0].value(stuck.x()) >= 8 * e * e - 1e-9);
    }
    free.rounds(3000);
    usual.rounds(3000);
    CHECK(f[0].value(free.x()) < 1e-40);
    CHECK(f[0].value(usual.x()) < 1e-40);
}

TEST_CASE("its step must be given, and wrong ones are refused") {
    CHECK_THROWS_WITH_AS((signsgd{}.compose<double, host>(problem{8, 5, 4, .5, 7, 6})),
                         doctest::Contains("signsgd: its step depends on how long it runs; give the step yourself"),
                         theory_error);
    CHECK(signsgd{{.step = step_size{1, true}}}.compose<double, host>(problem{8, 5, 4, .5, 7, 6}).step.rate == .25);
    CHECK_THROWS_AS((signsgd{{.step = -1.}}.compose<double, host>(problem{})), argument_error);
    CHECK_THROWS_AS((signsgd{{.step = 1., .memory = .5}}.compose<double, host>(problem{})), argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(signsgd{}) == "signsgd");
    CHECK(to_string(signsgd{{.step = .01, .batch = 8}}) == "signsgd(step=0.01, batch=8)");
}
