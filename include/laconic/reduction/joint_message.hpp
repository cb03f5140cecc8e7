// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "laconic/collective/session.hpp"
#include "laconic/reduction/step_communicator.hpp"
#include "laconic/reduction/step_layer.hpp"
#include "laconic/reduction/step_state.hpp"

namespace laconic::detail {

/// One message of a step: that of one layer, or those of several layers one behind the other. Errors name the layer.
class joint_message {
  public:
    joint_message(std::vector<step_layer*> layers, reducer_options const& options)
        : layers_(std::move(layers)), marks_zeros_(options.skip_zero_layers), sink_(options.positions) {}

    std::vector<step_layer*> const& layers() const { return layers_; }
    /// Whether nothing else may be in flight from send() to receive(): the same on all ranks.
    bool travels_alone() const { return layers_.size() == 1 && layers_[0]->travels_alone(); }

    /// Starts to send the message, or this rank's first failure.
    [[gnu::cold]] void send(step_communicator& comm, std::uint64_t round, int lane) {
        if (!is_payload()) return layers_[0]->send(round, lane);
        std::size_t most = 0;
        for (auto* const l : layers_) most += l->most_bytes();
        sink_.reserve(most);  // once: a later message may be longer than the first
        sink_.clear();
        for (auto* const l : layers_)
            if (auto const& own = l->own_failure()) {
                own.write(sink_);
                return comm.start_all_gather({with_tag(sink_, tagged(round)), true, most}, lane);
            }
        for (auto* const l : layers_) l->write(sink_);
        if (marks_zeros_)
            for (auto* const l : layers_) sink_.put(l->is_zero() ? 1 : 0, 1);
        comm.start_all_gather({with_tag(sink_, tagged(round)), false, most}, lane);
    }
    /// Waits for the messages of all ranks, and leaves the mean in each layer; `watched`: as step_layer::expect().
    /// Throws on every rank what a rank's failure is, tags_differ where the tags do, wire_error for bytes that are no
    /// message, and comm_error. Adds the time it takes to `did`.
    [[gnu::cold]] void receive(step_communicator& comm, std::uint64_t round, int lane, bool watched,
                               reducer_statistics& did) {
        try {
            timed time(is_payload() ? did.seconds_adding : did.seconds_waiting);
            if (!is_payload()) return layers_[0]->receive(round, lane);
            for (auto* const l : layers_) l->expect(watched);
            time.now(did.seconds_waiting);
            comm.finish(lane);
            time.now(did.seconds_adding);
            read_all(comm, round);
        } catch (error const&) {
            rethrow_with_title();
        }
    }

  private:
    bool is_payload() const { return layers_.size() > 1 || layers_[0]->is_skipped() || layers_[0]->is_payload(); }
    [[gnu::cold]] void read_all(step_communicator& comm, std::uint64_t round) {
        without_tags messages(comm, tagged(round));
        messages.require_one();
        if (layers_[0]->is_skipped()) return raise_unless_left_out(messages);
        least_failure(messages).raise();
        messages.require_readable();
        if (layers_.size() == 1 && layers_[0]->add_in_parts(round)) return;
        for (int r = 0; r < comm.size(); ++r)
            read_bytes_from(messages, r, [&](wire::bit_reader& source) {
                for (auto* const l : layers_) l->read(round, r, source);
                if (marks_zeros_)
                    for (auto* const l : layers_) l->skip_if_zero(r, source.take(1) != 0);
            });
    }
    [[noreturn, gnu::cold, gnu::noinline]] void rethrow_with_title() const {
        auto found = failure::of(std::current_exception(), no_rank);
        auto const is_any_of = [&](auto... kinds) { return ((found.kind == kinds) || ...); };
        if (!found.vector.empty() ||
            !is_any_of(failure_kind::not_finite, failure_kind::sum, failure_kind::unreadable, failure_kind::lost))
            throw;
        std::move(found).in(title()).raise();
        throw;
    }
    // The tag behind this rank's message.
    round_context tagged(std::uint64_t round) const {
        std::uint64_t alike = layers_.size() == 1 ? layers_[0]->alike() : 1;
        if (layers_.size() > 1)
            for (auto* const l : layers_)
                alike = l->alike() == 0 || alike == 0 ? 0 : fingerprint({alike, l->alike()}) | 1;
        return round_context{}.with_tag(message_tag(round, alike));
    }
    [[gnu::cold, gnu::noinline]] std::string title() const {
        auto const first = layers_.front()->title(), last = layers_.back()->title();
        if (layers_.front()->name().empty()) return "";
        return layers_.size() == 1 ? first : concat({first, " to ", last});
    }

    std::vector<step_layer*> layers_;
    bool marks_zeros_;  // behind the layers' parts there is a bit for each: whether its numbers are zeros
    wire::bit_writer sink_;
};

/// The messages of a step, in the order of layers: small layers next to each other share one.
[[gnu::cold, gnu::noinline]] inline std::vector<joint_message> joined(std::vector<step_layer*> const& layers,
                                                                      std::vector<std::size_t> const& order,
                                                                      reducer_options const& options,
                                                                      bool uses_collective) {
    std::vector<joint_message> messages;
    std::vector<step_layer*> together;
    std::size_t numbers = 0;
    auto const end = [&] {
        if (!together.empty()) messages.emplace_back(std::exchange(together, {}), options);
        numbers = 0;
    };
    for (auto const l : order) {
        auto& one = *layers[l];
        bool const shares = one.size() < options.share_below && options.missing_layer != on_missing_layer::skip &&
                            !uses_collective && one.adds_up();
        if (!shares || numbers + one.size() > 16 * options.share_below) end();
        together.push_back(&one);
        numbers += one.size();
        if (!shares) end();
    }
    end();
    return messages;
}

}  // namespace laconic::detail
