// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/backend/host.hpp"
#include "laconic/core/description.hpp"

namespace laconic {

/// A step of the optimizer. Satisfied iff S is movable and step(on, x, d) moves the iterate x, in place, along the
/// estimate d of the gradient (which it may overwrite), both of one length. With to_string(step) its parameters are
/// among those that the ranks compare before they start; with state(archive) (wire/state.hpp) its state is saved.
/// If it remembers squares of d, which may overflow where x does not, square() returns them as a span.
template <class S, class T = double, class B = host>
concept Step = std::movable<S> && requires(S& step, B& on, std::span<T> x, std::span<T> d) {
    step(on, x, d);
};

namespace detail {

/// A step with a constant step size has the member `rate`, or the function rate() that returns it.
template <class S>
concept HasRate = requires(S const& step) {
    { step.rate } -> std::convertible_to<double>;
};
template <class S>
concept HasRateFunction = requires(S const& step) {
    { step.rate() } -> std::convertible_to<double>;
};

// Throw argument_error for a number of a step that is out of its range.
[[gnu::cold, gnu::noinline]] inline void refuse_number(char const* step, char const* name, double value,
                                                       char const* range) {
    throw argument_error({step, ": ", name, " = ", value, " is outside ", range});
}
inline void require_factor(char const* step, char const* name, double value) {
    if (!(value >= 0 && value < 1)) refuse_number(step, name, value, "[0, 1)");
}
inline void require_above_0(char const* step, char const* name, double value) {
    if (!(value > 0 && std::isfinite(value))) refuse_number(step, name, value, "(0, oo)");
}

}  // namespace detail

/// The gradient step x <- x - rate d; rate is the step size.
struct gradient_step {
    double rate = 1;

    template <class B, Scalar T>
    void operator()(B& on, std::span<T> x, std::span<T> d) const {
        add_scaled(on, static_cast<T>(-rate), std::span<T const>(d), x);
    }
    friend std::string to_string(gradient_step s) { return detail::concat({"gradient_step(", s.rate, ")"}); }
};

/// x <- x - d / (a + c t) in the t-th step, counted from 0; a > 0, c >= 0. c = 0 gives a constant step size.
class decreasing_step {
  public:
    explicit decreasing_step(double a = 1, double c = 0) : a_(a), c_(c) {}

    template <class B, Scalar T>
    void operator()(B& on, std::span<T> x, std::span<T> d) {
        add_scaled(on, static_cast<T>(-rate()), std::span<T const>(d), x);
        ++taken_;
    }

    /// The size of the next step.
    double rate() const { return 1 / (a_ + c_ * static_cast<double>(taken_)); }

    void state(auto& archive) { archive(taken_); }
    friend std::string to_string(decreasing_step const& s) {
        return detail::concat({"decreasing_step(", s.a_, ", ", s.c_, ")"});
    }

  private:
    double a_, c_;
    std::uint64_t taken_ = 0;
};

/// The numbers of `momentum`, named as PyTorch's SGD names them, except beta, which it calls momentum.
struct momentum_options {
    double rate = 1e-3, beta = 0.9, dampening = 0, weight_decay = 0;
    bool nesterov = false;

    static constexpr void description(auto&& describe) {
        describe("momentum", "v <- beta v + d, x <- x - rate v; or Nesterov's form",
                 "Polyak 1964; Sutskever et al., ICML 2013", field("rate", &momentum_options::rate).needed(),
                 field("beta", &momentum_options::beta).between(0, 1).written(),
                 field("dampening", &momentum_options::dampening).between(0, 1).by_name(),
                 field("weight_decay", &momentum_options::weight_decay).between(0, 1e300).by_name(),
                 field("nesterov", &momentum_options::nesterov).by_name());
    }
};

/// Heavy ball (Polyak 1964): v <- beta v + d, x <- x - rate v, with v = 0 at the start. With the other options it is
/// PyTorch's SGD, whose v is d in the first step, without dampening:
///     d <- d + weight_decay x,    v <- beta v + (1 - dampening) d,
///     x <- x - rate v,    or with nesterov  x <- x - rate (d + beta v) (Sutskever et al., ICML 2013).
/// So Nesterov's first step is rate (1 + beta) d. For Nesterov's method of a theorem, which has a mu, see
/// accelerated_step.
template <Scalar T = double, class B = host>
class momentum {
  public:
    /// Throws argument_error unless beta is in [0, 1).
    momentum(double rate, double beta) : momentum({.rate = rate, .beta = beta}) {}
    /// Throws argument_error, too, for a dampening outside [0, 1] or a weight decay below 0, and unless nesterov has a
    /// beta above 0 and no dampening.
    explicit momentum(momentum_options how = {}) : how_(how) {
        detail::require_factor("momentum", "beta", how.beta);
        detail::check_fields(how);
        if (how.nesterov && !(how.beta > 0 && how.dampening == 0))
            throw argument_error("momentum: Nesterov's form needs a beta above 0 and no dampening");
    }

    void operator()(B& on, std::span<T> x, std::span<T> d) {
        T const rate = static_cast<T>(how_.rate), beta = static_cast<T>(how_.beta);
        T const fresh = velocity_.empty() ? T(1) : static_cast<T>(1 - how_.dampening);
        velocity_.resize(x.size());
        std::span<T> const v(velocity_);
        if (how_.weight_decay != 0) add_scaled(on, static_cast<T>(how_.weight_decay), std::span<T const>(x), d);
        multiply(on, beta, v);
        add_scaled(on, fresh, std::span<T const>(d), v);
        if (how_.nesterov) add_scaled(on, beta, std::span<T const>(v), d);
        add_scaled(on, -rate, std::span<T const>(how_.nesterov ? d : v), x);
    }

