// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
    /// What must be the same on all ranks in a step with these options: each value once for layers in a row that have
    /// the same.
    [[gnu::cold, gnu::noinline]] agreed_items items_of_step(std::uint64_t round, step_options const& first) const {
        std::string texts[3], last[3];
        auto const add = [&](int i, std::string const& value) {
            if (value != last[i]) texts[i] += (texts[i].empty() ? "" : ", ") + (last[i] = value);
        };
        auto const add_options = [&](step_options const& o) {
            add(0, o.step_size ? shortest(*o.step_size) : "not given"), add(1, shortest(o.loss_scale));
        };
        add_options(first);
        for (auto* const l : list_)
            if (l->alike() != 0) add_options(l->options()), add(2, shortest(l->vector().held().largest()));
        return {{"the steps so far", round},
                {"the seed", seed_.value()},
                {"the step size", texts[0]},
                {"the loss scale", texts[1]},
                {"the largest number that is written", texts[2]}};
    }
    /// The items on which ranks must agree before a step, where some may have been restored, or have other orders.
    agreed_items progress(std::uint64_t steps, std::optional<std::string_view> order = {}) const {
        agreed_items items{{"the steps so far", steps}, {"the seed", seed_.value()}};
        if (order) items.add({"the order of layers", *order});
        return items;
    }
    /// The text that names the owner of a saved state. Layers are in the order of their names, here and in the state,
    /// so that a later run may list them in another order.
    [[gnu::cold, gnu::noinline]] std::string identity(int rank, int ranks, std::uint64_t seed) const {
        agreed_items items{{"the seed", seed}};
        if (share_) items.add({"the share", *share_});
        items.add(common_);
        for (auto const l : by_name()) items.add({list_[l]->title(), list_[l]->described()});
        return concat({items.lines(), "rank ", rank, " of ", ranks, "\n"});
    }
    /// The names of the layers that the first step has started, in its order, and of the others: texts that differ
    /// where the orders do.
    [[gnu::cold, gnu::noinline]] std::string names(layer_order const& order) const {
        std::string text;
        for (auto const l : order.first()) text += concat({escaped(list_[l]->name(), ",;"), ", "});
        for (std::size_t l = 0; l < size(); ++l)
            if (!order.is_started(l)) text += concat({"; not started: ", escaped(list_[l]->name(), ",;")});
        return text.ends_with(", ") ? text.substr(0, text.size() - 2) : text;
    }
    void require_consistent() const {
        for (auto const* l : list_) l->require_consistent();
    }

  protected:
    /// For numbers of so many bytes each.
    [[gnu::cold]] step_layers(std::vector<layer> const& layers, reducer_options options, std::size_t bytes_each)
        : options_(std::move(options)),
          seed_(options_.seed),
          common_{{"the bytes of a number", bytes_each}, {"the version of the wire format", wire::wire_version}} {
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
                throw non_finite_error(-1, round, i, l->name().empty() ? "" : l->title());
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
    agreed_items common_;
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
                r, {"ranks disagree: ranks ", with, " and ", r, " start the layers in different orders"});
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
