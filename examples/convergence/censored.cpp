// SPDX-License-Identifier: Apache-2.0
// Messages that are left out where little has changed: gd_sec and lag, beside their theorems.
#include <cmath>
#include <stdexcept>

#include "laconic/method/gd_sec.hpp"
#include "laconic/method/lag.hpp"
#include "line.hpp"
#include "trial.hpp"

namespace convergence {

using namespace laconic;

namespace {

constexpr char const* censored_on_valleys = "valleys, n=4, d=10, kappa=10";

// |x^k - x^(k-1)|^2, 0 before the start.
double move(course const& at, std::size_t k) { return k == 0 ? 0 : squared_distance(at[k].x, at[k - 1].x); }

line gd_sec_bound(double beta, char const* name) {
    auto const f = valleys(4, 10, .1, 1);
    auto const& p = f.constants;
    double const q = .5, s = (1 - q) / p.smoothness, c = s * p.strong_convexity;
    double const xi = std::sqrt(q / (2 * (1 - q) * (1 - q)) / (1 / (1 - c) + 1 / ((1 - c) * (1 - c))));
    double const b2 = s * std::pow(xi * p.smoothness, 2) / (1 - c), b1 = (b2 * (1 - c) + b2) / (1 - c);
    auto const v = [&](course const& at, std::size_t k) {
        return f.gap(at[k].x) + b1 * move(at, k) + b2 * (k == 0 ? 0 : move(at, k - 1));
    };
    auto const run = measure(composed(gd_sec{xi, {.step = s, .memory = beta}}, f), f, 300, 1, v);
    return {name, "Chen et al. 2022, constants derived", censored_on_valleys, run, geometric(run.mean[0], c, 0, 300)};
}

template <class M>
line lag_bound(M const& method, std::string name) {
    auto const f = valleys(4, 10, .1, 1);
    auto const& p = f.constants;
    double const share = method.xi * 10, s = (1 - std::sqrt(share)) / p.smoothness, c = s * p.strong_convexity / 2;
    vec beta(10);
    for (std::size_t d = 10; d-- > 0;) beta[d] = (method.xi / (2 * s) + (d + 1 < 10 ? beta[d + 1] : 0)) / (1 - c);
    if (beta[0] > 1 / (2 * s) - p.smoothness / 2) throw std::logic_error("this toy is outside lag's theorem");
    auto const v = [&](course const& at, std::size_t k) {
        double sum = f.gap(at[k].x);
        for (std::size_t d = 0; d < 10 && d < k; ++d) sum += beta[d] * move(at, k - d);
        return sum;
    };
    auto const ranks = [&] {  // whose L_i differ
        std::vector<decltype(composed(method, f))> all;
        for (std::size_t i = 0; i < 4; ++i) all.push_back(method.template compose<double, host>(f.constants_of(i)));
        return all;
    }();
    auto const run = measure(ranks, f, 500, 1, v);
    return {name, "Chen et al. 2018, constants derived", censored_on_valleys, run, geometric(run.mean[0], c, 0, 500)};
}

}  // namespace

std::vector<line> gd_sec_lines(options const&) {
    return {gd_sec_bound(.01, "gd_sec(beta=0.01), safe xi"), gd_sec_bound(1, "gd_sec(beta=1), safe xi")};
}
std::vector<line> lag_lines(options const&) {
    return {lag_bound(lag_wk{.05, 10, {}}, "lag_wk(xi=0.05, D=10)"),
            lag_bound(lag_ps{.05, 10, {}}, "lag_ps(xi=0.05, D=10)")};
}

}  // namespace convergence
