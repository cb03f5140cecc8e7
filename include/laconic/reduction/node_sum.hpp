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
#include "laconic/core/size.hpp"
#include "laconic/core/term.hpp"
#include "laconic/reduction/caller_vector.hpp"
#include "laconic/reduction/node_agreement.hpp"
#include "laconic/reduction/node_layer.hpp"
#include "laconic/reduction/step_communicator.hpp"
#include "laconic/reduction/step_state.hpp"

namespace laconic::detail {

/// The work of the ranks of one node for a reducer over nodes: each sums its share of all their numbers, and at the end
/// all gather the shares of the estimate. Numbers travel as they are in memory, as the ranks of a node have one byte
/// order. Memory: 3 d numbers, and the messages in flight. Why there can be no step, of this rank's node, is
/// own_error_.
template <class Inside, class A, Scalar T>
class node_sum : protected step_state {
  public:
    /// Throws agreement_error where the ranks of a node, or the nodes, do not agree.
    node_sum(Inside& inside, A& across, std::vector<layer> const& layers, reducer_options const& options)
        : own_(std::make_unique<own_communicator<Inside>>(inside)),
          inside_(own_->comm()),
          rank_(inside_.rank()),
          size_(inside_.size()),
          node_(across.rank()),
          options_(options),
          seed_(options.seed) {
        items_.add(described(options));
        for (auto const& l : layers)
            items_.add({concat({"layer ", l.name}), concat({l.size, l.rows > 1 ? concat({" in ", l.rows, " rows"}) : "",
                                                            l.in_full ? " in full" : ""})});
        seed_.describe(items_);
        seed_.replace(require_nodes(inside_, across, {}, seed_.note(number_of(rank_))));
        first_that_differs(inside_, across, items_, false).raise();
        for (auto const& l : layers) {
            check_rows(l, title_of(l) + ": ");
            auto const p = parts(l);
            messages::check_dimension(p.length(0));  // of the largest share
            layers_.push_back({l, std::vector<T>(std::max<std::size_t>(1, p.length(me())))});
            numbers_.resize(std::max(numbers_.size(), l.size));
        }
    }

    /// The layers of this rank's step, which are its shares of the layers, and its options.
    std::vector<layer> shares() const {
        std::vector<layer> all;
        for (auto const& l : layers_) {
            all.push_back({l.is.name, l.share.size()});
            if (l.is.rows > 1) all.back().rows = parts(l.is).length(me()) / parts(l.is).unit;
            all.back().in_full = is_in_full(l.is, options_);
        }
        return all;
    }
    reducer_options options_of_shares() const {
        auto same = options_;
        same.non_finite = on_non_finite::raise;
        same.dense_below = 0;  // of a whole layer, not of a share
        return same;
    }
    std::uint64_t bytes_sent() const {
        return sent_before_ + (size_ > 1 ? inside_.bytes_sent() + inside_.bytes_broadcast() : 0);
    }
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
    /// Throws on all ranks of all nodes what does() throws on any.
    void together(A& across, auto does) { failure_of_all(inside_, across, does).raise(); }

