// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "laconic/collective/collective.hpp"
#include "laconic/packet/switch_machine.hpp"

namespace laconic {

/// The sum of dense vectors by SwitchML (Sapio et al., NSDI 2021), where the ranks are the switches, too: each adds up
/// one part of the coordinates for all, in integers of 32 bits with an exponent for each block of 256, so that all get
/// the same bits, whatever engine it is; fixed_point gives how far off they are. It runs the packet machines that a udp
/// socket runs (switch_machine, whose layout has the details), in steps: in each, a rank sends every other one its
/// packets of half the slots, while those of the other half are on their way. 2 (P - 1) / P d numbers of 4 bytes sent
/// by each rank, and 4 % for headers and exponents; about (2 + 2 ceil(d / 2^16 / P)) (P - 1) messages, half of them one
/// after another. Reuses its memory, at most 0.6 MB for each rank and 1.4 MB.
struct switch_ml {
    static constexpr void description(auto&& describe) {
        describe("switch_ml", "dense, in integers as a switch adds them up", "SwitchML, NSDI 2021");
    }
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(switch_ml const&) const = default;
};

template <Scalar T, OnHost B>
class switch_ml::adder : detail::sum_in_session {
  public:
    using detail::sum_in_session::sum_in_session;

    /// x is as it was where a rank brought what is not finite. Throws argument_error, too, for more than 65535 ranks.
    void operator()(B& on, PointToPoint auto& comm, std::span<T> x, sum_round round = {}) {
        int const n = comm.size(), me = comm.rank();
        session_.start(on, comm, round, x, d_);
        if (n == 1) return session_.finish();
        switch_layout const how = layout(n);
        make_room(how, me);
        if (!session_.failed()) {
            node_->begin(x, round.number);
            node_->start(0, to_others());
        }
        std::size_t blocks = 0;  // the most of a switch
        for (int s = 0; s < n; ++s) blocks = std::max(blocks, how.blocks(s));
        send_to_all(comm, 0);
        receive_all(comm, 0, detail::no_calls{});
        send_to_all(comm, 0);
        receive_all(comm, 0, [&](int from) {
            for (std::size_t part = 0; part < halves(blocks); ++part) send(comm, part, from);
        });
        for (std::size_t left = blocks, next = 0; left > 0; left = next) {
            next = left - std::min(left, slot_count);
            for (std::size_t part = 0; part < halves(left); ++part) {
                receive_all(comm, part, detail::no_calls{});
                send_to_all(comm, part);
            }
            for (std::size_t part = 0; part < halves(left); ++part)
                receive_all(comm, part, [&](int from) {
                    if (part < halves(next)) send(comm, part, from);
                });
        }
        session_.finish();
        node_->finish();
    }

  private:
    static constexpr std::size_t slot_count = 512;

    switch_layout layout(int ranks) const {
        return {.d = d_,
                .workers = ranks,
                .block = 256,
                .slot_count = slot_count,
                .switches = ranks,
                .apart = false,
                .checksums = false};
    }
    // How many halves of the slots have one of so many blocks that are left.
    static std::size_t halves(std::size_t blocks) { return blocks == 0 ? 0 : blocks <= slot_count / 2 ? 1 : 2; }

    void make_room(switch_layout const& how, int me) {
        if (!node_ || me != me_ || bundles_[0].size() != static_cast<std::size_t>(how.workers)) {
            node_.emplace(how, me);
            me_ = me;
            std::size_t const longest = (how.longest_packet() + 8) * (std::min(slot_count / 2, how.blocks(0)) + 2);
            own_.reserve(longest);
            for (auto& bundles : bundles_) {
                bundles.resize(static_cast<std::size_t>(how.workers));
                for (auto& b : bundles) b.reserve(longest);
            }
        }
        for (auto& bundles : bundles_)
            for (auto& b : bundles) b.clear();
    }

    auto to_others() {
        return [this](int to, std::span<std::byte const> packet) {
            auto const h = detail::switch_header::open(packet, false);
            auto& sink = bundles_[h->block % slot_count < slot_count / 2 ? 0 : 1][static_cast<std::size_t>(to)];
            sink.put(packet.size(), 32);
            std::memcpy(sink.append(packet.size()).data(), packet.data(), packet.size());
        };
    }
    // What this rank sends to itself stays until it is received.
    void send(PointToPoint auto& comm, std::size_t part, int to) {
        if (to == me_) return;
        auto& bundle = bundles_[part][static_cast<std::size_t>(to)];
        session_.send_bytes(comm, to, bundle.finish());
        bundle.clear();
    }
    void send_to_all(PointToPoint auto& comm, std::size_t part) {
        for (int i = 1; i < comm.size(); ++i) send(comm, part, (me_ + i) % comm.size());
    }
    // Calls received(rank) after each.
    void receive_all(PointToPoint auto& comm, std::size_t part, auto received) {
        for (int i = 0, n = comm.size(); i < n; ++i) {
            int const from = (me_ + n - i) % n;
            auto const receive = [&](wire::bit_reader& source) {
                while (source.left() > 0) {
                    auto const packet = source.take_bytes(source.take(32));
                    if (!node_->take(0, from, packet, to_others())) source.refuse("a packet out of place");
                }
            };
            if (i > 0) {
                session_.receive(comm, from, receive);
            } else {
                std::swap(own_, bundles_[part][static_cast<std::size_t>(me_)]);
                bundles_[part][static_cast<std::size_t>(me_)].clear();
                wire::bit_reader own(own_.finish());
                if (!session_.failed()) receive(own);
            }
            received(from);
        }
    }

    std::optional<switch_machine<T, B>> node_;
    int me_ = no_rank;
    std::array<std::vector<wire::bit_writer>, 2>
        bundles_;  // of half the slots each: packets for each rank, after their lengths
    wire::bit_writer own_;
};

}  // namespace laconic
