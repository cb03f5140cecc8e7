// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "laconic/adapt/lag.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

namespace detail {

template <Scalar T, class B>
recursion<threshold<>, memory<T, B>, gradient_step, lag<T, B>> compose_lag(double xi, std::size_t d, double smoothness,
                                                                           overrides const& given, problem const& p,
                                                                           std::string const& method) {
    refuse_memory(given, method.c_str());
    if (given.batch > 0)
        throw argument_error(
            concat({method, ": it compares full gradients; batch = ", given.batch, " cannot be given"}));
    if (!(xi >= 0 && std::isfinite(xi)))
        throw argument_error(concat({method, ": xi = ", xi, " is not a number of at least 0"}));
    if (d < 1 || d > 1000000) throw argument_error(concat({method, ": D = ", d, " is outside 1 .. 10^6"}));
    double const step = step_or(given, p, method.c_str(), [&] {
        double const share = xi * static_cast<double>(d);
        if (share >= 1)
            throw theory_error(
                concat({method, ": D xi = ", share, " is not below 1, where its theorem ends; give the step"}));
        return (1 - std::sqrt(share)) / known(p.smoothness, "the smoothness L", method.c_str());
    });
    return {{}, {1, 0}, gradient_step{step}, lag<T, B>(xi, d, step, smoothness)};
}

}  // namespace detail

/// LAG-WK, lazily aggregated gradients by the workers' rule (Chen, Giannakis, Sun, Yin, NeurIPS 2018): a rank sends the
/// difference of its gradient to the last one that it sent only where
///     |difference|^2 > (xi / step^2) sum of the last D squared moves of x;
/// otherwise the last one is used again. The paper minimises the sum of M functions; here f is their mean, and its step
/// alpha is this step / M, its alpha^2 M^2 this step^2; xi is the same. With D xi < 1 and step = (1 - sqrt(D xi)) / L,
///     f - f* + sum_d beta_d |x^(k+1-d) - x^(k-d)|^2,   beta_D = xi / (2 step) / (1 - c),
///     beta_d = (xi / (2 step) + beta_(d+1)) / (1 - c),   c = step mu / 2,
/// falls by the factor 1 - c a round where beta_1 <= 1 / (2 step) - L / 2. No theorem covers the step 1/L and xi = 1/D
/// of the paper's experiments: give that step yourself.
struct lag_wk {
    double xi = 0.05;
    std::size_t D = 10;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_lag<T, B>(xi, D, 0, given, p, "lag_wk");
    }

    bool operator==(lag_wk const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("lag_wk", "g full, C all or nothing by the change of g, alpha 1",
                 "Chen, Giannakis, Sun, Yin, NeurIPS 2018", field("xi", &lag_wk::xi).written().by_name(),
                 field("D", &lag_wk::D).between(1, 1e6).written().by_name(), detail::step_field);
    }
};

}  // namespace laconic
