// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/core/text.hpp"
#include "laconic/reduction/options.hpp"
#include "laconic/transport/error_frame.hpp"
#include "laconic/transport/message_tag.hpp"
#include "laconic/transport/rank_messages.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic::detail {

/// One message of a step: that of one layer, or those of several layers one behind the other. Errors name the layer.
template <class Layer>
class joint_message {
  public:
    explicit joint_message(std::vector<Layer*> layers, position_code positions)
        : layers_(std::move(layers)), sink_(positions) {}

    std::vector<Layer*> const& layers() const { return layers_; }
    /// Whether nothing else may be in flight from send() to receive(): the same on all ranks.
    template <Communicator C>
    bool travels_alone(C& comm) const {
        return layers_.size() == 1 && layers_[0]->travels_alone(comm);
    }

    /// Starts to send the message, or this rank's first error frame.
    template <class B, Communicator C>
    void send(B& on, C& comm, std::uint64_t round, int lane) {
        if (layers_.size() == 1) return layers_[0]->send(on, comm, round, lane);
        sink_.clear();
        std::size_t before = 0;  // numbers of the layers before
        for (auto* const l : layers_) {
            if (l->frame().is_set()) {
                frame_ = l->frame();
                if (frame_.is_not_finite()) frame_.not_finite(before + l->frame().coordinate());
                sink_.put_bytes(frame_.bytes());
                return start_all_gather(comm, {with_tag(sink_, tagged(round)), true}, lane);
            }
            before += l->size();
        }
        for (auto* const l : layers_) l->write(on, sink_);
        start_all_gather(comm, {with_tag(sink_, tagged(round)), false}, lane);
    }
    /// Waits for the messages of all ranks, and leaves the mean in each layer. Throws what reduced_layer::receive()
    /// throws.
    template <class B, Communicator C>
    void receive(B& on, C& comm, std::uint64_t round, int lane) {
        try {
            if (layers_.size() == 1)
                layers_[0]->receive(on, comm, round, lane);
            else
                receive_all(on, comm, round, lane);
        } catch (error const&) {
            rethrow_with_title();
        }
    }

  private:
    [[noreturn, gnu::cold, gnu::noinline]] void rethrow_with_title() const {
        try {
            throw;
        } catch (non_finite_error const& e) {
            std::size_t before = 0, l = 0;
            while (l + 1 < layers_.size() && e.coordinate >= before + layers_[l]->size())
                before += layers_[l++]->size();
            if (layers_[l]->name().empty()) throw;
            throw non_finite_error(e.rank, e.round, e.coordinate - before, layers_[l]->title());
        } catch (wire_error const& e) {
            if (title().empty()) throw;
            throw wire_error(e.bit, concat({title(), ": ", e.why}));
        } catch (comm_error const& e) {
            if (title().empty()) throw;
            throw comm_error(e.rank, concat({title(), ": ", e.what()}));
        }
    }
    template <class B, Communicator C>
    void receive_all(B& on, C& comm, std::uint64_t round, int lane) {
        finish_all_gather(comm, lane);
        without_tags messages(comm, tagged(round));
        messages.require_one();
        error_frame::raise_first(messages, round);
        messages.require_readable();
        for (int r = 0; r < comm.size(); ++r) try {
                bit_reader source(messages.from(r).bytes);
                for (auto* const l : layers_) l->read_and_add(on, comm, round, r, source);
                source.finish();
            } catch (wire_error const& e) {
                throw wire_error(e.bit, concat({"from rank ", r, ": ", e.why}));
            }
    }
    // The number of the step, and the tag behind this rank's message.
    round_context tagged(std::uint64_t round) const {
        std::uint64_t alike = 1;
        for (auto* const l : layers_) alike = l->alike() == 0 || alike == 0 ? 0 : fingerprint({alike, l->alike()}) | 1;
        round_context now;
        now.round = round;
        now.tag = message_tag(round, alike);
        return now;
    }
    [[gnu::cold, gnu::noinline]] std::string title() const {
        auto const first = layers_.front()->title(), last = layers_.back()->title();
        if (layers_.front()->name().empty()) return "";
        return layers_.size() == 1 ? first : concat({first, " to ", last});
    }

    std::vector<Layer*> layers_;
    bit_writer sink_;
    error_frame frame_;
};

/// The messages of a step, in the order of layers: small layers next to each other share one.
template <class Layers>
[[gnu::cold, gnu::noinline]] auto joined(Layers& layers, std::vector<std::size_t> const& order,
                                         reducer_options const& options) {
    using layer_type = typename Layers::layer_type;
    std::vector<joint_message<layer_type>> messages;
    std::vector<layer_type*> together;
    std::size_t numbers = 0;
    auto const end = [&] {
        if (!together.empty()) messages.emplace_back(std::exchange(together, {}), options.positions);
        numbers = 0;
    };
    for (auto const l : order) {
        auto& one = layers[l];
        bool const shares =
            one.size() < options.share_below && options.not_started != absent::skip && !layers.uses_collective();
        if (!shares || numbers + one.size() > 16 * options.share_below) end();
        together.push_back(&one);
        numbers += one.size();
        if (!shares) end();
    }
    end();
    return messages;
}

}  // namespace laconic::detail
