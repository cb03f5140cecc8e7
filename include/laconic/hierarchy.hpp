// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/core/kept.hpp"
#include "laconic/reducer.hpp"
#include "laconic/reduction/node_sum.hpp"

namespace laconic {

/// In place of a reducer's communicator: the ranks of one node, and the ranks of all nodes that have this one's number
/// in their node, such as comm.split(rank / 4, 0) and comm.split(rank % 4, 0). All nodes must have as many ranks. It
/// does not own the communicators, which outlive the reducer; of a handle, such as any_communicator, it keeps a copy.
template <PointToPoint Inside, Communicator A>
struct hierarchy {
    detail::kept_member<Inside> inside;
    detail::kept_member<A> across;
};
template <class Inside, class A>
hierarchy(Inside&, A&) -> hierarchy<Inside, A>;
template <class Inside, class A>
hierarchy(Inside&&, A&&) -> hierarchy<detail::part_of_hierarchy<Inside>, detail::part_of_hierarchy<A>>;

namespace detail {

template <class Inside, class A>
inline constexpr bool holds_communicators<hierarchy<Inside, A>> = true;

/// The steps of a reducer over nodes: within a node the gradients are added up in full, each rank adding up a share of
/// the numbers; the nodes' means of each share are reduced as the reduction specifies; and within a node the estimates
/// are gathered in full. So the vector that is compressed, and the state of a rank, has 1 / n of the numbers for n
/// ranks a node: rule(layer) is asked for layers of that size. It behaves as any reducer, except that all of a step
/// happens in finish(), that drop() is for all ranks, and that an error names ranks as node times n plus the number in
/// the node. With a shift all nodes must have the same weight. Numbers are the host's. Cost, beside the reduction of
/// d / n numbers: three passes, two more where gradients are scaled, and 2 (n - 1) / n d numbers sent within the node.
template <class R, class Inside, class A, Scalar T>
class reduction_step<R, hierarchy<Inside, A>, T, host> {
    using step_type = reduction_step<R, A, T, host>;

  public:
    using layer_type = typename step_type::layer_type;

    template <class Rule>
    reduction_step(hierarchy<Inside, A> nodes, Rule const& rule, std::vector<layer> const& layers,
                   reducer_options const& options, host = {})
        : layers_(layers),
          options_(options),
          node_(nodes.inside, nodes.across, layers, options),
          vectors_(layers.size()),
          given_(layers.size()) {
        node_.together(nodes.across, [&] { step_.emplace(host{}, rule, node_.shares(), node_.options(), &layers_); });
        node_.require_shares(nodes.across, step_->items());
        node_.together(nodes.across, [&] {
            // A rank with another number in its node draws other random numbers, and its state differs.
            step_->draw_as(node_.seed(), static_cast<std::uint64_t>(node_.rank()));
            step_->connect(nodes.across);
            step_->start_as_listed();
        });
    }
    reduction_step(reduction_step const&) = delete;
    reduction_step& operator=(reduction_step const&) = delete;

    void bind(std::size_t l, caller_vector x) {
        require_layer(l);
        vectors_[l].bind(x, layers_[l].size);
    }
    void start(std::size_t l, caller_vector x, step_options const& options = {}) {
        require_layer(l);
        if (vectors_[l].is_started()) return node_.refuse(concat({node_.title(l), " is started twice"}));
        if (!begun_)
            whole_ = options;
        else if (auto const* const why = trouble_between(whole_, options, options_))
            node_.refuse(why);
        begun_ = true;
        vectors_[l].start(x);
        given_[l] = options;
    }
    void finish(step_options const& options = {}) {
        if (begun_ && options != step_options{} && options != whole_)
            throw argument_error("finish() has other options than the layers that were started: give it none");
        ending const however_it_ends{this};
        if (!begun_) whole_ = options;
        if (auto const wrong = prepare()) {
            if (wrong.kind != failure_kind::not_finite || options_.non_finite == on_non_finite::raise) wrong.raise();
            return node_.assign_nan(vectors_);
        }
        step_->commit();
        node_.gather(vectors_, given_);
    }
    void drop() {
        ending const however_it_ends{this};
        node_.refuse("the step was dropped there");
        static_cast<void>(prepare());
    }

