// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>

#include "laconic/compress/threshold.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

/// Lazily aggregated gradients, by the workers' rule and by the server's.
namespace laconic {

/// LAG by the server's rule or by the workers': lag_ps and lag_wk.
template <bool by_server>
struct lag_rule {
    double xi = 0.05;
    std::size_t D = 10;
    overrides given{};

    template <Scalar T, class B>
    recursion<threshold<>, memory<T, B>, gradient_step, lag<T, B>> compose(problem const& p) const {
        detail::theory const of(*this, p);
        if (by_server && !(p.own_smoothness > 0 && std::isfinite(p.own_smoothness)))
            throw of.lacks(
                {"its rule needs L_i, the smoothness of this rank's own f_i, which is not known; give it as "
                 "own_smoothness in the problem, or take lag_wk, which needs none"});
        double const step = of.step([&] {
            double const share = xi * static_cast<double>(D);
            if (share >= 1)
                throw of.lacks({"D xi = ", share, " is not below 1, where its theorem ends; give the step"});
            return (1 - std::sqrt(share)) / of.smoothness();
        });
        return {{}, {1, 0}, gradient_step{step}, lag<T, B>(xi, D, step, by_server ? p.own_smoothness : 0)};
    }
    bool operator==(lag_rule const&) const = default;
    static constexpr void description(auto&& describe) {
        describe(by_server ? "lag_ps" : "lag_wk",
                 by_server ? "g full, C all or nothing by how far x moved, alpha 1"
                           : "g full, C all or nothing by the change of g, alpha 1",
                 "Chen, Giannakis, Sun, Yin, NeurIPS 2018", detail::xi_field,
                 field("D", &lag_rule::D).between(1, 1e6).written().by_name(), detail::step_field);
    }
};

/// LAG-WK, lazily aggregated gradients by the workers' rule (Chen, Giannakis, Sun, Yin, NeurIPS 2018): a rank sends the
/// difference of its gradient to the last one that it sent only where
///     |difference|^2 > (xi / step^2) sum of the last D squared moves of x;
/// otherwise the last one is used again. The paper minimises the sum of M functions; here f is their mean, and its step
/// alpha is this step / M, its alpha^2 M^2 this step^2; xi is the same. With D xi < 1 and step = (1 - sqrt(D xi)) / L,
///     f - f* + sum_d beta_d |x^(k+1-d) - x^(k-d)|^2,   beta_D = xi / (2 step) / (1 - c),
///     beta_d = (xi / (2 step) + beta_(d+1)) / (1 - c),   c = step mu / 2,
/// falls by the factor 1 - c a round where beta_1 <= 1 / (2 step) - L / 2. No theorem covers the step 1/L and xi = 1/D
/// of the paper's experiments: give that step yourself.
using lag_wk = lag_rule<false>;

/// LAG-PS, lazily aggregated gradients by the server's rule (Chen, Giannakis, Sun, Yin, NeurIPS 2018): rank i sends
/// where
///     L_i^2 |x - the x at which it sent last|^2 > (xi / step^2) sum of the last D squared moves of x,
/// which follows from the iterates, without the gradient. It implies lag_wk's rule, so that lag_wk's theorem and step
/// hold. L_i is the problem's own_smoothness, in which the ranks may differ; it is needed even where the step is given.
/// A larger number is valid too and costs messages: with max L_i on all ranks they all send in the same rounds. Here
/// every rank receives all messages and computes its gradient in every round: the rule saves messages only.
using lag_ps = lag_rule<true>;

}  // namespace laconic
