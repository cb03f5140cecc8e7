// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/collective/agreement.hpp"
#include "laconic/collective/seed.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/text.hpp"
#include "laconic/reduction/layer_order.hpp"
#include "laconic/reduction/options.hpp"
#include "laconic/reduction/reduced_layer.hpp"
#include "laconic/wire/kind.hpp"

namespace laconic::detail {

/// The layers of a reducer, on one rank, in the order in which the caller lists them.
template <class R, Scalar T, class B>
class reduced_layers {
  public:
    using layer_type = reduced_layer<R, T, B>;

    /// Makes a layer with the reduction rule(layer), an R, for each. Throws argument_error where there is none, two
    /// have one name, or the reduction or the options do not suit one, theory_error where no theorem covers it.
    /// `wholes`: layers of which these are this rank's shares, for that error.
    template <class Rule>
    [[gnu::cold]] reduced_layers(Rule const& rule, std::vector<layer> const& layers, reducer_options const& options,
                                 std::vector<layer> const* wholes = nullptr)
        : seed_(options.seed),
          common_{{"the bytes of a number", sizeof(T)}, {"the version of the wire format", wire_version}} {
        if (layers.empty()) throw argument_error("a reducer of no layers");
        require_names(layers);
        for (auto const& l : layers) {
            auto const named = [&](error const& e) {
                auto const whole = wholes ? (*wholes)[all_.size()].size : l.size;
                return concat(
                    {(l.name.empty() ? "" : concat({"layer ", l.name, ": "})), e.what(),
                     (wholes ? concat({", where this rank has ", l.size, " of its ", whole, " numbers"}) : "")});
            };
            try {
                check_dimension(l.size);  // before there is memory for it
                all_.emplace_back(rule(l), l, options);
            } catch (argument_error const& e) {
                throw argument_error(named(e));
            } catch (theory_error const& e) {
                throw theory_error(named(e));
            }
        }
        uses_collective_ = std::any_of(all_.begin(), all_.end(), [](auto const& l) { return l.uses_collective(); });
        if (options.not_started == absent::skip && uses_collective_)
            throw argument_error("absent::skip goes with messages that are gathered, not with a collective");
        require_matches(layers, options);
        common_.add(described(options));
    }

    std::size_t size() const { return all_.size(); }
    layer_type& operator[](std::size_t l) { return all_[l]; }
    layer_type const& operator[](std::size_t l) const { return all_[l]; }
    /// Throws argument_error where there is no such layer.
    layer_type& at(std::size_t l) {
        if (l >= all_.size()) throw argument_error(concat({"layer ", l, " of ", all_.size()}));
        return all_[l];
    }
    std::deque<layer_type> const& all() const { return all_; }
    /// Whether a collective adds up the messages of any layer.
    bool uses_collective() const { return uses_collective_; }
    template <class Use>
    void for_each(Use use) {
        for (auto& l : all_) use(l);
    }

    /// The items that must be the same on all ranks.
    [[gnu::cold, gnu::noinline]] agreed_items items() const {
        auto items = common_;
        for (auto const& l : all_) items.add({l.title(), l.described()});
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
        for (auto const& l : all_)
            if (l.alike() != 0) add_options(l.options()), add(2, shortest(static_cast<double>(l.largest())));
        return {{"the steps so far", round},
                {"the seed", seed_.value()},
                {"the step size", texts[0]},
                {"the loss scale", texts[1]},
                {"the largest number that is written", texts[2]}};
    }
    /// To be called before the first step over these ranks: throws agreement_error on all of them where they disagree
    /// on the layers, the reductions, the options or the seed, argument_error where a transport does not suit the
    /// communicator.
    template <Communicator C>
    void agree(C& comm) {
        seed_.agree(comm, items());
        draw();
        for (auto& l : all_) l.start(comm);
    }
    shared_seed const& seed() const { return seed_; }
    /// Draws from another seed, where none is given.
    void replace_seed(std::uint64_t seed) {
        seed_.replace(seed);
        draw();
    }
    /// Where these are shares of layers, before agree(): the seed on which all shares have agreed, and the share's
    /// number, that of the seed's child from which they draw.
    void draw_as(shared_seed const& seed, std::uint64_t share) { seed_ = seed, share_ = share; }
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
        for (auto const l : by_name()) items.add({all_[l].title(), all_[l].described()});
        return concat({items.lines(), "rank ", rank, " of ", ranks, "\n"});
    }
    /// The names of the layers that the first step has started, in its order, and of the others: texts that differ
    /// where the orders do.
    [[gnu::cold, gnu::noinline]] std::string names(layer_order const& order) const {
        std::string text;
        for (auto const l : order.first()) text += concat({escaped(all_[l].name(), ",;"), ", "});
        for (std::size_t l = 0; l < all_.size(); ++l)
            if (!order.is_started(l)) text += concat({"; not started: ", escaped(all_[l].name(), ",;")});
        return text.ends_with(", ") ? text.substr(0, text.size() - 2) : text;
    }
    /// Throws non_finite_error where finish() would write a number that is not finite: on all ranks where they have the
    /// same types of numbers and loss scales.
    template <Communicator C>
    void require_writable(B& on, C const& comm, std::uint64_t round) {
        for (auto& l : all_)
            if (auto const i = l.first_not_writable(on, comm, round); i < l.size())
                throw non_finite_error(-1, round, i, l.name().empty() ? "" : l.title());
    }
    /// Makes the callers' vectors NaN: those that are started and, with `bound`, those that are bound to the others.
    void write_nan(B& on, bool bound) {
        for (auto& l : all_) {
            if (bound) l.vector().hold_bound();
            l.write_nan(on);
        }
    }
    /// Gathers each layer's mean in full, for a probe of this step.
    template <Communicator C>
    void gather_exact(B& on, C& comm, std::uint64_t round) {
        for (auto& l : all_) l.gather_exact(on, comm, round);
    }
    std::size_t bytes_of_state() const {
        std::size_t all = 0;
        for (auto const& l : all_) all += l.memory().bytes();
        return all;
    }
    template <class Archive>
    void state(Archive& archive) {
        for (auto const l : by_name()) all_[l].state(archive);
    }
    void wait() const {
        for (auto const& l : all_) l.wait();
    }
    void require_whole() const {
        for (auto const& l : all_) l.require_whole();
    }
    void make_whole() {
        for (auto& l : all_) l.make_whole();
    }

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
        for (auto& l : all_) l.draw_from(share_ ? whole.child(*share_) : whole);
    }
    std::vector<std::size_t> by_name() const {
        std::vector<std::size_t> places(all_.size());
        std::iota(places.begin(), places.end(), std::size_t{0});
        std::sort(places.begin(), places.end(), [&](auto a, auto b) { return all_[a].name() < all_[b].name(); });
        return places;
    }

    shared_seed seed_;
    std::optional<std::uint64_t> share_;
    agreed_items common_;
    std::deque<layer_type> all_;
    bool uses_collective_ = false;
};

}  // namespace laconic::detail
