// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

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

/// The steps of a reducer over nodes: within a node a dense reduce-scatter gives each rank the sum of a share of the
/// numbers; the nodes' means of each share are reduced as the reduction specifies; and within a node the estimates are
/// gathered. So the vector that is compressed, and the state of a rank, has 1 / n of the numbers for n ranks a node:
/// rule(layer) is asked for layers of that size. It behaves as any reducer, except that all of a step happens in
/// finish(), that drop() is for all ranks, and that an error names ranks as node times n plus the number in the node.
/// With a shift all nodes must have the same weight. Numbers are the host's. Cost, beside the reduction of d / n
/// numbers: three passes, two more where gradients are scaled, and 2 (n - 1) / n d numbers sent within the node.
template <class R, class Inside, class A, Scalar T>
class reduction_step<R, hierarchy<Inside, A>, T, host> : node_sum<Inside, A, T> {
    using node = node_sum<Inside, A, T>;
    using step_type = reduction_step<R, A, T, host>;
    using node::layers_, node::now_, node::own_error_, node::seed_;

  public:
    reduction_step(hierarchy<Inside, A> nodes, auto const& rule, std::vector<layer> const& layers,
                   reducer_options const& options, host = {})
        : node(nodes.inside, nodes.across, layers, options) {
        this->together(nodes.across,
                       [&] { step_.emplace(host{}, rule, this->shares(), this->options_of_shares(), &layers); });
        first_that_differs(this->inside_, nodes.across, step_->items(), true).raise();
        this->together(nodes.across, [&] {
            // A rank with another number in its node draws other random numbers, and its state differs.
            step_->draw_as(seed_, static_cast<std::uint64_t>(this->rank_));
            step_->connect(nodes.across);
            step_->start_as_listed();
        });
    }

    void bind(std::size_t l, caller_vector x) { this->at(l).x.bind(x, layers_[l].is.size); }
    void start(std::size_t l, caller_vector x, step_options const& options = {}) {
        auto& whole = this->at(l);
        if (whole.x.is_started()) return this->refuse(concat({title_of(whole.is), " is started twice"}));
        if (!now_.is_open)
            now_.given = options;
        else if (auto const* const why = trouble_between(now_.given, options, this->options_))
            this->refuse(why);
        now_.is_open = true;
        whole.x.start(x);
        whole.given = options;
    }
    void finish(step_options const& options = {}) {
        this->require_given(options);
        ending<reduction_step> const however_it_ends{this};
        if (!now_.is_open) now_.given = options;
        if (auto const wrong = prepare()) {
            bool const of_numbers = wrong.kind == failure_kind::not_finite || wrong.kind == failure_kind::sum;
            if (!of_numbers || this->options_.non_finite == on_non_finite::raise) wrong.raise();
            return this->assign_nan();
        }
        step_->commit();
        this->gather();
    }
    void drop() {
        ending<reduction_step> const however_it_ends{this};
        this->refuse("the step was dropped there");
        static_cast<void>(prepare());
    }

    void reorder() {}
    /// The ranks of a node are numbered after those of the node before it.
    void broadcast(caller_vector const& x, int root, agreed_items items = {}) {
        this->require_no_step("broadcast()"), step_->require_consistent();
        auto& across = step_->watching();
        items.add(items_of_broadcast(x, root));
        first_that_differs(this->inside_, across, items, false).raise();
        check_root(across.size() * this->size_, root);
        take(x.bytes(), root);
    }
    /// bytes <- rank root's, as many on all ranks.
    void take(std::span<std::byte> bytes, int root) {
        auto& across = step_->watching();
        std::span<std::byte const> theirs = bytes;
        if (this->rank_ == root % this->size_) theirs = broadcast_from(across, root / this->size_, theirs);
        theirs = broadcast_from(this->inside_, root % this->size_, theirs);
        if (theirs.data() != bytes.data()) std::copy(theirs.begin(), theirs.end(), bytes.begin());
    }

    void abandon() {
        this->end_step();
        step_->abandon();
    }

    /// The same as reducer's, but a state is of a share: other nodes must have as many ranks each.
    std::vector<std::byte> save() const {
        this->require_no_step("save()");
        return step_->save();
    }
    void restore(std::span<std::byte const> saved) {
        this->require_no_step("restore()");
        step_->restore(saved);
    }
    /// The states of node 0's ranks come first, in their order, then those of node 1's, and so on.
    void restore(std::span<std::vector<std::byte> const> saved) {
        this->require_no_step("restore()");
        step_->restore(of_share(saved));
    }
    /// The same as reducer's, over nodes of as many ranks, in which each rank has the same number. Throws
    /// agreement_error on all ranks where one has another.
    void rebind(hierarchy<Inside, A> nodes) {
        abandon();
        seed_.replace(step_->seed().value());
        node::rebind(nodes.inside, nodes.across, step_->items());
        this->together(nodes.across, [&] {
            step_->replace_seed(seed_.value());
            step_->rebind(nodes.across);
            step_->start_as_listed();
        });
    }

    std::uint64_t steps() const { return step_->steps(); }
    shared_seed const& seed() const { return step_->seed(); }
    std::span<T const> residual(std::size_t l) const { return step_->residual(l); }
    void set_residual(std::size_t l, std::span<T const> x) {
        this->require_no_step("set_residual()");
        step_->set_residual(l, x);
    }
    /// This rank's shares.
    auto const& layers() const { return step_->layers(); }
    /// bytes_inside and seconds_inside are of what is sent within the node; all others of what is from node to node.
    reducer_statistics statistics() const {
        auto all = step_->statistics();
        all.bytes_inside = this->bytes_sent(), all.seconds_inside = this->seconds_inside_;
        return all;
    }

  private:
    friend struct resumption;
    // The states of the ranks with the same share.
    std::vector<std::vector<std::byte>> of_share(std::span<std::vector<std::byte> const> saved) const {
        auto const n = static_cast<std::size_t>(this->size_);
        if (saved.size() % n != 0) throw shape_error({saved.size(), " states, where nodes have ", n, " ranks"});
        std::vector<std::vector<std::byte>> mine;
        for (auto r = static_cast<std::size_t>(this->rank_); r < saved.size(); r += n) mine.push_back(saved[r]);
        return mine;
    }
    // The first half of a step, without a change of state; returns the reason why it cannot be completed, if any, the
    // same on all ranks.
    failure prepare() {
        this->agree(step_->steps());
        step_options const of_node{.weight = this->weight_, .dense = now_.given.dense};
        std::exception_ptr failed;
        try {
            bool const adds_up = !own_error_;
            for (std::size_t l = 0; l < layers_.size() && adds_up; ++l) {
                auto& whole = layers_[l];
                if (!whole.present) continue;
                auto const share = this->sum(whole);
                if (own_error_) continue;
                auto options = of_node;
                options.step_size = whole.given.step_size;
                auto const factor = static_cast<T>(whole.given.loss_scale);
                auto x = caller_vector(share).on_the_way_to(whole.x.held(), factor);
                step_->start(l, whole.has_numbers ? x.part_of_numbers() : x, options);
                step_->receive_alone();  // before this rank communicates with its node
            }
            if (own_error_) step_->refuse(own_error_, of_node);
            step_->prepare(of_node);
            failed = step_->failed();
        } catch (...) {
            failed = std::current_exception();
        }
        return this->compare(failed);
    }
    std::optional<step_type> step_;
};

}  // namespace detail

}  // namespace laconic
