// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/exchange/conversation.hpp"
#include "laconic/exchange/exchange.hpp"
#include "laconic/exchange/switch_machine.hpp"

namespace laconic {

/// The sum of dense vectors by SwitchML (Sapio et al., NSDI 2021), where the ranks are the switches, too: each adds up
/// one part of the coordinates for all, in integers of 32 bits with an exponent for each block of 256, so that all get
/// the same bits, whatever engine it is; fixed_point says how far off they are. It runs the packet machines that a udp
/// socket runs (switch_machine, whose layout says more), in steps: in each a rank hands every other one all packets
/// that it has for it. 2 (P - 1) / P d numbers of 4 bytes said by each rank, and 4 % for headers and exponents; (2 + 2
/// ceil(d / 2^17 / P)) (P - 1) messages one after another. Reuses its memory, at most 1.1 MB for each rank and 1 MB.
template <Scalar T, class B = host>
class switch_ml {
  public:
    /// For vectors of d numbers. Throws shape_error on all ranks where they do not call it with the same.
    template <Communicator C>
    switch_ml(C& comm, std::size_t d) : switch_ml(d) {
        detail::agree_on_exchange<T>(comm, d, to_string(*this));
    }
    /// The same for ranks that know that they agree on d, T and to_string of this.
    explicit switch_ml(std::size_t d) : d_(d) { detail::check_dimension(d); }

    /// x <- the sum of all ranks' x. What the errors mean, see conversation::finish; then x is unspecified, but as it
    /// was where a rank brought what is not finite. Throws argument_error for more than 65535 ranks.
    template <PointToPoint C>
    void operator()(B& on, C& comm, std::span<T> x, std::uint64_t round = 0) {
        int const n = comm.size(), me = comm.rank();
        talk_.start(round);
        talk_.check_input(on, me, std::span<T const>(x), d_);
        if (n == 1) return talk_.finish();
        switch_layout const how = layout(n);
        make_room(how, me);
        if (!talk_.in_trouble()) {
            node_->begin(x, round);
            node_->start(0, to_others());
        }
        for (std::size_t left = steps(how); left > 0; --left) step(comm);
        talk_.finish();
        node_->finish();
    }

    friend std::string to_string(switch_ml const&) { return "switch_ml"; }

  private:
    switch_layout layout(int ranks) const {
        return {.d = d_,
                .workers = ranks,
                .block = 256,
                .slots = 512,
                .switches = ranks,
                .apart = false,
                .checksums = false};
    }
    // All say hello and are answered; then one block of each slot is brought and one sum handed out at a time.
    static std::size_t steps(switch_layout const& how) {
        std::size_t most = 0;
        for (int s = 0; s < how.switches; ++s) most = std::max(most, how.blocks(s));
        return 2 + 2 * ((most + how.slots - 1) / how.slots);
    }
    void make_room(switch_layout const& how, int me) {
        if (!node_ || me != me_ || now_.size() != static_cast<std::size_t>(how.workers)) {
            node_.emplace(how, me);
            me_ = me;
            now_.resize(static_cast<std::size_t>(how.workers));
            next_.resize(now_.size());
            for (auto* bundles : {&now_, &next_})
                for (auto& b : *bundles) b.reserve((how.longest_packet() + 8) * std::min(how.slots, how.blocks(0) + 2));
        }
        for (auto& b : next_) b.clear();
    }

    auto to_others() {
        return [this](int to, std::span<std::byte const> packet) {
            auto& sink = next_[static_cast<std::size_t>(to)];
            sink.put(packet.size(), 32);
            std::memcpy(sink.append(packet.size()).data(), packet.data(), packet.size());
        };
    }
    // What was said in the last step goes to all, and what is said to that waits for the next.
    template <PointToPoint C>
    void step(C& comm) {
        std::swap(now_, next_);
        for (auto& b : next_) b.clear();
        int const n = comm.size();
        for (int i = 0; i < n; ++i) {
            int const to = (me_ + i) % n, from = (me_ + n - i) % n;
            auto const mine = now_[static_cast<std::size_t>(to)].finish();
            auto const hear = [&](bit_reader& source) {
                while (source.left() > 0) {
                    auto const packet = source.take_bytes(source.take(32));
                    if (!node_->take(0, from, packet, to_others())) source.refuse("a packet out of place");
                }
            };
            if (i > 0) {
                talk_.exchange_bytes(comm, to, mine, from, hear);
            } else if (!talk_.in_trouble()) {
                bit_reader own(mine);
                hear(own);
            }
        }
    }

    std::size_t d_;
    conversation talk_;
    std::optional<switch_machine<T>> node_;
    int me_ = no_rank;
    std::vector<bit_writer> now_, next_;  // packets for each rank, each after its length in 4 bytes
};

/// SwitchML, in a recursion.
struct by_switch_ml {
    void check(std::size_t) const {}
    template <Scalar T, class B>
    switch_ml<T, B> make(std::size_t d, position_code) const {
        return switch_ml<T, B>(d);
    }
    bool operator==(by_switch_ml const&) const = default;
    friend std::string to_string(by_switch_ml) { return "switch_ml"; }
};

static_assert(Exchange<by_switch_ml>);

}  // namespace laconic
