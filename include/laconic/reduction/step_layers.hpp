// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/collective/seed.hpp"
#include "laconic/reduction/layer_order.hpp"
#include "laconic/reduction/step_communicator.hpp"
#include "laconic/reduction/step_layer.hpp"
#include "laconic/wire/kind.hpp"

namespace laconic::detail {

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
        if (l >= size()) throw argument_error(concat({"layer ", l, " of ", size()}));
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
            throw argument_error(concat({"two layers are named \"", *same, "\""}));
    }
    void draw() {
        key const whole{seed_.value()};
        for (auto* const l : list_) l->draw_from(share_ ? whole.child(*share_) : whole);
    }

    shared_seed seed_;
    std::optional<std::uint64_t> share_;
    agreed_items common_;
};

}  // namespace laconic::detail
