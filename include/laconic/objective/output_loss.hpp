// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "laconic/objective/dataset.hpp"

namespace laconic {

/// The loss of the outputs z of a model for row j of its data, convex in z. In words:
///
///     l.outputs()              k, the number of outputs of a row, at least 1
///     l.rows()                 how many rows it knows the labels of
///     l.loss(z, j)             returns the loss of row j, and replaces z by the loss's derivatives in z, its slopes
///     l.multiply_by_bend(s, j, v)   v <- H v for the Hessian H of row j's loss in z, s being the slopes at z
template <class L>
concept OutputLoss = std::copyable<L> &&
    requires(L const& l, std::span<double> z, std::size_t j, std::span<double const> s, std::span<float> single) {
    { l.outputs() } -> std::same_as<std::size_t>;
    { l.rows() } -> std::same_as<std::size_t>;
    { l.loss(z, j) } -> std::same_as<double>;
    { l.loss(single, j) } -> std::same_as<double>;
    l.multiply_by_bend(s, j, z);
};

/// (z - y_j)^2, of one output. Copies share the labels.
template <Scalar T = double>
class squared_output {
  public:
    /// Throws argument_error where a label is not finite.
    explicit squared_output(dataset<T> const& data) : labels_(std::make_shared<std::vector<T> const>(data.labels)) {
        for (std::size_t j = 0; j < rows(); ++j)
            if (!std::isfinite((*labels_)[j]))
                throw argument_error({data.name, ": the label of row ", j, " is not finite"});
    }

    std::size_t outputs() const { return 1; }
    std::size_t rows() const { return labels_->size(); }
    template <Scalar U>
    double loss(std::span<U> z, std::size_t j) const {
        LACONIC_EXPECTS(z.size() == 1 && j < rows());
        double const off = double(z[0]) - double((*labels_)[j]);
        z[0] = static_cast<U>(2 * off);
        return off * off;
    }
    template <Scalar U>
    void multiply_by_bend(std::span<U const>, std::size_t, std::span<U> v) const {
        v[0] *= 2;
    }

  private:
    std::shared_ptr<std::vector<T> const> labels_;
};

/// No loss, of a model that only predicts: nothing is known of its rows but their number.
struct no_loss {
    std::size_t count, known_rows;

    std::size_t outputs() const { return count; }
    std::size_t rows() const { return known_rows; }
    template <Scalar U>
    double loss(std::span<U> z, std::size_t) const {
        std::fill(z.begin(), z.end(), U(0));
        return 0;
    }
    template <Scalar U>
    void multiply_by_bend(std::span<U const>, std::size_t, std::span<U> v) const {
        std::fill(v.begin(), v.end(), U(0));
    }
};

/// The loss log sum_c exp(z_c) - z_y, where z are the predictions for k >= 1 classes and y < k is the right one.
/// Replaces z by the loss's slopes: p_c = exp(z_c) / sum exp(z), less 1 at y. Exact for any finite z; small values and
/// slopes keep their digits. Convex in z; its Hessian diag(p) - p p' is at most 1/2.
template <Scalar T>
double cross_entropy(std::span<T> z, std::size_t y) {
    LACONIC_EXPECTS(y < z.size());
    auto const best = static_cast<std::size_t>(std::max_element(z.begin(), z.end()) - z.begin());
    double const top = double(z[best]), behind = top - double(z[y]);
    double others = 0, wrong = 0;  // sums of exp(z_c - top): without the best class, whose term is 1; without y
    for (std::size_t c = 0; c < z.size(); ++c) {
        double const e = c == best ? 1 : std::exp(double(z[c]) - top);
        others += c == best ? 0 : e;
        wrong += c == y ? 0 : e;
        z[c] = static_cast<T>(e);
    }
    for (T& e : z) e = static_cast<T>(double(e) / (1 + others));
    z[y] = static_cast<T>(-wrong / (1 + others));
    return std::log1p(others) + behind;
}

/// The index, from 0, of each row's label among the classes. Throws argument_error unless the classes are at least two
/// whole numbers, increasing, and every label is one of them.
template <Scalar T>
std::vector<std::uint32_t> class_index(dataset<T> const& data, std::vector<T> const& classes) {
    if (classes.size() < 2) throw argument_error({data.name, ": two classes are needed, not ", classes.size()});
    for (std::size_t c = 0; c < classes.size(); ++c) {
        if (!std::isfinite(classes[c]) || std::trunc(classes[c]) != classes[c])
            throw argument_error({data.name, ": the class ", double(classes[c]), " is no whole number"});
        if (c > 0 && !(classes[c - 1] < classes[c]))
            throw argument_error({data.name, ": the classes do not increase at ", double(classes[c])});
    }
    std::vector<std::uint32_t> places;
    places.reserve(data.labels.size());
    for (auto const label : data.labels) {
        auto const at = std::lower_bound(classes.begin(), classes.end(), label);
        if (at == classes.end() || *at != label)
            throw argument_error(
                {data.name, ": the label ", double(label), " is none of the ", classes.size(), " classes"});
        places.push_back(static_cast<std::uint32_t>(at - classes.begin()));
    }
    return places;
}

/// The cross-entropy of k outputs, one for each class, with the class of row j. Copies share the labels.
template <Scalar T = double>
class class_output {
  public:
    /// The classes are the distinct labels.
    explicit class_output(dataset<T> const& data) : class_output(data, laconic::classes(data)) {}
    /// For data that may lack a class. Throws what class_index does.
    class_output(dataset<T> const& data, std::vector<T> classes)
        : classes_(std::move(classes)),
          places_(std::make_shared<std::vector<std::uint32_t> const>(class_index(data, classes_))) {}

    std::size_t outputs() const { return classes_.size(); }
    std::size_t rows() const { return places_->size(); }
    /// The labels of the outputs, increasing.
    std::vector<T> const& classes() const { return classes_; }
    /// The output that is the class of row j.
    std::uint32_t right(std::size_t j) const { return (*places_)[j]; }
    template <Scalar U>
    double loss(std::span<U> z, std::size_t j) const {
        return cross_entropy(z, right(j));
    }
    /// H = diag(p) - p p', where the slopes are the probabilities p of the classes, less 1 for the right one.
    template <Scalar U>
    void multiply_by_bend(std::span<U const> s, std::size_t j, std::span<U> v) const {
        auto const p = [&](std::size_t c) { return s[c] + (c == right(j) ? U(1) : U(0)); };
        U mean = 0;
        for (std::size_t c = 0; c < s.size(); ++c) mean += p(c) * v[c];
        for (std::size_t c = 0; c < s.size(); ++c) v[c] = p(c) * (v[c] - mean);
    }

  private:
    std::vector<T> classes_;
    std::shared_ptr<std::vector<std::uint32_t> const> places_;
};

}  // namespace laconic
