// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "laconic/estimate/estimator.hpp"

namespace laconic {

/// The unit of a limit on a gradient.
enum class clip_at {
    norm,        ///< |g| is at most the limit: the whole is scaled down (Deep Gradient Compression)
    deviations,  ///< |g_i| is at most limit x the standard deviation of g's numbers (TernGrad)
};

/// The estimate of another estimator, clipped; limit = 0 means no limit. It is biased wherever it clips. Numbers that
/// are not finite stay so, and then nothing is clipped. The norm and the deviation may have any size: sums and squares
/// do not leave their range. Where all numbers are equal, or there is one alone, the deviation is 0 and they become 0.
template <class E = mini_batch>
struct clipped {
    E of{};
    double limit = 0;
    clip_at unit = clip_at::norm;

    template <class B, class F, Scalar T>
    std::optional<double> operator()(B& on, F const& f, round_context const& now, std::span<T const> x,
                                     std::span<T> g) {
        auto const value = of(on, f, now, x, g);
        if (!(limit > 0) || g.empty()) return value;
        unit == clip_at::norm ? cut_norm(on, limit, g) : cut_deviations(on, limit, g);
        return value;
    }
    void update(auto& on, auto x) { of.update(on, x); }

    void state(auto& archive) { archive(of); }
    friend std::string to_string(clipped const& e) {
        if (!(e.limit > 0)) return to_string(e.of);
        return detail::concat(
            {to_string(e.of), ", clipped at ", e.limit, (e.unit == clip_at::norm ? "" : " standard deviations")});
    }

  private:
    template <class B, Scalar T>
    static void cut_norm(B& on, double limit, std::span<T> g) {
        T const largest = largest_magnitude(on, std::span<T const>(g));
        if (!std::isfinite(largest)) return;
        // |g| is size / scale, which need not be in the range of T.
        T const scale = kernels::unit_scale(largest);
        double const size = std::sqrt(sum_of_squares(on, std::span<T const>(g), 1 / static_cast<double>(scale)));
        double const limit_there = limit * static_cast<double>(scale), factor = limit_there / size;
        if (!(size > limit_there)) return;
        if (factor >= static_cast<double>(std::numeric_limits<T>::min()))
            multiply(on, static_cast<T>(factor), g);
        else {  // T has no such number, or only with few digits
            multiply(on, scale, g);
            multiply(on, static_cast<T>(limit / size), g);
        }
    }
    template <class B, Scalar T>
    static void cut_deviations(B& on, double limit, std::span<T> g) {
        double const most = limit * kernels::deviation_of(on, std::span<T const>(g));
        if (most < static_cast<double>(std::numeric_limits<T>::max())) clip_magnitudes(on, static_cast<T>(most), g);
    }
};
template <class E>
clipped(E, double, clip_at) -> clipped<E>;

}  // namespace laconic
