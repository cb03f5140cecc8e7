// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// In which order the layers of a reducer are started: as in its first step. And how far the step under way has come.
class layer_order {
  public:
    /// `as_listed`: not as in the first step, but by their numbers.
    explicit layer_order(std::size_t layers, bool as_listed = false) : started_(layers), as_listed_(as_listed) {
        order_.reserve(layers);
        if (layers == 1 || as_listed) learn();
    }
    /// One before its first step.
    layer_order fresh() const { return layer_order(started_.size(), as_listed_); }

    /// Whether the first step has been.
    bool is_known() const { return !order_.empty(); }
    /// The layers that the first step has started, in its order, and then the others: learn() makes this the order.
    std::vector<std::size_t> const& first() const { return first_; }
    /// Once it is known: all layers, in their order.
    std::vector<std::size_t> const& all() const { return order_; }
    void learn() {
        order_ = first_;
        for (std::size_t l = 0; l < started_.size(); ++l)
            if (!started_[l]) order_.push_back(l);
    }

    /// This layer is started; false where it is for a second time.
    bool start(std::size_t l) {
        if (started_[l]) return false;
        started_[l] = 1;
        if (!is_known()) first_.push_back(l);
        return true;
    }
    bool is_started(std::size_t l) const { return started_[l] != 0; }

    /// The layer whose message is sent next, of which there must be one.
    std::size_t due() const {
        LACONIC_EXPECTS(!is_over());
        return order_[sent_];
    }
    /// Whether all messages are sent.
    bool is_over() const { return sent_ == order_.size(); }
    /// Whether none is.
    bool is_new() const { return sent_ == 0; }
    void advance() { ++sent_; }
    /// Whether this layer is due only after others.
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
