// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/dependent.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/loop_base.hpp"
#include "laconic/objective/hessian.hpp"
#include "laconic/optim/newton_step.hpp"
#include "laconic/optim/symmetric.hpp"
#include "laconic/reduction/shift_at_rate.hpp"
#include "laconic/reduction/step.hpp"
#include "laconic/transport/full_mean.hpp"

namespace laconic {

/// The loop of fednl, on one rank: M is its settings. Each rank makes one, with the same settings, seed and starting
/// point. After its first round it allocates nothing of its own, unless eigenvalues must be raised.
template <class M, class F, Communicator C, Scalar T = double>
class fednl_descent : public loop_base<fednl_descent<M, F, C, T>, F, C, T> {
    static_assert(HessianObjective<F, T>, "fednl needs an objective with hessian(x, H), which writes the Hessian at x");
    using base = loop_base<fednl_descent, F, C, T>;
    friend base;
    using base::comm_, base::looked_, base::objective_, base::on_, base::round_, base::x_;
    using hessian_reduction = shift_at_rate<decltype(M::compressor), decltype(M::over)>;
    using matrix = dependent<Eigen::MatrixXd, F>;

  public:
    /// x is the starting point, is moved in place and must outlive this; mu is what a projection raises eigenvalues to.
    /// Throws argument_error where a reduction does not suit the dimension, theory_error where its compressor has no
    /// alpha, shape_error where x does not suit the objective or, on every rank, where ranks disagree.
    fednl_descent(M method, double mu, F const& objective, C& comm, std::span<T> x, std::uint64_t seed)
        : base(objective, comm, x, seed),
          method_(std::move(method)),
          mu_(mu),
          size_(symmetric_size(method_.as, x.size())),
          gradients_(comm, of_gradients(), {}, layers_of_gradients()),
          hessians_(comm, {.seed = seed}, {}, layers_of_hessian()),
          first_means_({}, size_),
          mean_gradient_(x.size()),
          own_(size_),
          left_(size_),
          step_(x.size()) {
        this->agree({{"the method", detail::concat({to_string(method_), ", mu=", mu_})}});
        first_means_.start(comm);
        hessian_.resize(Eigen::Index(x.size()), Eigen::Index(x.size()));
    }

    /// One round. Throws on every rank non_finite_error where the gradient or the Hessian of a rank is not finite (of
    /// the Hessian, with the place in the vector that travels), and compression_error where a Hessian throws or cannot
    /// be compressed: nothing has changed then, and the next round() computes anew; and error where the matrix of the
    /// step is not positive definite: x has not moved then, the learned Hessian has.
    void round() {
        auto const here = this->look();
        looked_ = false;
        measure();
        try {
            if (wrong_)
                hessians_.refuse(*wrong_);
            else
                hessians_.start(0, detail::caller_vector<T>(std::span<T>(own_)), {});
            prepare(hessians_);
            set_distance();
            copy(on_, here.gradient, std::span<T>(mean_gradient_));
            gradients_.start(0, detail::caller_vector<T>(std::span<T>(mean_gradient_)), {});
            if (lifts()) gradients_.start(1, detail::caller_vector<T>(std::span<T>(&distance_, 1)), {});
            prepare(gradients_);
        } catch (...) {
            gradients_.abandon(), hessians_.abandon();
            throw;
        }
        if (!method_.fresh) take_learned();
        gradients_.complete(), hessians_.complete();
        if (method_.fresh) take_learned();
        ++round_;
        std::copy(mean_gradient_.begin(), mean_gradient_.end(), step_.begin());
        if (!solve_(hessian_, method_.definite, lifts() ? double(distance_) : mu_, step_))
            throw error(detail::concat({"fednl, round ", round_ - 1, ": the learned Hessian plus ", double(distance_),
                                        " is not positive definite; definite = projection would raise it to mu"}));
        for (std::size_t i = 0; i < x_.size(); ++i) x_[i] -= static_cast<T>(step_[i]);
    }

    /// Of the last round: the mean over the ranks of |Hessian of f_i - what was learned of it|, where the step uses it;
    /// and the mean of what was learned, which it uses.
    double distance() const { return double(distance_); }
    matrix const& learned() const { return hessian_; }

  private:
    bool lifts() const { return method_.definite == definite_by::lift; }
    reducer_options of_gradients() const { return {.seed = base::seed_.bits, .in_full = {"distance"}}; }
    detail::reduced_layers<decltype(M::gradient), T, host> layers_of_gradients() const {
        std::vector<layer> all{{"gradient", x_.size()}};
        if (lifts()) all.push_back({"distance", 1});
        return {[&](layer const&) { return method_.gradient; }, all, of_gradients()};
    }
    detail::reduced_layers<hessian_reduction, T, host> layers_of_hessian() const {
        hessian_reduction const how{method_.compressor, method_.alpha, method_.over};
        return {[&](layer const&) { return how; }, {{"Hessian", size_}}, {.seed = base::seed_.bits}};
    }
    auto const& layer_of_hessian() const { return hessians_.layers().all().front(); }
    auto const& feedback() const { return layer_of_hessian().feedback(); }
    static void prepare(auto& step) {
        step.prepare();
        if (step.failed()) std::rethrow_exception(step.failed());
    }

    // own_ <- this rank's Hessian, less the first one where that was sent in full; left_ <- what was not learned of it.
    // Where that cannot be, wrong_ says why.
    void measure() {
        wrong_.reset();
        try {
            objective_->hessian(std::span<T const>(x_), hessian_);
            LACONIC_EXPECTS(hessian_.rows() == Eigen::Index(x_.size()) && hessian_.cols() == hessian_.rows());
            pack_symmetric(method_.as, x_.size(), hessian_, std::span<T>(own_));
        } catch (std::exception const& e) {
            wrong_ = e.what();
        }
        if (method_.start_in_full && first_mean_.empty()) {
            first_means_(on_, *comm_, this->now(), std::span<T>(left_), [&](error_frame&) {
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

    void require_whole() const { gradients_.require_whole(), hessians_.require_whole(); }
    void make_whole() { gradients_.make_whole(), hessians_.make_whole(); }
    template <class Archive>
    void state(Archive& archive) {
        archive.of_dimension(size_);
        archive.vectors(first_, first_mean_);
        gradients_.state(archive), hessians_.state(archive);
    }

    M method_;
    double mu_;
    std::size_t size_;
    detail::reduction_step<decltype(M::gradient), C, T, host> gradients_;
    detail::reduction_step<hessian_reduction, C, T, host> hessians_;
    full_mean<gather_all, T> first_means_;
    host::array<T> mean_gradient_, own_, left_;
    host::array<T> first_, first_mean_;  // with start_in_full, this rank's first Hessian and the mean of all
    std::vector<double> step_;
    matrix hessian_;
    newton_step solve_;
    std::optional<std::string> wrong_;
    T distance_ = 0;
};

}  // namespace laconic
