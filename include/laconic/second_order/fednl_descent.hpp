// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/core/types.hpp"
#include "laconic/loop_base.hpp"
#include "laconic/optim/divergence_guard.hpp"
#include "laconic/optim/symmetric.hpp"
#include "laconic/reduction/step.hpp"

namespace laconic {

/// A reduction with shifts, for what a shift converges to rather than for the estimate: at the rate alpha, which unless
/// it is given is 1 for a contractive compressor, and 1 / (1 + omega), the largest that theorems allow, for an unbiased
/// one. Throws theory_error for a compressor that is neither.
template <class C, class X = gather_all>
struct shift_at_rate {
    static constexpr bool is_proved = true;

    C compressor;
    std::optional<double> alpha{};
    X over{};

    double rate(std::size_t d) const {
        if (alpha) return *alpha;
        if constexpr (Contractive<C>)
            if (is_contractive(compressor)) return 1;
        if constexpr (Unbiased<C>)
            if (is_unbiased(compressor)) return 1 / (1 + compressor.omega(d));
        throw theory_error({"the compressor ", to_string(compressor),
                            " is known neither as contractive nor as unbiased; give alpha yourself"});
    }
    void check_proof(std::size_t d) const { static_cast<void>(rate(d)); }
    template <Scalar T, class B>
    memory<T, B> feedback(std::size_t d) const {
        return {rate(d), 0};
    }
    friend std::string to_string(shift_at_rate const& r) {
        auto const rate = r.alpha ? detail::concat({", alpha=", *r.alpha}) : std::string();
        return detail::concat({"shift_at_rate(", to_string(r.compressor), rate, ", over=", to_string(r.over), ")"});
    }
};

/// The loop of fednl, on one rank: M is its settings. Each rank makes one, with the same settings, seed and starting
/// point. After its first round it allocates nothing of its own, unless eigenvalues must be raised.
template <class M, class F, Communicator C, Scalar T = double>
class fednl_descent : public loop_base<fednl_descent<M, F, C, T>, F, C, T> {
    static_assert(HessianObjective<F, T>, "fednl needs an objective with hessian(x, H), which writes the Hessian at x");
    using base = loop_base<fednl_descent, F, C, T>;
    friend base;
    using base::comm_, base::looked_, base::objective_, base::on_, base::round_, base::x_;
    using hessian_reduction = shift_at_rate<decltype(M::compressor), decltype(M::over)>;
    using matrix = detail::dependent<Eigen::MatrixXd, F>;

  public:
    /// x is the starting point, is moved in place and must outlive this; mu is what a projection raises eigenvalues to.
    /// Throws argument_error where a reduction does not suit the dimension, theory_error where its compressor has no
    /// alpha, shape_error where x does not suit the objective; agreement_error on every rank where ranks disagree.
    fednl_descent(M method, double mu, F const& objective, C& comm, std::span<T> x, std::uint64_t seed)
        : base(objective, comm, x, seed),
          method_(std::move(method)),
          mu_(mu),
          size_(symmetric_size(method_.as, x.size())),
          gradients_(comm, [this](layer const&) { return method_.gradient; }, layers_of_gradients(), {.seed = seed}),
          hessians_(comm, [this](layer const&) { return of_hessian(); }, {{"Hessian", size_}}, {.seed = seed}),
          first_means_({}, size_),
          values_({}, 2),
          mean_gradient_(x.size()),
          own_(size_),
          left_(size_),
          step_(x.size()),
          trial_(method_.line_search ? x.size() : 0) {
        this->agree({{"the method", detail::concat({to_string(method_), ", mu=", mu_})}});
        first_means_.start(comm), values_.start(comm);
        hessian_.resize(Eigen::Index(x.size()), Eigen::Index(x.size()));
    }

