// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "laconic/loop_base.hpp"
#include "laconic/reduction/reduction.hpp"
#include "laconic/second_order/shared_pairs.hpp"

namespace laconic {

/// The loop of ds_lsr1, on one rank: M is its settings. Each rank makes one, with the same settings, seed and starting
/// point. After its first round it allocates nothing of its own.
template <class M, class F, Communicator C, Scalar T = double>
class sr1_descent : public loop_base<sr1_descent<M, F, C, T>, F, C, T> {
    static_assert(HessianProductObjective<F, T>,
                  "ds_lsr1 needs an objective with hessian_times(x, v, out), which writes (Hessian at x) v to out");
    using base = loop_base<sr1_descent, F, C, T>;
    friend base;
    using base::comm_, base::looked_, base::objective_, base::on_, base::round_, base::x_;

  public:
    /// x is the starting point, is moved in place and must outlive this. Throws argument_error where the transport does
    /// not suit the dimension, shape_error where x does not suit it; agreement_error on every rank where ranks
    /// disagree.
    sr1_descent(M method, F const& objective, C& comm, std::span<T> x, std::uint64_t seed)
        : base(objective, comm, x, seed),
          method_(std::move(method)),
          gradients_(method_.over, x.size() + 1),
          pairs_(method_.over, method_.curvature, x.size(), method_.memory, method_.gamma),
          values_(method_.over, 1),
          mean_(x.size() + 1),
          step_(x.size()),
          trial_(x.size()),
          radius_(method_.radius) {
        this->agree({{"the method", to_string(method_)}});
        each_mean([&](auto& mean) { mean.start(comm); });
    }

    /// One round: fresh pairs, a search in the trust region, and a step where it lowers f. Throws non_finite_error on
    /// every rank where the gradient of a rank or a product with its Hessian is not finite, with the coordinate of x,
    /// and compression_error where a rank's objective throws or its value is not finite: x and the radius have not
    /// changed then, and the next round() computes anew. Where a trial value is not finite the step is refused. Throws
    /// error on every rank where squares of the mean gradient's numbers or of the products leave the range of T, and
    /// where trial values are not finite however short the step is.
    void round() {
        auto const here = this->look();
        auto const at = this->now();
        if (!known_) share_gradient(at, here);
        auto const g = std::span<T const>(mean_).first(x_.size());
        pairs_.share(on_, *comm_, at, g, [&](std::span<T const> s, std::span<T> out) {
            objective_->hessian_times(std::span<T const>(x_), s, out);
        });
        found_ = pairs_.search(on_, *comm_, at, g, radius_, method_.forcing, step_);
        require_range(g);
        double const before = double(mean_.back()), after = share_trial(at);
        // Where the two differ by rounding only, it must not decide (Conn, Gould, Toint, Trust-region methods, 17.4.2).
        double const noise = 10 * double(std::numeric_limits<T>::epsilon()) * std::abs(before);
        double const ratio = found_.decrease > 0 ? (before - after + noise) / (found_.decrease + noise) : -1;
        accepted_ = ratio > 1e-6;
        if (accepted_) copy(on_, std::span<T const>(trial_), x_), looked_ = known_ = false;
        if (!accepted_ && after >= not_finite() && radius_ <= std::numeric_limits<T>::epsilon() * method_.radius)
            throw error({"ds_lsr1, round ", round_, ": the objective's value is not finite beside x, within ", radius_,
                         ", though it is at x"});
        if (found_.norm > 0) radius_ *= !(ratio >= .1) ? .5 : ratio > .75 && radius_ < 1e30 ? 2 : 1;
        ++round_;
    }

    double radius() const { return radius_; }
    /// Of the last round: what the search found, whether x moved, and the pairs.
    steihaug_result const& last_search() const { return found_; }
    bool accepted() const { return accepted_; }
    sr1<T> const& pairs() const { return pairs_.pairs(); }

