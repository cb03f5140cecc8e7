// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/text.hpp"
#include "laconic/exchange/agreement.hpp"
#include "laconic/exchange/partition.hpp"
#include "laconic/reduction/caller_vector.hpp"
#include "laconic/reduction/node_error.hpp"
#include "laconic/reduction/options.hpp"
#include "laconic/reduction/own_communicator.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic::detail {

/// What the ranks of one node do for a reducer over nodes: each adds up its share of all their numbers, and in the end
/// all gather the shares of the estimate. Memory: 3 d numbers, and what is on its way.
template <class I, class A, Scalar T>
class node_sum {
  public:
    /// Throws shape_error where the ranks of a node, or the nodes, do not agree.
    node_sum(I& inside, A& across, std::vector<layer> const& layers, reducer_options const& options)
        : own_(own_communicator<I>::of(inside)),
          inside_(own_->comm()),
          node_(across.rank()),
          layers_(layers),
          options_(options) {
        for (auto& o : described(options)) items_.push_back(std::move(o));
        for (auto const& l : layers) items_.emplace_back("layer " + l.name, std::to_string(l.size));
        compare_ranks(inside_, across, true);
        // A rank that has another number in its node draws other random numbers, and its state is another's.
        options_.seed = key{options.seed}.child(static_cast<std::uint64_t>(inside_.rank())).bits;
        options_.non_finite = on_non_finite::raise;
        options_.dense_below = 0;
        for (auto const& l : layers)
            if (is_in_full(l, options)) options_.in_full.push_back(l.name);
        for (auto const& l : layers) {
            shares_.push_back({l.name, std::max<std::size_t>(1, parts(l.size).length(me()))});
            sums_.emplace_back(shares_.back().size);
            numbers_.resize(std::max(numbers_.size(), l.size));
        }
    }

    /// The layers that this rank's step is of, and its options.
    std::vector<layer> const& shares() const { return shares_; }
    reducer_options const& options() const { return options_; }
    int rank() const { return inside_.rank(); }
    int size() const { return inside_.size(); }
    std::string title(std::size_t l) const {
        return layers_[l].name.empty() ? "the vector" : "layer " + layers_[l].name;
    }
    std::uint64_t bytes_sent() const { return sent_before_ + (inside_.size() > 1 ? inside_.bytes_sent() : 0); }
    /// Goes on over other nodes of as many ranks, in which each rank has the same number: throws shape_error on all
    /// ranks where it is another, and nothing has changed.
    void rebind(I& inside, A& across) {
        bool const same = inside.size() == inside_.size() && inside.rank() == inside_.rank();
        auto own = own_communicator<I>::of(inside);
        compare_ranks(own->comm(), across, same);
        if (!same)
            throw shape_error("rank " + std::to_string(inside_.rank()) + " of a node of " +
                              std::to_string(inside_.size()) + " cannot go on as rank " +
                              std::to_string(inside.rank()) + " of " + std::to_string(inside.size()));
        sent_before_ = bytes_sent();
        own_ = std::move(own);
        inside_ = metered<I>(own_->comm());
        node_ = across.rank();
    }

