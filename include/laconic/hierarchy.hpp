// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/exchange/partition.hpp"
#include "laconic/reducer.hpp"
#include "laconic/reduction/node_sum.hpp"

namespace laconic {

/// In place of a reducer's communicator: the ranks of one node, and those of all nodes that have this one's number in
/// theirs, such as comm.split(rank / 4, 0) and comm.split(rank % 4, 0). All nodes have as many ranks. It does not own.
template <PointToPoint I, Communicator A>
struct hierarchy {
    I& inside;
    A& across;
};
template <class I, class A>
hierarchy(I&, A&) -> hierarchy<I, A>;

/// A reducer over nodes: within a node the gradients are added up in full, each rank adding up a share of the numbers;
/// the nodes' means of each share are reduced as `how` says; and within a node the estimates are gathered in full. So
/// what is compressed, and the state of a rank, is 1 / n of the numbers for n ranks a node. It behaves as any reducer,
/// but that all of a step happens in finish(), that there are no weights, and that an error names ranks as node times n
/// plus the number in the node. Numbers are the host's. Cost, beside the reduction of d / n numbers: three passes, and
/// 2 (n - 1) / n d numbers sent within the node.
template <class R, class I, class A, Scalar T>
class reducer<R, hierarchy<I, A>, T, host> {
    using step_type = detail::reduction_step<R, A, T, host>;

  public:
    using layer_type = typename step_type::layer_type;

    /// As reducer's, on every rank of every node.
    reducer(R how, hierarchy<I, A> nodes, std::vector<layer> const& layers, reducer_options options = {})
        : layers_(layers),
          options_(options),
          node_(nodes.inside, nodes.across, layers, options),
          step_(nodes.across, node_.options(), host{},
                {[&](layer const&) { return how; }, node_.shares(), node_.options()}),
          held_(layers.size()),
          given_(layers.size()) {
        step_.set_order(detail::layer_order(layers.size(), true));
    }
    reducer(R how, hierarchy<I, A> nodes, std::vector<std::size_t> const& sizes, reducer_options options = {})
        : reducer(std::move(how), nodes, layers_of(sizes), std::move(options)) {}
    reducer(R how, hierarchy<I, A> nodes, std::size_t d, reducer_options options = {})
        : reducer(std::move(how), nodes, std::vector<layer>{{"", d}}, std::move(options)) {}
    template <Contiguous X>
    requires ReducedAs<element_of<X>, T> reducer(R how, hierarchy<I, A> nodes, X const& like,
                                                 reducer_options options = {})
        : reducer(std::move(how), nodes, static_cast<std::size_t>(like.size()), std::move(options)) {}
    reducer(reducer const&) = delete;
    reducer& operator=(reducer const&) = delete;

    template <Contiguous X>
    requires ReducedAs<element_of<X>, T>
    void operator()(X&& x, step_options const& options = {}) {
        if (layers_.size() != 1)
            throw argument_error("a reducer of " + std::to_string(layers_.size()) +
                                 " layers: start(layer, x) each, and finish()");
        start(0, x, options);
        finish();
    }
    template <Contiguous X>
    requires ReducedAs<element_of<X>, T>
    void start(std::size_t l, X&& x, step_options const& options = {}) {
        if (l >= layers_.size())
            throw argument_error("layer " + std::to_string(l) + " of " + std::to_string(layers_.size()));
        if (held_[l].is_there()) return node_.refuse(node_.title(l) + " is started twice");
        held_[l] = detail::caller_vector<T>(view(x));
        given_[l] = options;
    }
    void finish() {
        ending const however_it_ends{this};
        auto const& present = node_.agree(held_, given_, options_.not_started);
        if (node_.refused()) {
            step_.refuse(node_.refusal());
        } else {
            for (std::size_t l = 0; l < layers_.size(); ++l) {
                if (present[l] == 0) continue;
                auto const share = node_.sum(l, held_[l], given_[l].loss_scale);
                step_.start(l, detail::caller_vector<T>(share),
                            {.step_size = given_[l].step_size, .dense = given_[l].dense});
            }
        }
        std::exception_ptr failed;
        try {
            step_.prepare();
            failed = step_.failed();
        } catch (error const&) {
            failed = std::current_exception();
        }
        auto const wrong = node_.compare(failed);
        if (wrong) {
            if (!wrong->is_not_finite() || options_.non_finite == on_non_finite::raise) wrong->raise(step_.round());
            return node_.assign_nan(held_);
        }
        step_.complete();
        node_.gather(present, held_, given_);
    }
    /// Ends a step without one, on all ranks: nothing changes.
    void drop() { end_step(); }

    /// As reducer's. The states of the ranks with the same number in their nodes belong together.
    std::vector<std::byte> save() const { return detail::saved(const_cast<step_type&>(step_)); }
    void restore(std::span<std::byte const> saved) { detail::restore_own(step_, saved); }
    void restore(std::span<std::vector<std::byte> const> saved) { detail::restore_any(step_, saved); }

    std::uint64_t steps() const { return step_.round(); }
    /// This rank's share of each.
    std::vector<layer_type> const& layers() const { return step_.layers().all(); }
    /// bytes_sent and all else is of what goes from node to node; bytes_inside of what is sent within the node.
    reducer_statistics statistics() const {
        auto all = step_.statistics();
        all.bytes_inside = node_.bytes_sent();
        return all;
    }

  private:
    void end_step() {
        std::fill(held_.begin(), held_.end(), detail::caller_vector<T>());
        std::fill(given_.begin(), given_.end(), step_options());
        node_.end_step();
        step_.abandon();
    }
    struct ending {
        reducer* step;
        ~ending() { step->end_step(); }
    };

    std::vector<layer> layers_;
    reducer_options options_;
    detail::node_sum<I, A, T> node_;
    step_type step_;
    // Of the step that is under way.
    std::vector<detail::caller_vector<T>> held_;
    std::vector<step_options> given_;
};

template <class R, class I, class A>
reducer(R, hierarchy<I, A>, std::vector<layer> const&, reducer_options = {}) -> reducer<R, hierarchy<I, A>>;
template <class R, class I, class A>
reducer(R, hierarchy<I, A>, std::vector<std::size_t> const&, reducer_options = {}) -> reducer<R, hierarchy<I, A>>;
template <class R, class I, class A, std::integral D>
reducer(R, hierarchy<I, A>, D, reducer_options = {}) -> reducer<R, hierarchy<I, A>>;
template <class R, class I, class A, Contiguous X>
requires Scalar<element_of<X>> || Number16<element_of<X>> reducer(R, hierarchy<I, A>, X const&, reducer_options = {})
->reducer<R, hierarchy<I, A>, std::conditional_t<Number16<element_of<X>>, float, element_of<X>>>;

}  // namespace laconic
