// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "laconic/collective/agreement.hpp"
#include "laconic/collective/session.hpp"

namespace laconic::detail {

/// The order in which the layers of a reducer are started, and the progress of the current step. It is that of the
/// first step in which all layers are started, learn(); before, a step that lacks some has the order of their list.
class layer_order {
  public:
    /// `as_listed`: the order is always that of the layers' numbers.
    explicit layer_order(std::size_t layers, bool as_listed = false) : started_(layers), as_listed_(as_listed) {
        order_.reserve(layers);
        learned_ = layers == 1 || as_listed;
        if (learned_) list_once();
    }
    /// Returns an order of as many layers before their first step.
    layer_order fresh() const { return layer_order(started_.size(), as_listed_); }

    /// Whether there is an order for the current step.
    bool is_known() const { return !order_.empty(); }
    /// Whether it holds for later steps, too.
    bool is_learned() const { return learned_; }
    /// The layers that a step without an order has started, in the order in which it has.
    std::vector<std::size_t> const& first() const { return first_; }
    bool has_all() const { return first_.size() == started_.size(); }
    /// All layers in their order, once it is known.
    std::vector<std::size_t> const& all() const { return order_; }
    /// first(), which has all layers, becomes the order of this step and of later ones.
    void learn() {
        LACONIC_EXPECTS(has_all());
        order_ = first_;
        learned_ = true;
    }
    /// The current step has the order of the list.
    void list_once() {
        order_.resize(started_.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
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
    void advance() { ++sent_; }
    /// Whether this layer comes later than the one that is due.
    bool is_later(std::size_t l) const {
        return std::find(order_.begin() + static_cast<std::ptrdiff_t>(sent_), order_.end(), l) != order_.end();
    }
    void end_step() {
        std::fill(started_.begin(), started_.end(), char{0});
        first_.clear();
        sent_ = 0;
        if (!learned_) order_.clear();
    }

  private:
    std::vector<char> started_;
    bool as_listed_, learned_;
    std::vector<std::size_t> order_, first_;
    std::size_t sent_ = 0;
};

/// Learns the order of a step in which every rank has started all layers; where one has not, the step has the order of
/// the list. Throws agreement_error on all ranks where their `progress` differs, or two have started all layers in
/// different orders. 24 bytes from each rank.
[[gnu::cold, gnu::noinline]] void learn_if_complete(Communicator auto& comm, layer_order& order,
                                                    agreed_items const& progress) {
    require_agreement(comm, progress);
    std::uint64_t const mine = order.has_all() ? fingerprint(std::as_bytes(std::span(order.first()))) | 1 : 0;
    bool all = true;
    int with = no_rank;  // the first rank that has started all, and its order
    std::uint64_t first = 0;
    from_all(comm, mine, "its order of layers", [&](int r, std::uint64_t theirs) {
        all = all && theirs != 0;
        if (theirs == 0) return;
        if (with == no_rank) with = r, first = theirs;
        if (theirs != first)
            throw agreement_error(
                r, concat({"ranks disagree: ranks ", with, " and ", r, " start the layers in different orders"}));
    });
    all ? order.learn() : order.list_once();
}

/// Learns the order of a step in which every rank must start all layers. Throws on all ranks the least failure of those
/// that have one (`own`), agreement_error where their `layers`' orders differ, compression_error where all lack the
/// same. 16 bytes from each rank where nothing is wrong.
[[gnu::cold, gnu::noinline]] void require_order(Communicator auto& comm, layer_order& order, auto const& layers,
                                                std::uint64_t round, failure const& own) {
    struct begun {
        std::uint64_t digest, has_failed;
    };
    auto const items = layers.progress(round, layers.names(order));
    begun const mine{fingerprint(std::as_bytes(std::span(items.lines()))), own ? 1u : 0u};
    begun first = mine;
    bool alike = true, has_failed = false;
    from_all(comm, mine, "its order of layers", [&](int r, begun theirs) {
        if (r == 0) first = theirs;
        alike = alike && theirs.digest == first.digest;
        has_failed = has_failed || theirs.has_failed != 0;
    });
    wire::bit_writer sink;
    if (has_failed) share_failure(comm, own, sink).raise();
    if (!alike) require_agreement(comm, items);  // which throws
    for (std::size_t l = 0; l < layers.size(); ++l)
        if (!order.is_started(l)) throw compression_error(0, round, layers[l].was_not_started());
    order.learn();
}

}  // namespace laconic::detail
