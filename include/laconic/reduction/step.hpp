// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/reduction/arguments.hpp"
#include "laconic/reduction/reduced_layer.hpp"
#include "laconic/reduction/step_control.hpp"

namespace laconic::detail {

struct resumption;  // resume.hpp
/// What does not suit a layer, or this rank's share of a whole one, with its name.
[[gnu::cold]] inline std::string named_error(layer const& l, error const& e, layer const* whole) {
    return concat({(l.name.empty() ? "" : concat({"layer ", l.name, ": "})), e.what(),
                   (whole ? concat({" (this rank has ", l.size, " of its ", whole->size, " numbers)"}) : "")});
}

/// A base of what makes no sense for such a reduction: the compiler's errors end there.
template <class R, class C, class T, class B>
struct can_be_reduced {};
template <class R, Communicator C, class T, class B>
struct can_be_reduced<R, C, T, B> {
    static_assert(can_reduce<R, C, T, B>());
};

/// The steps of a reducer in their parts, for who does something between them, as a method with two reductions does:
///
///     step.start(l, x, options)    for each layer: its message is made, and begins to travel
///     step.prepare()               all messages are there, and no state has changed
///     step.failed()                why the step cannot be completed, the same on all ranks, or null
///     step.commit()                changes the state, and replaces the vectors by the estimate; or else
///     step.abandon()               ends the step without a change
///
/// reducer.hpp says what each does and throws; finish() is prepare(), and commit() unless it has failed.
template <class R, class C, Scalar T = float, class B = host>
class reduction_step final : public step_control, can_be_reduced<R, C, T, B> {
  public:
    using layer_type = reduced_layer<R, C, T, B>;

    /// With the reduction rule(layer) for each layer. A collective call.
    reduction_step(C& comm, auto const& rule, std::vector<layer> const& layers, reducer_options const& options,
                   B on = {})
        : reduction_step(std::move(on), rule, layers, options) {
        connect(comm);
    }
    /// For layers that are this rank's shares of `wholes`, before they are connected. Sends nothing.
    [[gnu::cold]] reduction_step(B on, auto const& rule, std::vector<layer> const& layers,
                                 reducer_options const& options, std::vector<layer> const* wholes = nullptr)
        : step_control(layers, options, sizeof(T)), with_{std::move(on)} {
        for (auto const& l : layers) {
            auto const* const whole = wholes ? &(*wholes)[all_.size()] : nullptr;
            try {
                messages::check_dimension(l.size);  // before there is memory for it
                list_.push_back(&all_.emplace_back(with_, rule(l), l, options));
            } catch (argument_error const& e) {
                throw argument_error(named_error(l, e, whole));
            } catch (theory_error const& e) {
                throw theory_error(named_error(l, e, whole));
            }
        }
        check(layers);
    }
    [[gnu::cold]] ~reduction_step() {
        for (auto& l : all_) l.recover();  // ends what uses the communicators on another thread
        with_.over.reset();                // which may be sending bytes of layers and messages
    }
    /// To be called on all ranks before the first step, once.
    [[gnu::cold]] void connect(C& comm) {
        with_.connect(comm);
        agree();
        for (auto& l : all_) l.start();
    }

    using step_control::start;
    void start(std::size_t l, Contiguous auto&& x, step_options const& options = {}) {
        start(l, caller_vector(view(x)), options);
    }

