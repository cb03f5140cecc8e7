// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/collective/seed.hpp"
#include "laconic/core/partition.hpp"
#include "laconic/core/term.hpp"
#include "laconic/reduction/caller_vector.hpp"
#include "laconic/reduction/node_agreement.hpp"
#include "laconic/reduction/step_agreement.hpp"
#include "laconic/reduction/step_communicator.hpp"

namespace laconic::detail {

/// The work of the ranks of one node for a reducer over nodes: each sums its share of all their numbers, and at the end
/// all gather the shares of the estimate. Numbers travel as they are in memory, as the ranks of a node have one byte
/// order. Memory: 3 d numbers, and the messages in flight.
template <class Inside, class A, Scalar T>
class node_sum {
  public:
    /// Throws agreement_error where the ranks of a node, or the nodes, do not agree.
    node_sum(Inside& inside, A& across, std::vector<layer> const& layers, reducer_options const& options)
        : own_(std::make_unique<own_communicator<Inside>>(inside)),
          inside_(own_->comm()),
          rank_(inside_.rank()),
          size_(inside_.size()),
          node_(across.rank()),
          layers_(layers),
          options_(options),
          seed_(options.seed) {
        items_.add(described(options));
        for (auto const& l : layers)
            items_.add({concat({"layer ", l.name}), concat({l.size, l.in_full ? " in full" : ""})});
        seed_.describe(items_);
        seed_.replace(require_nodes(inside_, across, {}, seed_.note(number())));
        first_that_differs(inside_, across, items_, false).raise();
        options_.non_finite = on_non_finite::raise;
        options_.dense_below = 0;                                               // of a whole layer, not of a share
        for (auto const& l : layers) check_dimension(parts(l.size).length(0));  // of the largest share
        for (auto const& l : layers) {
            shares_.push_back({l.name, std::max<std::size_t>(1, parts(l.size).length(me()))});
            shares_.back().in_full = is_in_full(l, options);
            sums_.emplace_back(shares_.back().size);
            numbers_.resize(std::max(numbers_.size(), l.size));
        }
    }

    /// The layers of this rank's step, which are its shares of the layers, and its options.
    std::vector<layer> const& shares() const { return shares_; }
    reducer_options const& options() const { return options_; }
    /// The seed of all ranks of all nodes.
    shared_seed const& seed() const { return seed_; }
    void replace_seed(std::uint64_t seed) { seed_.replace(seed); }
    int rank() const { return rank_; }
    int size() const { return size_; }
    std::string title(std::size_t l) const {
        return layers_[l].name.empty() ? "the vector" : concat({"layer ", layers_[l].name});
    }
    std::uint64_t bytes_sent() const { return sent_before_ + (size_ > 1 ? inside_.bytes_sent() : 0); }
    /// Goes on over other nodes of the same size, in which each rank has the same number: throws agreement_error on
    /// all ranks where one has another, and then has changed nothing. Does not use the earlier communicators.
    void rebind(Inside& inside, A& across, agreed_items const& shares) {
        auto own = std::make_unique<own_communicator<Inside>>(inside);
        auto const place = [](int rank, int size) { return concat({rank, " of ", size}); };
        failure other_place;
        if (inside.size() != size_ || inside.rank() != rank_)
            other_place = {.kind = failure_kind::agreement,
                           .of_all = true,
                           .rank = across.rank() * inside.size() + inside.rank(),
                           .why = concat({"a rank that was ", place(rank_, size_), " in its node cannot go on as ",
                                          place(inside.rank(), inside.size())})};
        auto const seed = require_nodes(own->comm(), across, other_place, seed_.value());
        first_that_differs(own->comm(), across, items_, false).raise();
        first_that_differs(own->comm(), across, shares, true).raise();
        seed_.replace(seed);
        sent_before_ = bytes_sent();
        own_ = std::move(own);
        inside_ = metered<Inside>(own_->comm());
        node_ = across.rank();
    }

