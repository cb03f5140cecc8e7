// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// The order in which the layers of a reducer are started, which is that of its first step, and the progress of the
/// current step.
class layer_order {
  public:
    /// `as_listed`: the order is that of the layers' numbers, not that of the first step.
    explicit layer_order(std::size_t layers, bool as_listed = false) : started_(layers), as_listed_(as_listed) {
        order_.reserve(layers);
        if (layers == 1 || as_listed) learn();
    }
    /// Returns an order of as many layers before their first step.
    layer_order fresh() const { return layer_order(started_.size(), as_listed_); }

    /// Whether the first step is over.
    bool is_known() const { return !order_.empty(); }
    /// The layers that the first step has started, in its order; learn() makes this, followed by the others, the order.
    std::vector<std::size_t> const& first() const { return first_; }
    /// All layers in their order, once it is known.
    std::vector<std::size_t> const& all() const { return order_; }
    void learn() {
        order_ = first_;
        for (std::size_t l = 0; l < started_.size(); ++l)
            if (!started_[l]) order_.push_back(l);
    }

    /// Marks this layer as started; returns false where it was started before in this step.
    bool start(std::size_t l) {
        if (started_[l]) return false;
        started_[l] = 1;
        if (!is_known()) first_.push_back(l);
        return true;
    }
    bool is_started(std::size_t l) const { return started_[l] != 0; }

    /// The layer whose message is sent next; there must be one.
    std::size_t due() const {
        LACONIC_EXPECTS(!is_over());
        return order_[sent_];
    }
    /// Whether all messages are sent.
    bool is_over() const { return sent_ == order_.size(); }
    /// Whether no message is sent.
    bool is_new() const { return sent_ == 0; }
    void advance() { ++sent_; }
    /// Whether this layer comes later than the one that is due.
    bool is_later(std::size_t l) const {
        return std::find(order_.begin() + static_cast<std::ptrdiff_t>(sent_), order_.end(), l) != order_.end();
    }
    void end_step() {
        std::fill(started_.begin(), started_.end(), char{0});
        first_.clear();
        sent_ = 0;
    }

  private:
    std::vector<char> started_;
    bool as_listed_;
    std::vector<std::size_t> order_, first_;
    std::size_t sent_ = 0;
};

}  // namespace laconic::detail
