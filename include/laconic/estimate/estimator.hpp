// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/objective/objective.hpp"

namespace laconic {

/// The source of a rank's gradient: all of its data, or some of it and a memory of the rest. Satisfied iff
///   estimator(on, f, now, x, g)   writes an estimate of the gradient of f at x to g, drawing from now.gradient and
///                                 now.shared, and returns std::optional<double>: f(x) where it costs nothing. It may
///                                 be called again for the same round, and then gives the same;
///   estimator.update(on, x)       is called when all messages of the round have been received and x is the next
///                                 iterate: only here may its state change.
/// Until then only g is checked. So a number that will be remembered and is not finite must make g not finite, too
/// (detail::show_non_finite). With to_string(estimator) its parameters are among those that the ranks compare before
/// they start; with state(archive) (wire/state.hpp) its state is saved. With estimator.before_step(on, x, m) it gets
/// this rank's message m, before the step, and may move x, in the same way on all ranks, to where the step begins.
/// Where x is to be the mean of the ranks' models after local steps, which the estimator corrects by it,
/// estimator.corrects_local_steps() is true: then a method has no other step, no heavy ball and no compressed answers.
template <class E, class F, class T = double, class B = host>
concept Estimator = std::movable<E> &&
    requires(E& estimator, B& on, F const& f, round_context const& now, std::span<T const> x, std::span<T> g) {
    { estimator(on, f, now, x, g) } -> std::same_as<std::optional<double>>;
    estimator.update(on, x);
};

namespace detail {

/// estimator.before_step(), where it has one.
template <class E, class B, Scalar T>
void before_step([[maybe_unused]] E& estimator, [[maybe_unused]] B& on, [[maybe_unused]] std::span<T> x,
                 [[maybe_unused]] auto const& m) {
    if constexpr (requires { estimator.before_step(on, x, m); }) estimator.before_step(on, x, m);
}

/// An estimator with local steps or points of its own: it says whether it corrects them.
template <class E>
concept HasLocalSteps = requires(E const& estimator) {
    estimator.corrects_local_steps();
};
/// estimator.corrects_local_steps(), and false for one that has no such member.
template <class E>
bool corrects_local_steps([[maybe_unused]] E const& estimator) {
    if constexpr (HasLocalSteps<E>) return estimator.corrects_local_steps();
    return false;
}

/// g_j <- the first number of `kept` that is not finite, where there is one; `kept` is one or more vectors as long as
/// g.
template <class B, Scalar T>
void show_non_finite(B& on, std::span<T const> kept, std::span<T> g) {
    if (auto const j = first_non_finite(on, kept); j < kept.size())
        copy(on, kept.subspan(j, 1), g.subspan(j % g.size(), 1));
}

/// Throws argument_error where p is no probability, or so small that a round's 1 / p steps, on average, hardly end.
inline void check_chance(char const* name, double p) {
    if (!(p >= 1e-6 && p <= 1))
        throw argument_error({name, ": p = ", p, " is outside 1e-06 .. 1: a round has 1 / p local steps on average"});
}

// A number of steps, the same on all ranks: n with probability p (1 - p)^(n - 1).
inline std::uint64_t drawn_steps(round_context const& now, double p) {
    key const coins = now.shared.child(2);
    std::uint64_t n = 1;
    while (!(coins.uniform(n) < p)) ++n;
    return n;
}

// Draws `size` rows of m, each from all of them: a pure function of the key.
inline void draw_rows(key from, std::size_t m, std::size_t size, std::vector<std::uint32_t>& rows) {
    rows.resize(size);
    for (std::size_t t = 0; t < size; ++t) rows[t] = static_cast<std::uint32_t>(from.below(t, m));
}

}  // namespace detail

/// The mean gradient of `size` of the rank's samples, each drawn from all of them: unbiased, with 1 / size of one
/// sample's variance. size = 0 means the full gradient, which any objective has, and f(x), too, where f is a
/// FusedObjective.
class mini_batch {
  public:
    mini_batch(std::size_t size = 0) : size_(size) {}  // NOLINT: a number

    /// Throws argument_error where the size is above 0 and f is no FiniteSum.
    template <class B, class F, Scalar T>
    std::optional<double> operator()(B&, F const& f, round_context const& now, std::span<T const> x, std::span<T> g) {
        if (size_ == 0) {
            if constexpr (FusedObjective<F, T>) return static_cast<double>(f.value_and_gradient(x, g));
            f.gradient(x, g);
        } else if constexpr (FiniteSum<F, T>) {
            detail::draw_rows(now.gradient, f.samples(), size_, rows_);
            f.batch_gradient(std::span<std::uint32_t const>(rows_), x, g);
        } else {
            throw argument_error({"batch = ", size_,
                                  ": this objective has no samples to draw from; it needs samples() and "
                                  "batch_gradient(rows, x, g)"});
        }
        return std::nullopt;
    }
    void update(auto&, auto) const {}
    /// Makes room for the rows of later rounds.
    void reserve() { rows_.reserve(size_); }
    friend std::string to_string(mini_batch const& e) {
        return e.size_ == 0 ? "the full gradient" : detail::concat({"mini_batch(", e.size_, ")"});
    }

  private:
    std::size_t size_;
    std::vector<std::uint32_t> rows_;
};

namespace detail {

// |x_i| <- min(|x_i|, most); NaN stays.
template <Scalar T>
struct cut_numbers {
    T most;
    std::span<T> x;