    /// Records that this rank cannot take the step, and why.
    void refuse(std::string why) { refuse(number(), failure::no_message(std::move(why))); }
    /// Throws on all ranks of all nodes what does() throws on any.
    void together(A& across, auto does) { failure_of_all(inside_, across, does).raise(); }
    /// Throws the same on all ranks of all nodes where the ranks with one number in their nodes do not have the same
    /// shares.
    void require_shares(A& across, agreed_items const& shares) {
        first_that_differs(inside_, across, shares, true).raise();
    }
    /// Why there is no step, if there is a reason.
    failure const& refusal() const { return wrong_; }
    /// Returns which layers the node starts in this round: those that its ranks have started, all alike, or with
    /// absent::zero all. Compares these among its ranks, and their step numbers, options and whether the step is dense.
    std::vector<char> const& agree(std::vector<layer_vector> const& vectors, std::vector<step_options> const& given,
                                   step_options const& step, absent missing, std::uint64_t round) {
        auto const count = layers_.size();
        mine_.assign(count, 0);
        check_whole(step);
        whole_step mine{step.weight, round, step.dense ? 1u : 0u};
        for (std::size_t l = 0; l < count; ++l)
            if (missing == absent::zero || vectors[l].is_started()) {
                mine_[l] = 1;
                check(l, vectors[l], given[l]);
                mine.options = fingerprint({mine.options, step_digest(given[l], vectors[l].held().largest())});
            } else if (missing == absent::raise) {
                refuse(concat({title(l), " was not started"}));
            }
        round_ = wrong_.round = round;
        mine_.resize(count + sizeof mine);
        std::memcpy(mine_.data() + count, &mine, sizeof mine);
        present_.assign(count, 0);
        wrong_ = detail::share_failure(inside_, wrong_, sink_, std::as_bytes(std::span(mine_)));
        double sum = 0;
        whole_step first{}, other{};
        for (int r = 0; r < size_; ++r) {
            auto const theirs = inside_.from(r);
            if (theirs.is_error) continue;
            if (theirs.bytes.size() != mine_.size()) {
                refuse(number_of(r), failure::lost(number_of(r), "sends no step within its node"));
                continue;
            }
            for (std::size_t l = 0; l < count; ++l) {
                bool const is_there = std::to_integer<char>(theirs.bytes[l]) != 0;
                if (r == 0) present_[l] = is_there;
                if (is_there == (present_[l] != 0) || wrong_) continue;
                int const lacks = number_of(is_there ? 0 : r), has = number_of(is_there ? r : 0);
                refuse(lacks, failure::no_message(concat({title(l), " was not started, unlike on rank ", has})));
            }
            std::memcpy(&other, theirs.bytes.data() + count, sizeof other);
            if (r == 0) first = other;
            if (!wrong_) wrong_ = other.unlike(first, number_of(r), number_of(0));
            sum += other.weight;
        }
        if (!std::isfinite(sum) && !wrong_)
            refuse(number_of(0), failure::no_message(concat({"the weights of a node add up to ", sum})));
        weight_ = !options_.steps_vary ? 1 : wrong_ ? size_ : sum;
        share_ = sum > 0 ? share_of(step.weight, sum, size_) : 0;
        return present_;
    }
    /// After agree(): the weight of the node among the nodes.
    double weight() const { return weight_; }
    /// This rank's share of the mean over the node of x / loss_scale, in which each rank counts by its weight; one that
    /// is not started counts as zeros. Where a number of any rank is not finite after scaling, refusal() is set. The
    /// numbers stay until the next step.
    std::span<T> sum(std::size_t l, layer_vector const& x, double loss_scale) {
        auto const p = parts(layers_[l].size);
        auto const n = static_cast<std::size_t>(size_);
        std::span<T> const room(numbers_.data(), p.d), mine(sums_[l]);
        std::span<T const> all = room;  // x itself, unless it is scaled or not of T
        if (!x.is_started() || share_ == 0)
            fill(on_, room, T(0));
        else
            all = x.held().as_numbers(room);
        if (double const factor = share_ / loss_scale; factor != 1) {
            if (all.data() != room.data()) copy(on_, all, room);
            multiply(on_, static_cast<T>(factor), room);
            all = room;
        }
        for (std::size_t step = 1; step < n; ++step) {
            auto const to = (me() + step) % n;
            inside_.exchange(static_cast<int>(to), {std::as_bytes(p.of(all, to))}, no_rank);
        }
        fill(on_, mine, T(0));
        piece_.resize(p.length(me()));
        auto const part = mine.first(piece_.size());
        for (std::size_t r = 0; r < n; ++r) {  // in the order of ranks, on all shares
            if (r != me()) read(inside_.exchange(no_rank, {}, static_cast<int>(r)), static_cast<int>(r), piece_);
            std::span<T const> const theirs = r == me() ? p.of(all, me()) : std::span<T const>(piece_);
            if (auto const i = first_non_finite(on_, theirs); i < theirs.size() && !wrong_)
                refuse(number_of(static_cast<int>(r)),
                       failure::not_finite(p.first(me()) + i).in(layers_[l].name.empty() ? "" : title(l)));
            add_scaled(on_, T(1), theirs, part);
        }
        multiply(on_, T(1) / static_cast<T>(n), part);
        return mine;
    }
    /// The reason why there is no step, the same on all ranks of a node and of all nodes, from the exception of each
    /// rank's share, if there is one.
    failure compare(std::exception_ptr failed) {
        failure mine;
        if (failed) {
            mine = failure::of(failed, node_);
            mine.renumber([&](int node) { return node * size_ + rank_; },
                          [&](std::size_t i, std::string const& vector) {
                              for (std::size_t l = 0; l < layers_.size(); ++l)
                                  if (vector == title(l) || layers_.size() == 1)
                                      return i + parts(layers_[l].size).first(me());
                              return i;
                          });
        }
        return detail::share_failure(inside_, mine, sink_);
    }
    /// Gathers the shares of the estimate into the callers' numbers.
    void gather(std::vector<layer_vector> const& vectors, std::vector<step_options> const& given) {
        bytes_.clear();
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            if (present_[l] == 0) continue;
            auto const share = std::as_bytes(std::span<T const>(sums_[l]).first(parts(layers_[l].size).length(me())));
            bytes_.insert(bytes_.end(), share.begin(), share.end());
        }
        inside_.all_gather({bytes_});
        read_so_far_.assign(static_cast<std::size_t>(size_), 0);
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            if (present_[l] == 0) continue;
            auto const p = parts(layers_[l].size);
            std::span<T> const all(numbers_.data(), p.d);
            for (int r = 0; r < size_; ++r) {
                auto const part = p.of(all, static_cast<std::size_t>(r));
                auto& from = read_so_far_[static_cast<std::size_t>(r)];
                auto const bytes = inside_.from(r).bytes;
                read({bytes.subspan(std::min(from, bytes.size()), std::min(part.size_bytes(), bytes.size() - from))}, r,
                     part);
                from += part.size_bytes();
            }
            if (given[l].loss_scale != 1) multiply(on_, static_cast<T>(given[l].loss_scale), all);
            vectors[l].held().assign(on_, std::span<T const>(all));
        }
    }
    void assign_nan(std::vector<layer_vector> const& vectors) {
        for (std::size_t l = 0; l < layers_.size(); ++l)
            if (auto const& x = vectors[l].held(); x.is_there() && x.size() == layers_[l].size)
                x.assign_nan(on_, std::span<T>(numbers_.data(), x.size()));
    }
    void end_step() { wrong_ = {}; }

  private:
    void refuse(int rank, failure why) {
        if (wrong_) return;
        wrong_ = std::move(why).by(rank, round_);
        wrong_.of_all = true;
    }
    std::size_t me() const { return static_cast<std::size_t>(rank_); }
    int number_of(int r) const { return node_ * size_ + r; }
    int number() const { return number_of(rank_); }
    partition parts(std::size_t d) const { return {d, static_cast<std::size_t>(size_)}; }
    void check_whole(step_options const& step) {
        if (!(step.weight >= 0 && std::isfinite(step.weight)))
            refuse(concat({"a weight of ", step.weight, ", which must be finite and at least 0"}));
        if (!options_.steps_vary && (step.weight != 1 || step.dense)) refuse(weight_needs_steps_vary);
    }
    void check(std::size_t l, layer_vector const& x, step_options const& options) {
        try {
            x.require(layers_[l].size);
            detail::check<T>(options);
        } catch (error const& e) {
            refuse((layers_[l].name.empty() ? "" : concat({title(l), ": "})) + e.what());
        }
    }
    void read(payload from, int rank, std::span<T> numbers) {
        if (from.bytes.size() != numbers.size_bytes())
            failure::lost(number_of(rank),
                          concat({"sent ", from.bytes.size(), " bytes within a node, not ", numbers.size_bytes()}))
                .raise();
        if (!numbers.empty()) std::memcpy(numbers.data(), from.bytes.data(), from.bytes.size());
    }

    std::unique_ptr<own_communicator<Inside>> own_;
    metered<Inside> inside_;
    std::uint64_t sent_before_ = 0;  // bytes to other ranks of the node, before rebind()
    int rank_, size_, node_;
    std::vector<layer> layers_, shares_;
    agreed_items items_;
    reducer_options options_;
    shared_seed seed_;
    host on_;
    std::vector<std::vector<T>> sums_;  // this rank's shares
    std::vector<T> numbers_, piece_;
    std::vector<char> mine_, present_;      // layers of this rank, and of all of the node
    std::vector<std::size_t> read_so_far_;  // in bytes, of each rank's shares
    std::vector<std::byte> bytes_;
    double weight_ = 1, share_ = 1;  // the node's weight among the nodes, and this rank's share in the node
    failure wrong_;
    std::uint64_t round_ = 0;
    wire::bit_writer sink_;
};

}  // namespace laconic::detail