    /// Records that this rank cannot take the step, and why.
    void refuse(std::string why) { refuse(number_of(rank_), failure::no_message(std::move(why))); }
    /// In a step after `round` others: finds out which layers the node starts, those that its ranks have started, all
    /// alike, or with on_missing_layer::zero all. Compares these among its ranks, and their step numbers, options and
    /// whether the step is dense.
    void agree(std::uint64_t round) {
        timed const time(seconds_inside_);
        auto const& step = now_.given;
        if (!(step.weight >= 0 && std::isfinite(step.weight))) refuse(impossible_weight(step.weight));
        if (!options_.steps_vary && (step.weight != 1 || step.dense)) refuse(weight_needs_steps_vary);
        whole_step mine{step.weight, round, step.dense ? 1u : 0u};
        sent_.clear();
        for (auto& l : layers_) {
            bool const starts = options_.missing_layer == on_missing_layer::zero || l.x.is_started();
            if (!l.x.is_started()) l.given = step;
            if (starts) {
                l.x.hold_bound();
                check(l);
                mine.options = fingerprint({mine.options, step_digest(l.given, l.x.held().largest())});
            } else if (options_.missing_layer == on_missing_layer::raise) {
                refuse(concat({title_of(l.is), " was not started"}));
            }
            bool const looks = options_.skip_zero_layers && step.weight != 0;
            sent_.push_back(static_cast<std::byte>((starts ? 1 : 0) + (looks && l.has_own(on_, numbers_) ? 2 : 0)));
            l.present = l.has_numbers = false;
        }
        round_ = own_error_.round = round;
        auto const of_step = std::as_bytes(std::span(&mine, 1));
        sent_.insert(sent_.end(), of_step.begin(), of_step.end());
        own_error_ = detail::share_failure(inside_, own_error_, sink_, sent_);
        double sum = 0;
        whole_step first{}, other{};
        for (int r = 0; r < size_; ++r) {
            auto const theirs = inside_.from(r);
            if (theirs.is_error) continue;
            if (theirs.bytes.size() != sent_.size()) {
                refuse(number_of(r), failure::lost(number_of(r), "sends no step within its node"));
                continue;
            }
            for (std::size_t l = 0; l < layers_.size(); ++l) {
                bool const is_there = theirs.bytes[l] != std::byte{};
                if (theirs.bytes[l] > std::byte{1}) layers_[l].has_numbers = true;
                if (r == 0) layers_[l].present = is_there;
                if (is_there == layers_[l].present || own_error_) continue;
                int const lacks = number_of(is_there ? 0 : r), has = number_of(is_there ? r : 0);
                refuse(lacks, failure::no_message(
                                  concat({title_of(layers_[l].is), " was not started, unlike on rank ", has})));
            }
            std::memcpy(&other, theirs.bytes.data() + layers_.size(), sizeof other);
            if (r == 0) first = other;
            if (!own_error_) own_error_ = other.unlike(first, number_of(r), number_of(0));
            sum += other.weight;
        }
        if (!std::isfinite(sum) && !own_error_)
            refuse(number_of(0), failure::no_message(concat({"the weights of a node add up to ", sum})));
        weight_ = !options_.steps_vary ? 1 : own_error_ ? size_ : sum;
        now_.share = sum > 0 ? share_of(step.weight, sum, size_) : 0;
    }