    /// x <- rank root's, on all ranks, which must agree on `items`, too; reducer.hpp says what it throws.
    [[gnu::cold]] void broadcast(caller_vector const& x, int root, agreed_items items = {}) {
        require_no_step("broadcast()"), require_consistent();
        items.add(items_of_broadcast(x, root));
        require_agreement(watching(), items);
        check_root(comm().size(), root);
        on_host(x, [&](std::span<std::byte> bytes) { take(bytes, root); });
    }
    /// bytes <- rank root's, as many on all ranks.
    void take(std::span<std::byte> bytes, int root) {
        auto const theirs = broadcast_from(watching(), root, bytes);
        if (comm().rank() != root) std::copy(theirs.begin(), theirs.end(), bytes.begin());
    }
    std::vector<std::byte> save() const {
        require_no_step("save()"), require_consistent();
        auto& same = const_cast<reduction_step&>(*this);  // which is only read
        wire::state_writer archive(identity(comm().rank(), comm().size(), seed().value()), same.with_.on);
        same.state(archive);
        return archive.finish();
    }
    void restore(std::span<std::byte const> saved) {
        require_no_step("restore()");
        auto const of_state = seed().for_state(saved);
        auto archive = reader(saved, comm().rank(), comm().size(), of_state);
        state(archive), archive.rewind(), state(archive);
        replace_seed(of_state), recover();
    }
    void restore(std::span<std::vector<std::byte> const> saved) {
        if (saved.empty()) throw argument_error("no rank's state to restore");
        require_no_step("restore()");
        int const ranks = static_cast<int>(saved.size());
        auto const of_state = seed().for_state(saved[0]);
        auto const of_rank = [&](int r) { return reader(saved[static_cast<std::size_t>(r)], r, ranks, of_state); };
        std::uint64_t first = 0;
        for (int r = 0; r < ranks; ++r) {
            std::uint64_t round = 0;
            auto archive = of_rank(r);
            archive.skip_checks(), archive(round);
            if (r == 0) first = round;
            if (round != first)
                throw agreement_error(r, {"rank ", r, "'s state is of step ", round, ", rank 0's of step ", first});
        }
        if (ranks == comm().size()) return restore(saved[static_cast<std::size_t>(comm().rank())]);
        for (auto const& l : all_) l.memory().require_add();
        for (int r = 0; r < ranks; ++r) {
            auto archive = of_rank(r);
            state(archive), archive.rewind();
        }
        broken_.rank_moves();
        for (int r = 0; r < ranks; ++r) {
            auto archive = of_rank(r);
            archive.skip_checks(), state(archive);
            for (auto& l : all_) l.add_state();
        }
        for (auto& l : all_) l.take_mean_state(ranks);
        replace_seed(of_state), recover();
    }
    void rebind(C& comm) {
        auto const so_far = statistics();
        for (auto& l : all_) l.forget_ranks();
        connect(comm);
        auto const [latest, rank] = latest_round(with_.over->messages, round_);
        for (auto& l : all_) l.renew_common(latest, rank);
        go_on(latest, so_far);
    }
    /// For a state of which these steps are a part.
    void state(auto& archive) {
        std::uint64_t layers = size();
        archive(round_, layers);
        for (auto const l : by_name()) all_[l].state(archive);
        for (auto const l : by_name()) all_[l].state_of_collective(archive);
    }

    std::span<T const> residual(std::size_t l) const { return at(l), all_[l].residual(); }
    void set_residual(std::size_t l, std::span<T const> x) {
        require_no_step("set_residual()");
        at(l), all_[l].set_residual(x);
    }

    std::deque<layer_type> const& layers() const { return all_; }
    /// For what is no message of a step.
    step_communicator& watching() const override { return with_.over->watching; }
    /// Waits for a collective in the background, which counts its bytes on another thread.
    reducer_statistics statistics() const {
        for (auto const& l : all_) l.wait();
        auto all = statistics_;
        all.bytes_sent += with_.comm().bytes_sent() + with_.comm().bytes_broadcast();
        all.bytes_received += with_.comm().bytes_received() + with_.comm().bytes_gathered();
        all.bytes_on_link +=
            std::max(with_.comm().bytes_received() + with_.comm().bytes_gathered(), with_.comm().bytes_out());
        all.bytes_watching += with_.watching().bytes_sent() + with_.watching().bytes_broadcast();
        all.bytes_of_state = 0;
        for (auto const& l : all_) all.bytes_of_state += l.memory().bytes();
        return all;
    }

  private:
    friend struct resumption;
    step_communicator& comm() const override { return with_.over->messages; }
    std::size_t at_once() const override { return OnHost<B> && Overlapping<C> ? most_in_flight : 1; }
    wire::state_reader reader(std::span<std::byte const> saved, int rank, int ranks, std::uint64_t of_state) {
        return {saved, identity(rank, ranks, of_state), {}, with_.on};
    }
    // use(bytes) for the vector's bytes, or for a copy of them on the host that becomes the vector.
    void on_host(caller_vector const& x, auto use) {
        if constexpr (OnHost<B>) {
            use(x.bytes());
        } else {
            auto const there = x.template in_place<T>();
            std::vector<T> here(there.size());
            copy_to_host(with_.on, std::span<T const>(there), std::span<T>(here));
            use(std::as_writable_bytes(std::span(here)));
            copy_from_host(with_.on, std::span<T const>(here), there);
        }
    }

    step_resources<C, B> with_;
    std::deque<layer_type> all_;
};

}  // namespace laconic::detail
