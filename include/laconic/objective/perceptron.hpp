// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "laconic/objective/neural_network.hpp"

namespace laconic {

/// A perceptron of two layers that classifies into k classes, a network with one hidden layer: f(x) = (1/N) sum_j
/// cross_entropy(W' act(W a_j + b) + b', y_j) + (lambda/2) (|W|^2 + |W'|^2) over N rows a_j, whose labels name one of
/// the classes. Not convex.
///
/// x holds, one after another: W, hidden x features, row after row; b, hidden numbers; W', classes x hidden, row after
/// row; b', classes numbers.
template <Scalar T = double, Activation Act = activation::relu>
class perceptron : public neural_network<class_output<T>, T, Act> {
    using base = neural_network<class_output<T>, T, Act>;

  public:
    /// The classes are the distinct labels; it throws as the other constructor does.
    perceptron(dataset<T> const& data, std::size_t hidden, double lambda = 0)
        : perceptron(data, hidden, lambda, laconic::classes(data)) {}

    /// For data that may lack a class, as a worker's part may: all workers pass the same classes, increasing. Throws
    /// what neural_network does, and argument_error unless the classes are two or more whole numbers and every label is
    /// one of them.
    perceptron(dataset<T> data, std::size_t hidden, double lambda, std::vector<T> classes)
        : perceptron(class_output<T>(data, std::move(classes)), data, hidden, lambda) {}

    std::size_t hidden() const { return base::matrices()[0].rows; }
    /// The labels of the outputs, increasing.
    std::vector<T> const& classes() const { return base::loss().classes(); }

  private:
    perceptron(class_output<T> loss, dataset<T>& data, std::size_t hidden, double lambda)
        : base(std::move(data), {hidden}, std::move(loss), lambda) {}
};

}  // namespace laconic