  private:
    void share_gradient(round_context const& at, observation<F, T> const& here) {
        looked_ = false;  // where this fails, the next round computes it anew
        gradients_(on_, *comm_, at, std::span<T>(mean_), [&](detail::failure& own) {
            std::copy(here.gradient.begin(), here.gradient.end(), mean_.begin());
            mean_.back() = static_cast<T>(here.value());
            if (!std::isfinite(mean_.back()) && first_non_finite(on_, here.gradient) == x_.size())
                own = detail::failure::no_message("the value of the objective is not finite");
        });
        looked_ = known_ = true;
    }
    // The mean value at x + step. A rank whose value is not finite brings one for which no step is accepted.
    double share_trial(round_context const& at) {
        copy(on_, std::span<T const>(x_), std::span<T>(trial_));
        add_scaled(on_, T(1), std::span<T const>(step_), std::span<T>(trial_));
        T value = 0;
        values_(on_, *comm_, at, std::span<T>(&value, 1), [&](detail::failure&) {
            value = static_cast<T>(objective_->value(std::span<T const>(trial_)));
            if (!std::isfinite(value)) value = std::numeric_limits<T>::max() / static_cast<T>(2 * comm_->size());
        });
        return double(value);
    }
    // What the mean of trial values is at least where one of them is not finite.
    double not_finite() const {
        double const ranks = comm_->size();
        return double(std::numeric_limits<T>::max()) / (4 * ranks * ranks);
    }
    // The search sums squares; all ranks see the same numbers here.
    void require_range(std::span<T const> g) {
        if (std::isfinite(found_.decrease) && found_.norm > 0 && std::isfinite(found_.norm)) return;
        // The gradient of a point near the minimum may be too small to search along, and x then rests.
        double const square = inner_product(on_, g, g), steepest = pairs_.pairs().steepest();
        double const most = std::sqrt(double(std::numeric_limits<T>::max()));
        bool const above = !(square < most) || !(steepest < most);
        bool const below = steepest < 1 / most && largest_magnitude(on_, g) > 0;
        if (above || below)
            throw error({"ds_lsr1, round ", round_, ": squares of the gradient's numbers ", (above ? "over" : "under"),
                         "flow; scale the objective"});
    }

    void each_mean(auto use) { use(gradients_), pairs_.each_mean(use), use(values_); }
    void require_consistent() {
        each_mean([](auto const& mean) { mean.require_consistent(); });
    }
    void recover() {
        each_mean([](auto& mean) { mean.recover(); });
    }
    void state(auto& archive) {
        archive(radius_, known_, mean_);
        each_mean([&](auto& mean) { archive(mean); });
    }

    M method_;
    detail::full_mean<decltype(M::over), T> gradients_;
    detail::shared_pairs<decltype(M::over), T> pairs_;
    detail::full_mean<decltype(M::over), T> values_;
    host::array<T> mean_;  // the mean gradient and the mean value at x, where known_
    host::array<T> step_, trial_;
    double radius_;
    bool known_ = false, accepted_ = false;
    steihaug_result found_;
};

/// DS-LSR1 (Jahani, Nazari, Rusakov, Berahas, Takac, arXiv:1905.13096), and on one rank S-LSR1 (Berahas, Jahani,
/// Richtarik, Takac, arXiv:1901.09997): in each round `memory` fresh directions s_j and their products with the Hessian
/// make an SR1 model of f = mean f_i, B from gamma I on, which forgets all earlier rounds. CG-Steihaug minimises it
/// within a trust region; the step is taken where f falls by more than 1e-6 of what the model promises, and the radius
/// doubles above 3/4 of it and halves below 1/10. With memory = d that is Newton's method in a trust region; with fewer
/// pairs and gamma = 0 most steps are as long as the radius.
///
/// What a rank sends in a round is what curvature_transport says, and a value; where the last step was taken also d + 1
/// numbers, the gradient and the value. `over` is the transport of all sums: gather_all{}, served<identity>{}, by which
/// traffic runs over a star whose server is rank 0, or a collective such as ring{}.
template <class X = gather_all>
struct ds_lsr1 {
    std::size_t memory = 16;                                      ///< m, the number of pairs
    curvature_transport curvature = curvature_transport::ship_y;  ///< what travels: the steps are the same
    double gamma = 0;                                             ///< the model before any pair is gamma I
    double radius = 1;                                            ///< of the trust region at first
    double forcing = .5;  ///< the search ends at a residual of min(forcing, sqrt |g|) |g|
    X over{};

    /// The loop from x. Throws argument_error for settings outside their ranges, and what its constructor throws.
    template <Scalar T, class F, Communicator C>
    sr1_descent<ds_lsr1, F, C, T> start(problem const&, F const& objective, C& comm, std::span<T> x,
                                        std::uint64_t seed) const {
        detail::check_fields(*this);
        return {*this, objective, comm, x, seed};
    }

    bool operator==(ds_lsr1 const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("ds_lsr1", "Newton steps in a trust region, by a model from sampled Hessian products",
                 "Jahani, Nazari, Rusakov, Berahas, Takac, arXiv:1905.13096",
                 field("memory", &ds_lsr1::memory).between(1, 4096).written_by_name(),
                 field("curvature", &ds_lsr1::curvature).by_name(), field("gamma", &ds_lsr1::gamma).by_name(),
                 field("radius", &ds_lsr1::radius).between(1e-300, 1e300).by_name(),
                 field("forcing", &ds_lsr1::forcing).between(1e-300, .999).by_name(),
                 detail::over_field(&ds_lsr1::over));
    }
};

}  // namespace laconic
