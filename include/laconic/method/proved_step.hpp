// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string_view>

#include "laconic/core/contract.hpp"

namespace laconic {

/// A step that a theorem gives, and what it promises: in a round its V falls, in expectation, to at most `factor` times
/// itself.
struct proved_step {
    double size = 0;
    double factor = 1;  ///< 1: no rate is promised
    std::string_view theorem;

    /// The tight theorem on EF and EF21 (arXiv:2605.31594; for one rank also arXiv:2506.05271). For f_i that are all
    /// L-smooth and mu-strongly convex, 0 < mu <= L, on any number n of ranks, E|C(v) - v|^2 <= (1 - delta) |v|^2 and s
    /// = sqrt(1 - delta):
    ///     size   = 2 / (L + mu) (1 - s) / (1 + s),
    ///     factor = s + (1 - s) / 2 q (1 - s + sqrt((1 + s)^2 + 16 s L mu / (L - mu)^2)),  q = ((L - mu) / (L + mu))^2,
    /// for the V of ef21 and of ef_sgd, which those state. Where the constants of the f_i differ, L is the largest and
    /// mu the least.
    static proved_step tight(double smoothness, double strong_convexity, double delta) {
        double const sum = smoothness + strong_convexity, s = std::sqrt(1 - delta);
        double const short_of_1 = delta / (1 + s);  // 1 - s, also where delta is small
        double const root = (smoothness - strong_convexity) / sum, q = root * root;
        double const mixed = 16 * s * smoothness * strong_convexity / (sum * sum);
        double const wide = root * std::sqrt(q * (1 + s) * (1 + s) + mixed);
        return {2 / sum * short_of_1 / (1 + s), s + short_of_1 / 2 * (q * short_of_1 + wide),
                "the tight theorem on EF and EF21, arXiv:2605.31594"};
    }

    /// EF21 with compressed answers, EF21-P (Gruntkowska, Tyurin, Richtarik, ICML 2023), for any smooth f: gradients
    /// are taken at w, the iterate of the ranks, and x = w - size e is the server's, e being the residual of its
    /// answers. With the deltas of messages and answers, theta = 1 - sqrt(1 - delta), beta = (1 - delta) / theta of
    /// each, Lt = sqrt(mean L_i^2), q = (1 + sqrt(1 - delta of answers))^2 and A = 2 q beta Lt^2 / theta of messages,
    ///     size = 1 / (L + sqrt(2 (A + (beta / theta of answers) (L^2 + A)))),
    /// in a round f(x) - f* + (size / theta of messages) mean |h_i - grad f_i(w)|^2 + size ((L^2 + A) / theta of
    /// answers) |w - x|^2 falls by at least size / 2 times |grad f(x)|^2. (The constants follow from Young's
    /// inequality; the tests run it.)
    static proved_step ef21_p(double smoothness, double mean_square_smoothness, double delta, double answer_delta) {
        double const kept = std::sqrt(1 - delta), answer_kept = std::sqrt(1 - answer_delta);
        auto const beta_over_theta = [](double s) { return s * s / ((1 - s) * (1 - s)); };
        double const q = (1 + answer_kept) * (1 + answer_kept);
        double const a = 2 * q * beta_over_theta(kept) * mean_square_smoothness * mean_square_smoothness;
        double const inner = a + beta_over_theta(answer_kept) * (smoothness * smoothness + a);
        return {1 / (smoothness + std::sqrt(2 * inner)), 1, "EF21-P with EF21, Gruntkowska, Tyurin, Richtarik 2023"};
    }
};

}  // namespace laconic