    /// One round. Throws on every rank non_finite_error where the gradient or the Hessian of a rank is not finite (of
    /// the Hessian, with the place in the vector that travels), and compression_error where a Hessian throws or cannot
    /// be compressed: nothing has changed then, and the next round() computes anew. Throws error where the matrix of
    /// the step is not positive definite, or no step along its direction lowers f, and divergence_error where f has
    /// grown above its first value and |grad f| has been above its first in ten rounds in a row, which is watched where
    /// gradients are sent in full and there is no line search: x has not moved then, the learned Hessian has.
    void round() {
        auto const here = this->look();
        auto const at = this->now();
        looked_ = false;
        measure(here);
        try {
            if (wrong_)
                hessians_.refuse(detail::failure::no_message(*wrong_));
            else
                hessians_.start(0, own_);
            prepare(hessians_);
            set_distance();
            copy(on_, here.gradient, std::span<T>(mean_gradient_));
            gradients_.start(0, mean_gradient_);
            if (lifts()) gradients_.start(1, std::span<T>(&distance_, 1));
            prepare(gradients_);
        } catch (...) {
            gradients_.abandon(), hessians_.abandon();
            throw;
        }
        if (!method_.fresh) take_learned();
        gradients_.commit(), hessians_.commit();
        if (method_.fresh) take_learned();
        ++round_;
        watch(at, here);
        std::copy(mean_gradient_.begin(), mean_gradient_.end(), step_.begin());
        if (!solve_(hessian_, method_.definite, lifts() ? double(distance_) : mu_, step_))
            throw error({"fednl, round ", round_ - 1, ": the learned Hessian plus ", double(distance_),
                         " is not positive definite; definite = projection would raise it to mu"});
        method_.line_search ? search(at, here) : move(1, x_);
    }

    /// Of the last round: the mean over the ranks of |Hessian of f_i - what was learned of it|, where the step uses it;
    /// and the mean of what was learned, which it uses.
    double distance() const { return double(distance_); }
    matrix const& learned() const { return hessian_; }

  private:
    static constexpr bool exact_gradients = std::same_as<decltype(decltype(M::gradient)::compressor), identity>;

    bool lifts() const { return method_.definite == definite_by::lift; }
    std::vector<layer> layers_of_gradients() const {
        std::vector<layer> all{{"gradient", x_.size()}};
        if (lifts()) all.push_back({"distance", 1}), all.back().in_full = true;
        return all;
    }
    hessian_reduction of_hessian() const { return {method_.compressor, method_.alpha, method_.over}; }
    auto const& layer_of_hessian() const { return hessians_.layers().front(); }
    auto const& feedback() const { return layer_of_hessian().feedback(); }
    static void prepare(auto& step) {
        step.prepare();
        if (step.failed()) std::rethrow_exception(step.failed());
    }

    void move(double length, std::span<T> to) const {
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(double(x_[i]) - length * step_[i]);
    }
    // The means over the ranks of what value() and before() return; the first may be not finite, and is then too large.
    std::array<double, 2> mean_values(round_context const& at, auto value, auto before) {
        std::array<T, 2> pair{};
        values_(on_, *comm_, at, std::span<T>(pair), [&](detail::failure& own) {
            pair = {static_cast<T>(value()), static_cast<T>(before())};
            if (!std::isfinite(pair[0])) pair[0] = std::numeric_limits<T>::max() / static_cast<T>(2 * comm_->size());
            if (!std::isfinite(pair[1])) own = detail::failure::no_message("the value of the objective is not finite");
        });
        return {double(pair[0]), double(pair[1])};
    }
    // x <- the first of x - step, x - step / 2, .. at which f is lower by a quarter of what the slope promises.
    void search(round_context const& at, observation<F, T> const& here) {
        double slope = 0;
        for (std::size_t i = 0; i < step_.size(); ++i) slope += double(mean_gradient_[i]) * step_[i];
        for (double length = 1; length > 1e-12; length /= 2) {
            move(length, trial_);
            auto const [value, before] = mean_values(
                at, [&] { return objective_->value(std::span<T const>(trial_)); }, [&] { return here.value(); });
            // Where the two differ by rounding only, it must not decide.
            double const noise = 10 * double(std::numeric_limits<T>::epsilon()) * std::abs(before);
            if (value <= before - length * slope / 4 + noise) return copy(on_, std::span<T const>(trial_), x_);
        }
        throw error({"fednl, round ", round_ - 1, ": no step along the direction, of the slope ", -slope,
                     ", lowers f: is its gradient right?"});
    }
    // Outside the region in which it converges, FedNL leaps about, far above where it began.
    void watch(round_context const& at, observation<F, T> const& here) {
        if (!exact_gradients || method_.line_search) return;
        double const norm = double(kernels::norm_of(on_, p_norm::two, std::span<T const>(mean_gradient_)));
        if (first_norm_ < 0) first_norm_ = norm, first_value_ = own_value_;
        double const size = hessian_.norm() * double(kernels::norm_of(on_, p_norm::two, std::span<T const>(x_)));
        double const rounding = std::sqrt(double(std::numeric_limits<T>::epsilon()));
        rounds_above_ = norm > first_norm_ + rounding * size ? rounds_above_ + 1 : 0;
        if (rounds_above_ < 10) return;
        rounds_above_ = 0;
        auto const [value, first] = mean_values(
            at, [&] { return here.value(); }, [&] { return first_value_; });
        if (value > first + rounding * std::abs(first))
            throw divergence_error(round_ - 1, value,
                                   "x is outside the region in which FedNL converges: take line_search = yes, "
                                   "definite = lift, or start_in_full = yes");
    }