    /// The same as reducer's, but a state is of a share: other nodes must have as many ranks each.
    std::vector<std::byte> save() const {
        require_no_step("save()");
        return step_->save();
    }
    void restore(std::span<std::byte const> saved) {
        require_no_step("restore()");
        step_->restore(saved);
    }
    /// The states of node 0's ranks come first, in their order, then those of node 1's, and so on.
    void restore(std::span<std::vector<std::byte> const> saved) {
        require_no_step("restore()");
        auto const n = static_cast<std::size_t>(node_.size());
        if (saved.size() % n != 0) throw shape_error(concat({saved.size(), " states, where nodes have ", n, " ranks"}));
        std::vector<std::vector<std::byte>> mine;  // of the ranks with the same share
        for (auto r = static_cast<std::size_t>(node_.rank()); r < saved.size(); r += n) mine.push_back(saved[r]);
        step_->restore(mine);
    }
    /// The same as reducer's, over nodes of as many ranks, in which each rank has the same number. Throws
    /// agreement_error on all ranks where one has another.
    void rebind(hierarchy<Inside, A> nodes) {
        end_step();
        node_.replace_seed(step_->seed().value());
        node_.rebind(nodes.inside, nodes.across, step_->items());
        node_.together(nodes.across, [&] {
            step_->replace_seed(node_.seed().value());
            step_->rebind(nodes.across);
            step_->start_as_listed();
        });
    }

    std::uint64_t steps() const { return step_->steps(); }
    shared_seed const& seed() const { return step_->seed(); }
    /// This rank's shares.
    auto const& layers() const { return step_->layers(); }
    /// bytes_inside is sent within the node; all other statistics are of what is sent from node to node.
    reducer_statistics statistics() const {
        auto all = step_->statistics();
        all.bytes_inside = node_.bytes_sent();
        return all;
    }

  private:
    // The first half of a step, without a change of state; returns the reason why it cannot be completed, if any, the
    // same on all ranks.
    failure prepare() {
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            if (!vectors_[l].is_started()) given_[l] = whole_;
            if (options_.not_started == absent::zero) vectors_[l].hold_bound();
        }
        auto const& present = node_.agree(vectors_, given_, whole_, options_.not_started, step_->steps());
        step_options const of_node{.weight = node_.weight(), .dense = whole_.dense};
        std::exception_ptr failed;
        try {
            bool const adds_up = !node_.refusal();
            for (std::size_t l = 0; l < layers_.size() && adds_up; ++l) {
                if (present[l] == 0) continue;
                auto const share = node_.sum(l, vectors_[l], given_[l].loss_scale);
                if (node_.refusal()) continue;
                auto options = of_node;
                options.step_size = given_[l].step_size;
                auto const factor = static_cast<T>(given_[l].loss_scale);
                step_->start(l, caller_vector(share).on_the_way_to(vectors_[l].held(), factor), options);
                step_->receive_alone();  // before this rank communicates with its node
            }
            if (node_.refusal()) step_->refuse(node_.refusal(), of_node);
            step_->prepare(of_node);
            failed = step_->failed();
        } catch (...) {
            failed = std::current_exception();
        }
        return node_.compare(failed);
    }
    void end_step() {
        for (auto& x : vectors_) x.end_step();
        std::fill(given_.begin(), given_.end(), step_options());
        whole_ = {};
        begun_ = false;
        node_.end_step();
        step_->abandon();
    }
    void require_layer(std::size_t l) const {
        if (l >= layers_.size()) throw argument_error(concat({"layer ", l, " of ", layers_.size()}));
    }
    void require_no_step(char const* call) const {
        if (begun_) throw argument_error(concat({"a step is under way: finish() or drop() comes before ", call}));
    }
    struct ending {
        reduction_step* step;
        ~ending() { step->end_step(); }
    };

    std::vector<layer> layers_;
    reducer_options options_;
    node_sum<Inside, A, T> node_;
    std::optional<step_type> step_;
    std::vector<layer_vector> vectors_;
    // The state of the step in progress.
    std::vector<step_options> given_;
    step_options whole_;  // of the first layer that is started: its weight and dense are those of the whole step
    bool begun_ = false;
};

}  // namespace detail

}  // namespace laconic