    [[gnu::always_inline]] constexpr void operator()(std::size_t i) const {
        x[i] = x[i] > most ? most : x[i] < -most ? -most : x[i];
    }
};

}  // namespace detail

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
        unit == clip_at::norm ? kernels::cut_norm(on, limit, g) : cut_deviations(on, limit, g);
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
    static void cut_deviations(B& on, double limit, std::span<T> g) {
        double const most = limit * kernels::deviation_of(on, std::span<T const>(g));
        if (most < static_cast<double>(std::numeric_limits<T>::max()))
            at_each_index(on, g.size(), detail::cut_numbers<T>{static_cast<T>(most), g});
    }
};
template <class E>
clipped(E, double, clip_at) -> clipped<E>;

/// A running mean of this rank's gradients, v <- beta v + (1 - beta) g from v = 0 on, of which Signum sends the sign
/// (Bernstein et al., ICML 2018); or, from the first gradient on, with v = g in the first round (EF21-SGDM, Fatkhullin,
/// Tyurin, Richtarik, NeurIPS 2023). g is the estimate of another estimator. Throws argument_error for beta outside [0,
/// 1).
template <class E = mini_batch, Scalar T = double, class B = host>
class local_momentum {
  public:
    explicit local_momentum(double beta = 0.9, E of = {}, bool from_first = false)
        : beta_(beta), from_first_(from_first), of_(std::move(of)) {
        if (!(beta >= 0 && beta < 1)) throw argument_error({"local_momentum: beta = ", beta, " is outside [0, 1)"});
    }

    template <class F>
    requires Estimator<E, F, T, B> std::optional<double>
    operator()(B& on, F const& f, round_context const& now, std::span<T const> x, std::span<T> g) {
        auto const value = of_(on, f, now, x, g);
        if (!(from_first_ && mean_.empty())) multiply(on, static_cast<T>(1 - beta_), g);
        if (!mean_.empty()) add_scaled(on, static_cast<T>(beta_), std::span<T const>(mean_), g);
        kernels::assign(on, std::span<T const>(g), next_);
        return value;
    }
    void update(B& on, std::span<T const> x) {
        kernels::assign(on, std::span<T const>(next_), mean_);
        of_.update(on, x);
    }

    /// v; empty before the first round.
    std::span<T const> mean() const { return mean_; }

    void state(auto& archive) {
        archive.vectors(mean_);
        archive(of_);
    }
    friend std::string to_string(local_momentum const& e) {
        return detail::concat({"local_momentum(", e.beta_, (e.from_first_ ? ", from the first gradient" : ""), ") of ",
                               to_string(e.of_)});
    }

  private:
    double beta_;
    bool from_first_;
    E of_;
    typename B::template array<T> mean_, next_;
};

/// Several local steps of each rank in a round (ProxSkip, as Scaffnew; Mishchenko, Malinovsky, Stich, Richtarik, ICML
/// 2022): from y = x on, y <- y - step (grad f_i(y) - h_i), with one more step with probability 1 - p each time, the
/// same number on all ranks. The estimate is (x - y) / step, so that a gradient_step of the same step size moves x to
/// the mean of the y_i; then h_i <- h_i + (p / step)(x - y_i), which converges to grad f_i(x*); the h_i sum to 0. With
/// a batch each step draws its own rows.
template <Scalar T = double, class B = host>
class local_steps {
  public:
    local_steps(double p, double step, std::size_t batch = 0) : p_(p), step_(step), gradient_(batch) {
        detail::check_chance("local_steps", p);
        if (!(step > 0)) throw argument_error({"local_steps: the step ", step, " is not above 0"});
    }

    /// The number of steps in a round: n with probability p (1 - p)^(n - 1).
    std::uint64_t steps(round_context const& now) const { return detail::drawn_steps(now, p_); }

    std::optional<double> operator()(B& on, auto const& f, round_context const& now, std::span<T const> x,
                                     std::span<T> g) {
        kernels::assign(on, x, local_);
        std::span<T> const y(local_);
        std::optional<double> value;
        round_context at = now;
        for (std::uint64_t l = 0, n = steps(now); l < n; ++l) {
            at.gradient = now.gradient.child(l);
            auto const here = gradient_(on, f, at, std::span<T const>(y), g);
            if (l == 0) value = here;
            add_scaled(on, static_cast<T>(-step_), std::span<T const>(g), y);
            if (!shift_.empty()) add_scaled(on, static_cast<T>(step_), std::span<T const>(shift_), y);
        }
        compensate(on, T(1), x, std::span<T const>(y), T(0), std::span<T const>(), g);
        multiply(on, static_cast<T>(1 / step_), g);
        return value;
    }
    void update(B& on, std::span<T const> x) {
        shift_.resize(x.size());
        add_scaled(on, T(-1), x, std::span<T>(local_));
        add_scaled(on, static_cast<T>(-p_ / step_), std::span<T const>(local_), std::span<T>(shift_));
    }

    static constexpr bool corrects_local_steps() { return true; }
    /// h_i; empty before the first round.
    std::span<T const> shift() const { return shift_; }

    void state(auto& archive) { archive.vectors(shift_); }
    friend std::string to_string(local_steps const& e) {
        return detail::concat({"local_steps(p=", e.p_, ", step=", e.step_, "), ", to_string(e.gradient_)});
    }

  private:
    double p_, step_;
    mini_batch gradient_;
    typename B::template array<T> shift_, local_;
};

}  // namespace laconic
