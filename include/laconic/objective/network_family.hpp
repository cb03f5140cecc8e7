// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "laconic/objective/neural_network.hpp"

namespace laconic {

/// Networks of any depth, with `width` units in each hidden layer, over the same data.
template <OutputLoss Loss, Scalar T>
class network_family {
  public:
    network_family(dataset<T> data, Loss loss, std::size_t width)
        : rows_(std::move(data)), loss_(std::move(loss)), width_(width) {}

    Loss const& loss() const { return loss_; }
    dataset<T> const& data() const { return rows_.data(); }
    /// How many numbers the outputs for all rows are.
    std::size_t outputs() const { return rows_.size() * loss_.outputs(); }
    neural_network<Loss, T> of(std::size_t depth) const {
        return neural_network<Loss, T>(rows_, std::vector<std::size_t>(depth, width_), loss_);
    }
    /// The outputs for all rows, row after row.
    std::vector<T> predict(std::size_t depth, std::span<T const> x) const {
        std::vector<T> z(outputs());
        of(depth).predict(x, z);
        return z;
    }
    /// Adds `weight` times the outputs for other data, row after row, to z.
    void add_prediction(std::size_t depth, std::span<T const> x, dataset<T> const& other, double weight,
                        std::vector<double>& z) const {
        neural_network<no_loss, T> const net(other, std::vector<std::size_t>(depth, width_),
                                             no_loss{loss_.outputs(), other.samples()});
        std::vector<T> its(z.size());
        net.predict(x, its);
        for (std::size_t i = 0; i < z.size(); ++i) z[i] += weight * double(its[i]);
    }

  private:
    shared_rows<T> rows_;
    Loss loss_;
    std::size_t width_;
};

}  // namespace laconic