    double rate() const { return double{static_cast<T>(how_.rate)}; }
    /// The step size in the limit along a constant d: rate (1 - dampening) / (1 - beta).
    double limit_rate() const { return rate() * (1 - how_.dampening) / (1 - double{static_cast<T>(how_.beta)}); }
    std::span<T const> velocity() const { return velocity_; }
    void state(auto& archive) { archive.vectors(velocity_); }
    friend std::string to_string(momentum const& s) { return to_string(s.how_); }

  private:
    momentum_options how_;
    typename B::template array<T> velocity_;
};

/// Nesterov's acceleration under strong growth (Vaswani, Bach, Schmidt, AISTATS 2019): f is mu-strongly convex and
/// E|d|^2 <= growth |grad f(x)|^2, growth >= 1. With q = sqrt(mu rate / growth), from v = y = x on,
///     y <- x - rate d,    v <- (1 - q) v + q x - (q / mu) d,    x <- (q v + y) / (1 + q),
/// where x is the point at which gradients are taken. For rate <= 1 / (growth L),
///     f(y) - f* + (mu / 2) |v - x*|^2 falls in expectation by the factor 1 - q a step.
/// growth = 1 is Nesterov's own method, for exact gradients.
template <Scalar T = double, class B = host>
class accelerated_step {
  public:
    /// Throws argument_error unless rate > 0, mu > 0, growth >= 1 and q < 1.
    accelerated_step(double rate, double mu, double growth = 1) : rate_(rate), mu_(mu), growth_(growth) {
        if (!(rate > 0 && mu > 0 && growth >= 1 && q() < 1))
            throw argument_error(
                {"accelerated_step: rate = ", rate, ", mu = ", mu, ", growth = ", growth, " do not go together"});
    }

    void operator()(B& on, std::span<T> x, std::span<T> d) {
        if (v_.empty()) kernels::assign(on, std::span<T const>(x), v_);
        std::span<T> const v(v_);
        std::span<T const> const estimate(d);
        multiply(on, static_cast<T>(1 - q()), v);
        add_scaled(on, static_cast<T>(q()), std::span<T const>(x), v);
        add_scaled(on, static_cast<T>(-q() / mu_), estimate, v);
        add_scaled(on, static_cast<T>(-rate_), estimate, x);  // x holds y now
        kernels::assign(on, std::span<T const>(x), y_);
        add_scaled(on, static_cast<T>(q()), std::span<T const>(v_), x);
        multiply(on, static_cast<T>(1 / (1 + q())), x);
    }

    double rate() const { return rate_; }
    double q() const { return std::sqrt(mu_ * rate_ / growth_); }
    /// The iterates y, to which the theorem applies, and v; empty before the first step.
    std::span<T const> y() const { return y_; }
    std::span<T const> v() const { return v_; }

    void state(auto& archive) { archive.vectors(v_, y_); }
    friend std::string to_string(accelerated_step const& s) {
        return detail::concat({"accelerated_step(", s.rate_, ", mu=", s.mu_, ", growth=", s.growth_, ")"});
    }

  private:
    double rate_, mu_, growth_;
    typename B::template array<T> v_, y_;
};

/// Dual averaging (Nesterov, Math. Programming 2009): z <- z + d, x <- x^0 - (rate / sqrt(t)) z after t gradients. It
/// also keeps the mean of the t points at which they were taken, to which the theorems apply.
template <Scalar T = double, class B = host>
class dual_averaging_step {
  public:
    explicit dual_averaging_step(double rate = 1) : rate_(rate) {}

    void operator()(B& on, std::span<T> x, std::span<T> d) {
        if (center_.empty()) {
            kernels::assign(on, std::span<T const>(x), center_);
            sum_.assign(x.size(), T(0));
            average_.assign(x.size(), T(0));
        }
        double const t = static_cast<double>(++count_);
        multiply(on, static_cast<T>(1 - 1 / t), std::span<T>(average_));
        add_scaled(on, static_cast<T>(1 / t), std::span<T const>(x), std::span<T>(average_));
        add_scaled(on, T(1), std::span<T const>(d), std::span<T>(sum_));
        copy(on, std::span<T const>(center_), x);
        add_scaled(on, static_cast<T>(-rate_ / std::sqrt(t)), std::span<T const>(sum_), x);
    }

    /// The rate; the step after t gradients is rate / sqrt(t) times their sum.
    double rate() const { return rate_; }
    /// The mean of x^0 .. x^(t-1); empty before the first step.
    std::span<T const> average() const { return average_; }
    /// z, the sum of the gradients.
    std::span<T const> sum() const { return sum_; }

    void state(auto& archive) {
        archive(count_);
        archive.vectors(center_, sum_, average_);
    }
    friend std::string to_string(dual_averaging_step const& s) {
        return detail::concat({"dual_averaging_step(", s.rate_, ")"});
    }

  private:
    double rate_;
    std::uint64_t count_ = 0;
    typename B::template array<T> center_, sum_, average_;
};

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
