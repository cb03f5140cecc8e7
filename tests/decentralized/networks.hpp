// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/objective/optimum.hpp"
#include "laconic/objective/regression.hpp"
#include "laconic/session_loop.hpp"
#include "support/data.hpp"
#include "support/det6.hpp"
#include "support/toys.hpp"

// Workers whose optima are known, and runs that show all of them after each round.
namespace networks {

using laconic::dataset;
using laconic::ridge;
using toys::vec;

/// Workers, their number of rows each (the papers' f_n are `rows` times ours), and the optimum of their mean.
template <class F>
struct workers {
    std::vector<F> f;
    double rows = 0;
    toys::vec best;
    double least = 0;  ///< sum_n f_n(best), in the papers' units

    /// sum_n f_n(x_n) in the papers' units.
    double sum(std::vector<vec> const& x) const {
        double all = 0;
        for (std::size_t n = 0; n < f.size(); ++n) all += rows * f[n].value(x[n]);
        return all;
    }
    double largest_error(std::vector<vec> const& x) const {
        double most = 0;
        for (auto const& each : x)
            for (std::size_t j = 0; j < each.size(); ++j) {
                double const off = std::abs(each[j] - best[j]);
                most = off <= most ? most : off;  // NaN counts
            }
        return most;
    }
};

/// The ridge regressions of contiguous parts of `rows` rows each, without a penalty.
inline workers<ridge<>> least_squares(dataset<double> const& data, std::size_t rows) {
    workers<ridge<>> w{{}, static_cast<double>(rows), {}, 0};
    std::size_t const n = data.samples() / rows;
    for (std::size_t i = 0; i < n; ++i) w.f.emplace_back(data.slice(i * rows, (i + 1) * rows, "part"), 0);
    w.best = laconic::find_optimum(ridge<>(data.first(n * rows), 0), 0).x;
    w.least = w.sum(std::vector<vec>(n, w.best));
    return w;
}
/// f_n = (theta - a_n)^2 / 2.
inline workers<ridge<>> scalars(vec const& a) {
    dataset<double> data{"scalars", dataset<double>::matrix(static_cast<std::ptrdiff_t>(a.size()), 1), a};
    for (std::ptrdiff_t j = 0; j < data.rows.rows(); ++j) data.rows.insert(j, 0) = 1;
    data.rows.makeCompressed();
    return least_squares(data, 1);
}
/// DET6: six workers with 8 rows of 4 numbers each.
inline workers<ridge<>> six_workers() { return least_squares(det6::data(), det6::rows); }
/// Body Fat: ten workers with 25 rows each; nothing where there are no data.
inline std::optional<workers<ridge<>>> body_fat() {
    auto const data = test_data("bodyfat");
    if (!data) return std::nullopt;
    return least_squares(*data, 25);
}

inline vec gradient_of(ridge<> const& f, vec const& x) {
    vec g(x.size());
    f.gradient(x, g);
    return g;
}
// An objective that fails on some rank in its `when`-th solve.
struct fails {
    ridge<> f;
    int when = -1;
    bool throws = false;
    mutable int calls = 0;

    static constexpr bool constant_hessian = true;
    std::size_t dimension() const { return f.dimension(); }
    double value(std::span<double const> x) const { return f.value(x); }
    void hessian(std::span<double const> x, Eigen::MatrixXd& h) const { f.hessian(x, h); }
    void gradient(std::span<double const> x, std::span<double> g) const {
        f.gradient(x, g);
        if (calls++ != when) return;
        if (throws) throw laconic::error("no gradient today");
        g[2] = std::numeric_limits<double>::infinity();
    }
};

/// What all ranks hold after a round, rank by rank.
template <class T>
struct state_of_all {
    std::vector<std::vector<T>> x, dual, known;
    std::vector<laconic::traffic> sent;
    std::vector<std::uint64_t> bytes;  ///< that metered has counted as sent
    std::vector<double> primal, residual, rho;

    laconic::traffic all_sent() const {
        laconic::traffic sum;
        for (auto const& one : sent) {
            sum.transmissions += one.transmissions, sum.bits += one.bits, sum.refresh_bits += one.refresh_bits;
            sum.slot_count = one.slot_count, sum.refreshes = one.refreshes;
        }
        return sum;
    }
};

/// Runs a method, on threads or another engine, from x = 0 and calls watch(k, state) after the k-th round, until it
/// returns true or `most` rounds are over. Returns the rounds, or -1 in the latter case.
template <class T = double, class Engine = laconic::threads, class M, class F, class Watch>
int run_until(M const& method, std::vector<F> const& f, int most, Watch watch, std::uint64_t seed = 1) {
    auto const n = f.size();
    state_of_all<T> all{std::vector<std::vector<T>>(n),
                        std::vector<std::vector<T>>(n),
                        std::vector<std::vector<T>>(n),
                        std::vector<laconic::traffic>(n),
                        std::vector<std::uint64_t>(n),
                        vec(n),
                        vec(n),
                        vec(n)};
    int rounds = -1;
    bool done = false;
    Engine::run(static_cast<int>(n),
                [&](typename Engine::member& engine) {
                    auto const i = static_cast<std::size_t>(engine.rank());
                    laconic::metered comm(engine);
                    std::vector<T> x(f[i].dimension());
                    auto run = method.template start<T>(laconic::problem{}, f[i], comm, std::span<T>(x), seed);
                    auto const before = comm.bytes_sent();
                    for (int k = 1; k <= most; ++k) {
                        run.round();
                        all.x[i] = x;
                        if constexpr (requires { run.dual(); }) {
                            all.dual[i] = toys::copied(run.dual());
                            all.primal[i] = run.primal_residual(), all.residual[i] = run.dual_residual();
                            all.rho[i] = run.rho();
                        }
                        if constexpr (requires { run.known(); }) all.known[i] = toys::copied(run.known());
                        all.sent[i] = run.sent();
                        all.bytes[i] = comm.bytes_sent() - before;
                        engine.all_gather({});
                        if (i == 0 && watch(k, std::as_const(all))) rounds = k, done = true;
                        engine.all_gather({});
                        if (done) break;
                    }
                },
                {});
    return rounds;
}

/// The round in which the papers' |sum_n f_n(q_n) - f*| is first below 1e-4.
template <class Engine = laconic::threads, class M, class F>
int rounds_to_value(M const& method, workers<F> const& w, int most, std::uint64_t seed = 1) {
    return run_until<double, Engine>(
        method, w.f, most, [&](int, auto const& now) { return std::abs(w.sum(now.known) - w.least) < 1e-4; }, seed);
}

}  // namespace networks
