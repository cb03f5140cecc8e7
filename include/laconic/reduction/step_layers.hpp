// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/collective/agreement.hpp"
#include "laconic/collective/seed.hpp"
#include "laconic/collective/session.hpp"
#include "laconic/reduction/step_communicator.hpp"
#include "laconic/reduction/step_layer.hpp"
#include "laconic/wire/kind.hpp"

namespace laconic::detail {

/// The order in which the messages about the layers of a reducer are sent, whatever the order in which these are
/// started, and the progress of the current step. It is that in which rank 0 starts the layers of the first step that
/// has them all, learn(); before, a step that lacks some has the order of their list.
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
    /// `all`, which must have each layer once, becomes the order of this step and of later ones. Returns false, and
    /// changes nothing, where it has not.
    bool learn(std::vector<std::size_t> all) {
        auto sorted = all;
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t l = 0; l < started_.size(); ++l)
            if (sorted.size() != started_.size() || sorted[l] != l) return false;
        order_ = std::move(all);
        return learned_ = true;
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
    /// Whether there is a layer whose message is sent next, and it is this one, or it is started.
    bool is_due(std::size_t l) const { return !is_over() && due() == l; }
    bool is_next_started() const { return !is_over() && is_started(due()); }
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

/// The layers of a step as what controls it sees them, on one rank, in the order in which the caller lists them.
class step_layers {
  public:
    step_layers(step_layers const&) = delete;
    step_layers& operator=(step_layers const&) = delete;

    std::size_t size() const { return list_.size(); }
    step_layer const& operator[](std::size_t l) const { return *list_[l]; }
    shared_seed const& seed() const { return seed_; }
    /// Draws from another seed, where none is given.
    void replace_seed(std::uint64_t seed) {
        seed_.replace(seed);
        draw();
    }
    /// Where these are shares of layers, before agree(): the seed on which all shares have agreed, and the share's
    /// number, that of the seed's child from which they draw.
    void draw_as(shared_seed const& seed, std::uint64_t share) { seed_ = seed, share_ = share; }

    /// The items that must be the same on all ranks.
    [[gnu::cold, gnu::noinline]] agreed_items items() const {
        auto items = common_;
        items.add({"the number of layers", size()});
        for (auto const* l : list_) items.add({l->title(), l->described()});
        return items;
    }
    /// What must be the same on all ranks in a step: each value once for layers in a row that have the same, or the
    /// `first` options where no layer has any.
    [[gnu::cold, gnu::noinline]] agreed_items items_of_step(std::uint64_t round, step_options const& first) const {
        std::string texts[3], last[3];
        auto const add = [&](int i, std::string const& value) {
            if (value != last[i]) texts[i] += (texts[i].empty() ? "" : ", ") + (last[i] = value);
        };
        auto const add_options = [&](step_options const& o) {
            add(0, o.step_size ? shortest(*o.step_size) : "not given"), add(1, shortest(o.loss_scale));
        };
        for (auto* const l : list_)
            if (l->alike() != 0) add_options(l->options()), add(2, shortest(l->vector().held().largest()));
        if (texts[0].empty()) add_options(first);
        return {{"the steps so far", round},
                {"the seed", seed_.value()},
                {"the step size", texts[0]},
                {"the loss scale", texts[1]},
                {"the largest number that is written", texts[2]}};
    }
    /// The items on which ranks must agree before a step, where some may have been restored.
    agreed_items progress(std::uint64_t steps) const {
        return {{"the steps so far", steps}, {"the seed", seed_.value()}};
    }
    /// The text that names the owner of a saved state. Layers are in the order of their names, here and in the state,
    /// so that a later run may list them in another order. It begins with what must always be the same.
    [[gnu::cold, gnu::noinline]] std::string identity(int rank, int ranks, std::uint64_t seed) const {
        agreed_items items;
        items.add(described(options_));
        for (auto const l : by_name()) items.add({list_[l]->title(), list_[l]->described()});
        return fixed_identity(rank, ranks, seed) + items.lines();
    }
    [[gnu::cold, gnu::noinline]] std::string fixed_identity(int rank, int ranks, std::uint64_t seed) const {
        agreed_items items{{"the seed", seed}};
        if (share_) items.add({"the share", *share_});
        items.add(numbers_);
        return concat({items.lines(), "rank ", rank, " of ", ranks, "\n"});
    }
    void require_consistent() const {
        for (auto const* l : list_) l->require_consistent();
    }