    // own_ <- this rank's Hessian, less the first one where that was sent in full; left_ <- what was not learned of it.
    // Where that cannot be, wrong_ says why.
    void measure(observation<F, T> const& here) {
        wrong_.reset();
        try {
            if (first_norm_ < 0) own_value_ = here.value();
            objective_->hessian(std::span<T const>(x_), hessian_);
            LACONIC_EXPECTS(hessian_.rows() == Eigen::Index(x_.size()) && hessian_.cols() == hessian_.rows());
            pack_symmetric(method_.as, x_.size(), hessian_, std::span<T>(own_));
        } catch (std::exception const& e) {
            wrong_ = e.what();
        }
        if (method_.start_in_full && first_mean_.empty()) {
            first_means_(on_, *comm_, this->now(), std::span<T>(left_), [&](detail::failure&) {
                if (wrong_) throw error(*wrong_);
                copy(on_, std::span<T const>(own_), std::span<T>(left_));
            });
            first_ = own_, first_mean_ = left_;
        }
        if (!first_.empty()) add_scaled(on_, T(-1), std::span<T const>(first_), std::span<T>(own_));
        copy(on_, std::span<T const>(own_), std::span<T>(left_));
        if (auto const h = feedback().shift(); !h.empty()) add_scaled(on_, T(-1), h, std::span<T>(left_));
    }
    // distance_ <- |left_|, less this round's message where the step uses that.
    void set_distance() {
        if (method_.fresh)
            add_message(on_, std::span<T>(left_), static_cast<T>(-feedback().rate()), layer_of_hessian().message());
        distance_ = static_cast<T>(std::sqrt(sum_of_squares(on_, std::span<T const>(left_))));
    }
    void take_learned() {
        std::span<T> const sum(left_);
        fill(on_, sum, T(0));
        for (auto const part : {std::span<T const>(first_mean_), feedback().mean_shift()})
            if (!part.empty()) add_scaled(on_, T(1), part, sum);
        unpack_symmetric(method_.as, x_.size(), std::span<T const>(sum), hessian_);
    }

    void require_consistent() const {
        gradients_.require_consistent(), hessians_.require_consistent(), values_.require_consistent();
    }
    void recover() { gradients_.recover(), hessians_.recover(), values_.recover(); }
    void state(auto& archive) {
        archive.of_dimension(size_);
        archive.vectors(first_, first_mean_);
        gradients_.state(archive), hessians_.state(archive);
        archive(first_norm_, first_value_, rounds_above_, values_);
    }

    M method_;
    double mu_;
    std::size_t size_;
    detail::reduction_step<decltype(M::gradient), C, T, host> gradients_;
    detail::reduction_step<hessian_reduction, C, T, host> hessians_;
    detail::full_mean<gather_all, T> first_means_, values_;
    host::array<T> mean_gradient_, own_, left_;
    host::array<T> first_, first_mean_;  // with start_in_full, this rank's first Hessian and the mean of all
    std::vector<double> step_;
    host::array<T> trial_;
    matrix hessian_;
    newton_step solve_;
    std::optional<std::string> wrong_;
    T distance_ = 0;
    double own_value_ = 0;  // this rank's, in the first round
    double first_norm_ = -1,
           first_value_ = 0;  // of the first round's mean gradient, and of this rank's objective there
    std::uint64_t rounds_above_ = 0;
};

}  // namespace laconic
