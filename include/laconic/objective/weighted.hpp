// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "laconic/core/kept.hpp"
#include "laconic/objective/objective.hpp"

namespace laconic {

/// weight times an objective f, which must outlive this: value, gradient, batch gradient, Hessian and constants are
/// weight times f's, as the slopes and the penalty of a GeneralisedLinear are, and all else is f's. With the weights of
/// by_samples (collective/agreed_problem.hpp) the mean over the ranks is the mean over all samples.
template <class F>
class weighted {
  public:
    /// weight must be above 0.
    weighted(F const& f, double weight) : f_(f), weight_(weight) {}

    double weight() const { return weight_; }
    std::size_t dimension() const { return static_cast<std::size_t>(f_->dimension()); }
    template <class X>
    requires requires(F const& f, X const& x) { f.value(x); }
    auto value(X const& x) const { return scale(f_->value(x)); }
    template <class X, class G>
    requires requires(F const& f, X const& x, G&& g) { f.gradient(x, g); }
    void gradient(X const& x, G&& g) const {
        f_->gradient(x, g);
        scale_all(g);
    }
    template <class X, class G>
    requires requires(F const& f, X const& x, G&& g) { f.value_and_gradient(x, g); }
    auto value_and_gradient(X const& x, G&& g) const {
        auto const value = f_->value_and_gradient(x, g);
        scale_all(g);
        return scale(value);
    }
    template <class Rows, class X, class G>
    requires requires(F const& f, Rows const& rows, X const& x, G&& g) { f.batch_gradient(rows, x, g); }
    void batch_gradient(Rows const& rows, X const& x, G&& g) const {
        f_->batch_gradient(rows, x, g);
        scale_all(g);
    }
    std::size_t outputs() const requires requires(F const& f) { f.outputs(); }
    { return static_cast<std::size_t>(f_->outputs()); }
    template <class X, class S>
    requires requires(F const& f, X const& x, S&& s) { f.slopes(std::size_t{}, x, s); }
    void slopes(std::size_t j, X const& x, S&& s) const {
        f_->slopes(j, x, s);
        scale_all(s);
    }
    template <class S, class G>
    requires requires(F const& f, S const& s, G&& g) { f.add_row(std::size_t{}, s, 1., g); }
    void add_row(std::size_t j, S const& s, double w, G&& g) const { f_->add_row(j, s, w, g); }
    /// Where the weight is not 1 this rounds g twice more.
    template <class X, class G>
    requires requires(F const& f, X const& x, G&& g) { f.add_penalty_gradient(x, g); }
    void add_penalty_gradient(X const& x, G&& g) const {
        if (weight_ != 1)
            for (auto& v : g) v = static_cast<std::remove_cvref_t<decltype(v)>>(static_cast<double>(v) / weight_);
        f_->add_penalty_gradient(x, g);
        scale_all(g);
    }
    template <class X, class Matrix>
    requires requires(F const& f, X const& x, Matrix& h) { f.hessian(x, h); }
    void hessian(X const& x, Matrix& h) const {
        f_->hessian(x, h);
        h *= weight_;
    }
    template <class X, class V, class G>
    requires requires(F const& f, X const& x, V const& v, G&& out) { f.hessian_times(x, v, out); }
    void hessian_times(X const& x, V const& v, G&& out) const {
        f_->hessian_times(x, v, out);
        scale_all(out);
    }
    std::size_t samples() const requires detail::HasSamples<F> { return static_cast<std::size_t>(f_->samples()); }
    double smoothness() const requires requires(F const& f) { f.smoothness(); }
    { return weight_ * static_cast<double>(f_->smoothness()); }
    double strong_convexity() const requires requires(F const& f) { f.strong_convexity(); }
    { return weight_ * static_cast<double>(f_->strong_convexity()); }
    double sample_smoothness() const requires detail::HasSampleSmoothness<F> {
        return weight_ * static_cast<double>(f_->sample_smoothness());
    }

  private:
    template <std::floating_point V>
    V scale(V value) const {
        return static_cast<V>(weight_ * static_cast<double>(value));
    }
    void scale_all(auto&& g) const {
        if (weight_ == 1) return;  // the same bits
        for (auto& v : g) v = scale(v);
    }

    detail::kept<F const> f_;
    double weight_;
};

}  // namespace laconic
