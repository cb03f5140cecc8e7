// SPDX-License-Identifier: Apache-2.0
// LoCoDL falls in exact expectation as its theorem promises. methods_known.cpp has its known answers.
#include "laconic/method/locodl.hpp"

#include "support/bowl_runs.hpp"
#include "support/everything.hpp"

using bowls::vec, bowls::of_steps;

TEST_CASE("LoCoDL's shifts add up to 0, with the common one") {
    problem const p{bowls::d, bowls::ranks, 0, 0, 1.5, 0, .5};
    std::vector<decltype(locodl<bowls::cyclic>{}.compose<double, host>(p))> r;
    std::vector<bowls::bowl> f;
    for (int i = 0; i < bowls::ranks; ++i) {
        r.push_back(locodl<bowls::cyclic>{{2, i}, .5, {.step = .5}}.compose<double, host>(p));
        f.push_back({i});
    }
    std::vector<vec> y(bowls::ranks, vec(bowls::d, 1));
    for (int k = 1; k <= 200; ++k) bowls::round_by_hand(r, f, y, of_steps(2, .5, bowls::ranks));
    for (std::size_t j = 0; j < bowls::d; ++j) {
        double sum = 0;
        for (auto const& one : r) sum += one.estimator.shift()[j] + one.estimator.common_shift()[j];
        CHECK(std::abs(sum) < 1e-13);
    }
}

namespace {

constexpr std::size_t n = 2, d = 3;

// sum_j a_j x_j^2 / 2 - b_j x_j
struct quadratic {
    std::array<double, d> a, b;

    std::size_t dimension() const { return d; }
    double value(std::span<double const>) const { return 0; }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t j = 0; j < d; ++j) g[j] = a[j] * x[j] - b[j];
    }
};
// rand_k{1} whose draw is given.
struct kept {
    std::size_t place = 0;

    template <Scalar T, class B>
    using message = messages::full_vector<T, B>;
    void check(std::size_t) const {}
    void blank(auto&, std::size_t size, key, auto& m) const { messages::begin_message(m, size); }
    void operator()(auto&, auto x, key, auto& m) const {
        m.values.assign(x.size(), 0);
        m.values[place] = double(d) * x[place];
    }
    double omega(std::size_t) const { return d - 1; }
    bool operator==(kept const&) const = default;
    friend std::string to_string(kept const&) { return "kept"; }
};
std::vector<quadratic> const functions{{{4, .5, 1}, {1, -2, .5}}, {{1, 3, .75}, {-1, 1, 2}}};
constexpr double largest = 4, least = .5;

using method = locodl<kept>;
using run_of = decltype(method{}.compose<double, host>(problem{}));
struct state {
    std::vector<run_of> r;
    std::vector<vec> y;
};

// The theorem's function of x_i, y, u_i and v.
double psi(std::vector<vec> const& x, vec const& y, state const& of, double step, double p) {
    double const lambda = least / 2, omega = d - 1, chi = 1 / (1 + omega / n);
    double far = 0, shifts = 0;
    for (std::size_t j = 0; j < d; ++j) {
        double const best = (functions[0].b[j] + functions[1].b[j]) / (functions[0].a[j] + functions[1].a[j]);
        far += n * std::pow(y[j] - best, 2);
        shifts += n * std::pow(of.r[0].estimator.common_shift()[j] - lambda * best, 2);
        for (std::size_t i = 0; i < n; ++i) {
            double const u = (functions[i].a[j] - lambda) * best - functions[i].b[j];
            far += std::pow(x[i][j] - best, 2);
            shifts += std::pow(of.r[i].estimator.shift()[j] - u, 2);
        }
    }
    return far / step + step * (1 + 2 * omega) / (p * p * chi) * shifts;
}
double psi(state const& of, double step, double p) {
    std::vector<vec> x;
    for (auto const& one : of.r) x.emplace_back(one.estimator.model().begin(), one.estimator.model().end());
    return psi(x, of.y[0], of, step, p);
}
// The mean of psi after one local step, and an exchange with probability p.
double expected(state const& now, double step, double p) {
    auto const one_step = of_steps(1, p, n);
    auto silent = now;
    std::vector<vec> x(n, vec(d));
    vec y(d);
    for (std::size_t i = 0; i < n; ++i) {
        host on;
        auto& e = silent.r[i].estimator;
        e(on, functions[i], one_step(int(i)), std::span<double const>(silent.y[i]), std::span<double>(x[i]));
        for (std::size_t j = 0; j < d; ++j) {
            y[j] = now.y[i][j] * (1 - step * least / 2) + step * e.common_shift()[j];
            x[i][j] = y[j] - x[i][j];
        }
    }
    double mean = 0;
    for (std::size_t a = 0; a < d; ++a)
        for (std::size_t b = 0; b < d; ++b) {
            auto next = now;
            next.r[0].compressor.place = a, next.r[1].compressor.place = b;
            bowls::round_by_hand(next.r, functions, next.y, one_step);
            mean += psi(next, step, p) / (d * d);
        }
    return (1 - p) * psi(x, y, now, step, p) + p * mean;
}

}  // namespace

TEST_CASE("LoCoDL falls in expectation as its theorem promises, a local step at a time") {
    problem const constants{d, n, 0, 0, largest, 0, least};
    double const omega = d - 1, chi = 1 / (1 + omega / n);
    double nearest = -1;
    for (auto const& [p_or_none, share] : {std::pair{0., 1.}, {.3, .5}, {.7, .9}, {.9, .1}, {1., 1.}}) {
        double const given_p = p_or_none;  // which a lambda may capture, also with clang++ 14
        CAPTURE(given_p);
        double const step = share * 2 / largest;
        double const p = given_p > 0 ? given_p : std::sqrt((1 + omega / n) * (1 + 2 * omega) / 15);
        method m{{}, given_p, {}};
        if (share < 1) m.given.step = step;
        auto const r = m.compose<double, host>(constants);
        CHECK(to_string(r.estimator)
                  .starts_with("locodl_steps(p=" + detail::shortest(p) + ", step=" + detail::shortest(step) +
                               ", lambda=0.25, rho=0.5"));
        double const factor =
            std::max({std::pow(1 - step * least / 2, 2), std::pow(1 - step * (largest - least / 2), 2),
                      1 - p * p * chi / (1 + 2 * omega)});
        for (std::uint64_t trial = 0; trial < 40; ++trial) {
            key const from = key{3}.child(trial);
            vec start(d);
            for (std::size_t j = 0; j < d; ++j) start[j] = 8 * from.uniform(j) - 4;
            state now{{r, r}, {start, start}};
            for (std::uint64_t k = 0; k < 6; ++k) {
                now.r[0].compressor.place = from.below(10 + k, d), now.r[1].compressor.place = from.below(20 + k, d);
                bowls::round_by_hand(now.r, functions, now.y, of_steps(1, p, n));
                double const excess = expected(now, step, p) / psi(now, step, p) - factor;
                CHECK(excess <= 0);
                nearest = std::max(nearest, excess);
            }
        }
    }
    CHECK(nearest > -.02);  // so that smaller constants than the theorem's would be seen
}