  protected:
    node_layer<T>& at(std::size_t l) {
        if (l >= layers_.size()) throw argument_error({"layer ", l, " of ", layers_.size()});
        return layers_[l];
    }
    /// This rank's share of the mean over the node of x / loss_scale, in which each rank counts by its weight; one that
    /// is not started counts as zeros. Where a number of any rank is not finite after scaling, the step is refused. The
    /// numbers stay until the next step.
    std::span<T> sum(node_layer<T>& l) {
        timed const time(seconds_inside_);
        auto const p = parts(l.is);
        auto const n = static_cast<std::size_t>(size_);
        std::span<T> const room(numbers_.data(), p.d), mine(l.share);
        std::span<T const> all = room;  // x itself, unless it is scaled or not of T
        if (!l.x.is_started() || now_.share == 0)
            fill(on_, room, T(0));
        else
            all = l.x.held().as_numbers(room);
        if (double const factor = now_.share / l.given.loss_scale; factor != 1) {
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
            if (auto const i = first_non_finite(on_, theirs); i < theirs.size() && !own_error_)
                refuse(number_of(static_cast<int>(r)),
                       failure::not_finite(p.first(me()) + i).in(l.is.name.empty() ? "" : title_of(l.is)));
            add_scaled(on_, T(1), theirs, part);
        }
        multiply(on_, T(1) / static_cast<T>(n), part);
        return mine;
    }
    /// The reason why there is no step, the same on all ranks of a node and of all nodes, from the exception of each
    /// rank's share, if there is one.
    failure compare(std::exception_ptr failed) {
        timed const time(seconds_inside_);
        failure mine;
        if (failed) {
            mine = failure::of(failed, node_);
            mine.renumber([&](int node) { return node * size_ + rank_; },
                          [&](std::size_t i, std::string const& vector) {
                              for (auto const& l : layers_)
                                  if (vector == title_of(l.is) || layers_.size() == 1)
                                      return i + parts(l.is).first(me());
                              return i;
                          });
        }
        return detail::share_failure(inside_, mine, sink_);
    }
    /// Gathers the shares of the estimate into the callers' numbers.
    void gather() {
        timed const time(seconds_inside_);
        sent_.clear();
        for (auto const& l : layers_) {
            if (!l.present) continue;
            auto const share = std::as_bytes(std::span(l.share).first(parts(l.is).length(me())));
            sent_.insert(sent_.end(), share.begin(), share.end());
        }
        inside_.all_gather({sent_});
        read_so_far_.assign(static_cast<std::size_t>(size_), 0);
        for (auto const& l : layers_) {
            if (!l.present) continue;
            auto const p = parts(l.is);
            std::span<T> const all(numbers_.data(), p.d);
            for (int r = 0; r < size_; ++r) {
                auto const part = p.of(all, static_cast<std::size_t>(r));
                auto& from = read_so_far_[static_cast<std::size_t>(r)];
                auto const bytes = inside_.from(r).bytes;
                read({bytes.subspan(std::min(from, bytes.size()), std::min(part.size_bytes(), bytes.size() - from))}, r,
                     part);
                from += part.size_bytes();
            }
            if (l.given.loss_scale != 1) multiply(on_, static_cast<T>(l.given.loss_scale), all);
            l.x.held().assign(on_, std::span<T const>(all));
        }
    }
    void assign_nan() {
        for (auto const& l : layers_)
            if (auto const& x = l.x.held(); x.is_there() && x.size() == l.is.size)
                x.assign_nan(on_, std::span<T>(numbers_.data(), x.size()));
    }
    void end_step() {
        for (auto& l : layers_) l.x.end_step(), l.given = {};
        clear();
    }

    std::unique_ptr<own_communicator<Inside>> own_;
    metered<Inside> inside_;
    std::uint64_t sent_before_ = 0;  // bytes to other ranks of the node, before rebind()
    double seconds_inside_ = 0;
    int rank_, size_, node_;
    reducer_options options_;
    shared_seed seed_;  // of all ranks of all nodes
    std::vector<node_layer<T>> layers_;
    double weight_ = 1;  // after agree(): of the node among the nodes

  private:
    void refuse(int rank, failure why) {
        if (own_error_) return;
        own_error_ = std::move(why).by(rank, round_);
        own_error_.of_all = true;
    }
    std::size_t me() const { return static_cast<std::size_t>(rank_); }
    int number_of(int r) const { return node_ * size_ + r; }
    partition parts(layer const& l) const { return node_parts(l, size_); }
    void check(node_layer<T> const& l) {
        try {
            l.check();
        } catch (error const& e) {
            refuse((l.is.name.empty() ? "" : concat({title_of(l.is), ": "})) + e.what());
        }
    }
    void read(payload from, int rank, std::span<T> numbers) {
        if (from.bytes.size() != numbers.size_bytes())
            failure::lost(number_of(rank),
                          concat({"sent ", from.bytes.size(), " bytes within a node, not ", numbers.size_bytes()}))
                .raise();
        if (!numbers.empty()) std::memcpy(numbers.data(), from.bytes.data(), from.bytes.size());
    }

    agreed_items items_;
    host on_;
    std::vector<T> numbers_, piece_;
    std::vector<std::byte> sent_;           // in agree() and gather()
    std::vector<std::size_t> read_so_far_;  // in bytes, of each rank's shares
    std::uint64_t round_ = 0;
    wire::bit_writer sink_;
};

}  // namespace laconic::detail
