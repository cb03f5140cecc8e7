// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "laconic/compress/norm.hpp"
#include "laconic/core/text.hpp"
#include "laconic/estimate/mini_batch.hpp"

namespace laconic {

/// What a limit on a gradient counts in.
enum class clip_at {
    norm,        ///< |g| is at most the limit: the whole is scaled down (Deep Gradient Compression)
    deviations,  ///< |g_i| is at most limit x the standard deviation of g's numbers (TernGrad)
};

/// What another estimator gives, clipped; limit = 0 stands for none. It is biased wherever it clips. Numbers that are
/// not finite stay so.
template <class E = mini_batch>
struct clipped {
    E of{};
    double limit = 0;
    clip_at unit = clip_at::norm;

    template <class B, class F, Scalar T>
    std::optional<double> operator()(B& on, F const& f, occasion const& now, std::span<T const> x, std::span<T> g) {
        auto const value = of(on, f, now, x, g);
        if (!(limit > 0) || g.empty()) return value;
        if (unit == clip_at::norm) {
            auto const size = static_cast<double>(norm_of(on, norm::two, std::span<T const>(g)));
            if (size > limit && std::isfinite(size)) multiply(on, static_cast<T>(limit / size), g);
        } else {
            auto const most = static_cast<T>(limit * deviation(on, std::span<T const>(g)));
            if (std::isfinite(most)) clip_magnitudes(on, most, g);
        }
        return value;
    }
    template <class B, Scalar T>
    void said(B& on, std::span<T const> x) {
        of.said(on, x);
    }

    template <class Archive>
    void state(Archive& archive) {
        archive(of);
    }
    friend std::string to_string(clipped const& e) {
        if (!(e.limit > 0)) return to_string(e.of);
        return to_string(e.of) + ", clipped at " + shortest(e.limit) +
               (e.unit == clip_at::norm ? "" : " standard deviations");
    }

  private:
    template <class B, Scalar T>
    static double deviation(B& on, std::span<T const> g) {
        auto const d = static_cast<double>(g.size());
        auto const [below, above] = sums_by_sign(on, g);
        double const mean = (above - below) / d, square = sum_of_squares(on, g) / d;
        return std::isfinite(square) ? std::sqrt(std::max(0.0, square - mean * mean)) : square;
    }
};
template <class E>
clipped(E, double, clip_at) -> clipped<E>;

}  // namespace laconic