    /// This rank cannot take the step.
    void refuse(std::string why) {
        if (!wrong_) wrong_ = node_error(number(), std::move(why));
    }
    bool refused() const { return wrong_.has_value(); }
    std::string refusal() const { return wrong_->text(); }
    /// Which layers the node takes part with, from what each of its ranks has; looks for what is wrong with that, and
    /// with `step`, the weight of this rank and whether the step is dense.
    std::vector<char> const& agree(std::vector<caller_vector<T>> const& held, std::vector<step_options> const& given,
                                   step_options const& step, absent missing) {
        auto const count = layers_.size();
        mine_.assign(count, 0);
        check_whole(step);
        for (std::size_t l = 0; l < count; ++l)
            if (held[l].is_there()) {
                mine_[l] = 1;
                check(l, held[l], given[l]);
            } else if (missing == absent::raise) {
                refuse(title(l) + " was not started");
            }
        mine_.push_back(step.dense ? 1 : 0);
        mine_.resize(count + 1 + sizeof step.weight);
        std::memcpy(mine_.data() + count + 1, &step.weight, sizeof step.weight);
        auto const why = wrong_ ? wrong_->text() : std::string();
        auto const bytes = wrong_ ? std::as_bytes(std::span(why)) : std::as_bytes(std::span(mine_));
        inside_.all_gather({bytes, wrong_.has_value()});
        present_.assign(count, 0);
        everywhere_.assign(count, 1);
        wrong_.reset();
        double sum = 0, theirs_weight = 0;
        bool dense = false;
        for (int r = 0; r < inside_.size(); ++r) {
            auto const theirs = inside_.from(r);
            if (theirs.complaint || theirs.bytes.size() != mine_.size()) {
                if (!wrong_) wrong_ = node_error::read(theirs.bytes, number_of(r));
                continue;
            }
            for (std::size_t l = 0; l < count; ++l) {
                present_[l] = static_cast<char>(present_[l] | std::to_integer<char>(theirs.bytes[l]));
                everywhere_[l] = static_cast<char>(everywhere_[l] & std::to_integer<char>(theirs.bytes[l]));
            }
            bool const theirs_dense = theirs.bytes[count] != std::byte{0};
            if (r == 0) dense = theirs_dense;
            if (theirs_dense != dense && !wrong_)
                wrong_ = node_error(number_of(r), std::string("the step is ") + (dense ? "not " : "") +
                                                      "dense, unlike on rank " + std::to_string(number_of(0)));
            std::memcpy(&theirs_weight, theirs.bytes.data() + count + 1, sizeof theirs_weight);
            sum += theirs_weight;
        }
        weight_ = sum / inside_.size();
        share_ = sum > 0 ? step.weight / weight_ : 0;
        for (std::size_t l = 0; l < count; ++l)
            if (missing == absent::skip && present_[l] != everywhere_[l] && !wrong_)
                wrong_ = node_error(number_of(0), title(l) + " was not started by all ranks of a node");
        return present_;
    }
    /// After agree(): the mean of the weights of the node's ranks.
    double weight() const { return weight_; }
    /// This rank's share of the mean over the node of x / loss_scale, in which each rank counts by its weight; x is of
    /// zeros where it is absent. The numbers stay until the next step.
    std::span<T> sum(std::size_t l, caller_vector<T> const& x, double loss_scale) {
        auto const p = parts(layers_[l].size);
        auto const n = static_cast<std::size_t>(inside_.size());
        std::span<T> const all(numbers_.data(), p.d), mine(sums_[l]);
        if (!x.is_there() || share_ == 0)
            fill(on_, all, T(0));
        else if (auto const numbers = x.as_numbers(all); numbers.data() != all.data())
            copy(on_, numbers, all);
        if (double const factor = share_ / loss_scale; factor != 1) multiply(on_, static_cast<T>(factor), all);
        for (std::size_t step = 1; step < n; ++step) {
            auto const to = (me() + step) % n;
            sink_.clear();
            put_numbers(sink_, std::span<T const>(p.of(all, to)));
            inside_.exchange(static_cast<int>(to), {sink_.finish()}, no_rank);
        }
        fill(on_, mine, T(0));
        piece_.resize(p.length(me()));
        auto const part = mine.first(piece_.size());
        for (std::size_t r = 0; r < n; ++r) {  // in their order, on all shares
            if (r != me()) read(inside_.exchange(no_rank, {}, static_cast<int>(r)), static_cast<int>(r), piece_);
            add_scaled(on_, T(1), r == me() ? std::span<T const>(p.of(all, me())) : std::span<T const>(piece_), part);
        }
        multiply(on_, T(1) / static_cast<T>(n), part);
        return mine;
    }
    /// The same on all ranks of a node, and of all nodes: why there is no step, from what each rank's share has failed
    /// with, if one has.
    std::optional<node_error> compare(std::exception_ptr failed) {
        std::string mine;
        if (failed)
            mine = node_error::of(
                       failed, [&](int node) { return node * inside_.size() + inside_.rank(); },
                       [&](std::size_t i, std::string const& of) {
                           for (std::size_t l = 0; l < layers_.size(); ++l)
                               if (of == title(l) || layers_.size() == 1) return i + parts(layers_[l].size).first(me());
                           return i;
                       })
                       .text();
        inside_.all_gather({std::as_bytes(std::span(mine)), failed != nullptr});
        for (int r = 0; r < inside_.size(); ++r)
            if (auto const theirs = inside_.from(r); theirs.complaint)
                return node_error::read(theirs.bytes, number_of(r));
        return {};
    }
    /// Gathers the shares of the estimate, and the callers' numbers become it.
    void gather(std::vector<caller_vector<T>> const& held, std::vector<step_options> const& given) {
        sink_.clear();
        for (std::size_t l = 0; l < layers_.size(); ++l)
            if (present_[l] != 0)
                put_numbers(sink_, std::span<T const>(sums_[l]).first(parts(layers_[l].size).length(me())));
        inside_.all_gather({sink_.finish()});
        read_so_far_.assign(static_cast<std::size_t>(inside_.size()), 0);
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            if (present_[l] == 0) continue;
            auto const p = parts(layers_[l].size);
            std::span<T> const all(numbers_.data(), p.d);
            for (int r = 0; r < inside_.size(); ++r) {
                auto const part = p.of(all, static_cast<std::size_t>(r));
                auto& from = read_so_far_[static_cast<std::size_t>(r)];
                auto const bytes = inside_.from(r).bytes;
                read({bytes.subspan(std::min(from, bytes.size()), std::min(part.size_bytes(), bytes.size() - from))}, r,
                     part);
                from += part.size_bytes();
            }
            if (given[l].loss_scale != 1) multiply(on_, static_cast<T>(given[l].loss_scale), all);
            if (held[l].is_there()) held[l].assign(on_, std::span<T const>(all));
        }
    }
    void assign_nan(std::vector<caller_vector<T>> const& held) {
        for (auto const& x : held)
            if (x.is_there()) x.assign_nan(on_, std::span<T>(numbers_.data(), x.size()));
    }
    void end_step() { wrong_.reset(); }

  private:
    // `goes_on`: this rank's share is the one that it has had.
    void compare_ranks(auto& inside, A& across, bool goes_on) const {
        agreed_item const same{"whether a rank has the share of before", goes_on ? "yes" : "no"};
        auto items = items_;
        items.emplace_back("the number of a node", std::to_string(across.rank()));
        items.emplace_back("the number of nodes", std::to_string(across.size()));
        items.push_back(same);
        require_agreement(inside, items);
        require_agreement(across, {{"the ranks of a node", std::to_string(inside.size())},
                                   {"a rank's number in its node", std::to_string(inside.rank())},
                                   same});
    }
    std::size_t me() const { return static_cast<std::size_t>(inside_.rank()); }
    int number_of(int r) const { return node_ * inside_.size() + r; }
    int number() const { return number_of(inside_.rank()); }
    partition parts(std::size_t d) const { return {d, static_cast<std::size_t>(inside_.size())}; }
    void check_whole(step_options const& step) {
        if (!(step.weight >= 0 && std::isfinite(step.weight)))
            refuse("a weight of " + shortest(step.weight) + ", which must be at least 0");
        if (!options_.steps_vary && (step.weight != 1 || step.dense))
            refuse("a weight other than 1, or .dense, which reducer_options::steps_vary must allow");
    }
    void check(std::size_t l, caller_vector<T> const& x, step_options const& options) {
        if (x.size() != layers_[l].size)
            return refuse((layers_[l].name.empty() ? "" : title(l) + ": ") + "a vector of " + std::to_string(x.size()) +
                          " numbers, where the reducer has " + std::to_string(layers_[l].size));
        try {
            detail::check(options);
        } catch (argument_error const& e) {
            return refuse(e.what());
        }
        if (options.weight == 0) return;
        auto const numbers = x.as_numbers(std::span<T>(numbers_.data(), x.size()));
        if (auto const i = first_non_finite(on_, numbers); i < numbers.size() && !wrong_)
            wrong_ = node_error(number(), i, layers_[l].name.empty() ? "" : title(l));
    }
    void read(contribution from, int rank, std::span<T> numbers) {
        bit_reader source(from.bytes);
        try {
            take_numbers(source, numbers);
            source.finish();
        } catch (wire_error const& e) {
            throw comm_error(number_of(rank),
                             "from rank " + std::to_string(number_of(rank)) + ", within a node: " + e.why);
        }
    }

    std::unique_ptr<own_communicator<I>> own_;
    metered<I> inside_;
    std::uint64_t sent_before_ = 0;  // to other ranks of a node, before rebind()
    int node_;
    std::vector<layer> layers_, shares_;
    std::vector<agreed_item> items_;
    reducer_options options_;
    host on_;
    std::vector<std::vector<T>> sums_;  // this rank's shares
    std::vector<T> numbers_, piece_;
    std::vector<char> mine_, present_, everywhere_;  // layers: this rank's, some rank's, all ranks' of the node
    std::vector<std::size_t> read_so_far_;           // bytes of each rank's shares
    bit_writer sink_{position_code::fastest};
    double weight_ = 1, share_ = 1;  // the mean weight of the node, and this rank's beside it
    std::optional<node_error> wrong_;
};

}  // namespace laconic::detail
