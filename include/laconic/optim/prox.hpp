// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <span>
#include <string>

#include "laconic/optim/step.hpp"

namespace laconic {

/// The proximal operator of a regulariser R: prox(on, rate, x) replaces x by argmin_u R(u) + |u - x|^2 / (2 rate);
/// value(x) is R(x), of an x that the host can read.
template <class P, class T = double, class B = host>
concept Prox = std::semiregular<P> && std::equality_comparable<P> &&
    requires(P const& prox, B& on, double rate, std::span<T> x) {
    prox(on, rate, x);
    { prox.value(std::span<T const>(x)) } -> std::same_as<double>;
};

/// R(x) = l1_weight |x|_1 + (l2_weight / 2) |x|^2: soft thresholding by rate x l1_weight, then x / (1 + rate x
/// l2_weight).
struct elastic_net {
    double l1_weight = 0, l2_weight = 0;

    template <class B, Scalar T>
    void operator()(B& on, double rate, std::span<T> x) const {
        if (l1_weight != 0) soft_threshold(on, static_cast<T>(rate * l1_weight), x);
        if (l2_weight != 0) multiply(on, static_cast<T>(1 / (1 + rate * l2_weight)), x);
    }
    template <Scalar T>
    double value(std::span<T const> x) const {
        double magnitudes = 0, squares = 0;
        for (T const v : x) {
            magnitudes += std::abs(static_cast<double>(v));
            squares += static_cast<double>(v) * static_cast<double>(v);
        }
        return l1_weight * magnitudes + l2_weight / 2 * squares;
    }
    bool operator==(elastic_net const&) const = default;
    friend std::string to_string(elastic_net p) {
        return detail::concat({"elastic_net(", p.l1_weight, ", ", p.l2_weight, ")"});
    }
};

/// Any step, followed by the proximal operator for the rate `rate`.
template <class S, class P>
struct proximal {
    S step;
    P prox;
    double rate;

    template <class B, Scalar T>
    void operator()(B& on, std::span<T> x, std::span<T> d) {
        step(on, x, d);
        prox(on, rate, x);
    }
    void state(auto& archive) { archive(step); }
    friend std::string to_string(proximal const& s) {
        return detail::concat({to_string(s.step), ", ", to_string(s.prox), " for ", s.rate});
    }
};

}  // namespace laconic