  protected:
    /// For numbers of so many bytes each.
    [[gnu::cold]] step_layers(std::vector<layer> const& layers, reducer_options options, std::size_t bytes_each)
        : options_(std::move(options)),
          seed_(options_.seed),
          numbers_{{"the bytes of a number", bytes_each}, {"the version of the wire format", wire::wire_version}},
          common_(numbers_) {
        if (layers.empty()) throw argument_error("a reducer of no layers");
        require_names(layers);
    }
    ~step_layers() = default;
    /// Once they are connected: the communicator for messages, and the one for probes and comparisons.
    virtual step_communicator& comm() const = 0;
    virtual step_communicator& watching() const = 0;
    /// The most messages that may be in flight.
    virtual std::size_t at_once() const = 0;

    /// Throws argument_error where there is no such layer.
    step_layer& at(std::size_t l) const {
        if (l >= size())
            throw argument_error({"there is no layer ", l, ": this reducer's layers are 0 .. ", size() - 1});
        return *list_[l];
    }
    /// To be called once list_ has them all. Throws argument_error where the options do not suit them.
    [[gnu::cold, gnu::noinline]] void check(std::vector<layer> const& layers) {
        uses_collective_ = std::any_of(list_.begin(), list_.end(), [](auto const* l) { return l->uses_collective(); });
        if (options_.missing_layer == on_missing_layer::skip && uses_collective_)
            throw argument_error("on_missing_layer::skip goes with messages that are gathered, not with a collective");
        require_matches(layers, options_);
        common_.add(described(options_));
    }
    /// Throws agreement_error on all ranks where they disagree on the layers, the reductions, the options or the seed.
    [[gnu::cold]] void agree() {
        seed_.agree(comm(), items());
        draw();
    }
    [[gnu::cold]] std::vector<std::size_t> by_name() const {
        std::vector<std::size_t> places(size());
        std::iota(places.begin(), places.end(), std::size_t{0});
        std::sort(places.begin(), places.end(), [&](auto a, auto b) { return list_[a]->name() < list_[b]->name(); });
        return places;
    }
    /// Throws non_finite_error where finish() would write a number that is not finite: on all ranks where they have the
    /// same types of numbers and loss scales.
    [[gnu::cold]] void require_writable(std::uint64_t round) {
        for (auto* const l : list_)
            if (auto const i = l->first_not_writable(round); i < l->size())
                throw non_finite_error(non_finite_error::estimate, round, i, l->name().empty() ? "" : l->title());
    }

    reducer_options options_;
    std::vector<step_layer*> list_;
    bool uses_collective_ = false;  // for the messages of any layer

  private:
    [[gnu::cold, gnu::noinline]] static void require_names(std::vector<layer> const& layers) {
        std::vector<std::string_view> names;
        for (auto const& l : layers) names.push_back(l.name);
        std::sort(names.begin(), names.end());
        if (auto const same = std::adjacent_find(names.begin(), names.end()); same != names.end())
            throw argument_error({"two layers are named \"", *same, "\""});
    }
    void draw() {
        key const whole{seed_.value()};
        for (auto* const l : list_) l->draw_from(share_ ? whole.child(*share_) : whole);
    }

    shared_seed seed_;
    std::optional<std::uint64_t> share_;
    agreed_items numbers_, common_;
};

/// Learns the order of a step in which every rank has started all layers, which is rank 0's; where one has not, the
/// step has the order of the list. Throws on all ranks the least failure of those that have one (`own`),
/// agreement_error where their `progress` differs. 24 bytes from each rank, and rank 0's order where another has
/// another.
[[gnu::cold, gnu::noinline]] void learn_order(Communicator auto& comm, layer_order& order, agreed_items const& progress,
                                              failure const& own) {
    struct begun {
        std::uint64_t progress, order, has_failed;
    };
    begun const mine{fingerprint(std::as_bytes(std::span(progress.lines()))),
                     order.has_all() ? fingerprint(std::as_bytes(std::span(order.first()))) | 1 : 0, own ? 1u : 0u};
    begun first = mine;
    bool all = true, is_one = true, alike = true, has_failed = false;
    from_all(comm, mine, "its order of layers", [&](int r, begun theirs) {
        if (r == 0) first = theirs;
        all = all && theirs.order != 0;
        is_one = is_one && theirs.order == first.order;
        alike = alike && theirs.progress == first.progress;
        has_failed = has_failed || theirs.has_failed != 0;
    });
    wire::bit_writer sink;
    if (has_failed) share_failure(comm, own, sink).raise();
    if (!alike) require_agreement(comm, progress);  // which throws
    if (!all) return order.list_once();
    auto learned = order.first();
    if (!is_one) {
        auto const own_order = std::as_bytes(std::span(order.first()));
        comm.all_gather({comm.rank() == 0 ? own_order : own_order.first(0)});
        auto const theirs = bytes_from(comm, 0, own_order.size(), "its order of layers");
        std::memcpy(learned.data(), theirs.data(), theirs.size());
    }
    if (!order.learn(std::move(learned))) failure::lost(0, "sent an order that lacks a layer").raise();
}

}  // namespace laconic::detail
