// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "laconic/comm/datagram_socket.hpp"
#include "laconic/comm/mailbox.hpp"
#include "laconic/comm/packet_machine.hpp"
#include "laconic/core/clock.hpp"
#include "laconic/core/key.hpp"

namespace laconic {

/// A node's datagram socket, IPv4 or IPv6, that runs packet machines: the nodes are processes anywhere, and the
/// machines send lost packets again. An address is HOST:PORT or [HOST]:PORT; port 0 takes one that is free. All errors
/// of the network are losses; those that persist end with the deadline. Packets from an address other than the peers'
/// are dropped, which catches mistakes, not forgeries. For POSIX systems; all.hpp leaves it out.
class udp {
  public:
    struct settings {
        /// The longest wait for a packet that brings a machine nearer to its end.
        std::chrono::milliseconds deadline{30000};
        std::size_t longest = 1472;  ///< the most bytes of a packet: what Ethernet carries in one frame over IPv4
        std::size_t buffer = std::size_t{4} << 20;  ///< bytes that the system is to reserve for each direction
        double loss = 0;                            ///< for tests: the share of packets that is dropped
        key losses{};                               ///< the key that draws them
    };

    /// Opens the socket. Throws argument_error for an invalid address or invalid settings, comm_error where the system
    /// refuses.
    explicit udp(std::string const& own, settings how) : how_(checked(how)), socket_(own, how.buffer) {}
    explicit udp(std::string const& own) : udp(own, settings{}) {}

    /// Its address, which others can use if it was opened on an address that they can reach.
    std::string address() const { return socket_.address(); }

    /// Sets this node's number, and the addresses of all, in the order of nodes; its own is ignored. Throws
    /// argument_error for an invalid address, or one that two nodes have.
    void set_peers(int me, std::vector<std::string> const& all) {
        if (me < 0 || static_cast<std::size_t>(me) >= all.size())
            throw argument_error({"node ", me, " of ", all.size()});
        me_ = me;
        peers_.assign(all.size(), {});
        waited_for_.clear();
        here_ = {};
        nodes_.clear();
        for (std::size_t n = 0; n < all.size(); ++n) {
            if (static_cast<int>(n) == me) continue;
            auto& at = peers_[n].at;
            at = detail::find_place(all[n], socket_.family());
            if (auto const [other, is_new] = nodes_.try_emplace(at.name(), static_cast<int>(n)); !is_new)
                throw argument_error({"nodes ", other->second, " and ", n, " have the address ", all[n]});
        }
    }

    /// Runs a machine until it is done. Throws comm_error that names the node it waits for where nothing brings it
    /// nearer to its end before the deadline; argument_error for a packet that is too long or for a node that does not
    /// exist. The machine itself has the result, such as the error that a rank's numbers are not finite.
    template <PacketMachine M>
    void run(M& machine) {
        auto const out = [this](int to, std::span<std::byte const> packet) { send(to, packet); };
        double const patience = std::chrono::duration<double>(how_.deadline).count();
        monotonic_clock const seconds{};
        double last_new = seconds();
        own_ = {};
        machine.start(last_new, out);
        while (!machine.done()) {
            send_all();
            double now = seconds();
            bool const received = each_packet(std::min(machine.wakes_at(), last_new + patience) - now,
                                              [&](int from, std::span<std::byte const> packet) {
                                                  now = seconds();
                                                  if (machine.take(now, from, packet, out)) last_new = now;
                                                  return !machine.done();
                                              });
            now = seconds();
            if (machine.done()) break;
            if (machine.wakes_at() <= now) machine.wake(now, out);
            // Packets that are here already may bring it nearer to its end, unless they come without end.
            if (now >= last_new + (received ? 2 : 1) * patience) give_up(machine.waits_for());
        }
        send_all();
    }

  private:
    // Packets of one length that have not been sent yet, one behind another.
    struct batch {
        std::size_t length = 0;
        std::vector<std::byte> packets{};
    };
    struct peer {
        detail::place at{};
        std::vector<batch> batches{};  // of several lengths, as packets with and without numbers alternate
    };

    static settings const& checked(settings const& how) {
        if (how.deadline.count() <= 0) throw argument_error("a deadline of no time");
        if (!(how.loss >= 0 && how.loss <= 1)) throw argument_error("a loss that is no share");
        return how;
    }

    void send(int to, std::span<std::byte const> packet) {
        if (to < 0 || static_cast<std::size_t>(to) >= peers_.size())
            throw argument_error({"a packet for node ", to, " of ", peers_.size()});
        if (to == me_) {
            own_.next(0, packet.size()).assign({packet});
            return own_.post(0);
        }
        if (packet.size() > how_.longest)
            throw argument_error({"a packet of ", packet.size(), " bytes: up to ", how_.longest, " can be"});
        if (packet.empty()) return;  // an empty packet carries nothing
        if (how_.loss > 0 && how_.losses.uniform(sent_++) < how_.loss) return;
        auto& b = batch_for(peers_[static_cast<std::size_t>(to)], packet.size());
        if (b.packets.empty()) waited_for_.push_back(to);
        b.packets.insert(b.packets.end(), packet.begin(), packet.end());
    }
    // The batch of this length, with room for one more.
    batch& batch_for(peer& p, std::size_t length) {
        auto& all = p.batches;
        auto b = std::find_if(all.begin(), all.end(), [&](batch const& x) { return x.length == length; });
        if (b == all.end())
            b = all.size() < lengths_at_once ? all.emplace(b)
                                             : std::min_element(all.begin(), all.end(), [](auto& x, auto& y) {
                                                   return x.packets.size() < y.packets.size();
                                               });
        else if (b->packets.size() < length * socket_.most_together &&
                 b->packets.size() + length <= socket_.longest_together)
            return *b;
        send(p, *b);
        b->length = length;
        return *b;
    }
    void send(peer& p, batch& b) {
        if (!b.packets.empty()) socket_.send(p.at, b.packets, b.length);
        b.packets.clear();
    }
    void send_all() {
        for (int const to : waited_for_)
            for (auto& b : peers_[static_cast<std::size_t>(to)].batches) send(peers_[static_cast<std::size_t>(to)], b);
        waited_for_.clear();
    }

    // Waits for a packet, and calls take(from, packet) for it and others that are here, while that returns true.
    // Returns whether there was one.
    bool each_packet(double longest_wait, auto take) {
        bool some = false;
        while (own_.has(0)) {
            some = true;
            if (!take(me_, own_.take(0).bytes)) return true;
        }
        for (int n = 0; n < 64; ++n) {
            if (here_.bytes.empty()) {
                if (n == 0) socket_.wait(some ? 0 : longest_wait);
                here_ = socket_.receive();
                if (here_.bytes.empty()) break;
            }
            auto const from = nodes_.find(here_.from.name());
            if (from == nodes_.end()) here_.bytes = {};
            // A machine that is done leaves the other packets to the next.
            while (!here_.bytes.empty()) {
                some = true;
                auto const packet = here_.bytes.first(std::min(here_.length, here_.bytes.size()));
                here_.bytes = here_.bytes.subspan(packet.size());
                if (!take(from->second, packet)) return true;
            }
        }
        return some;
    }

    [[noreturn]] void give_up(int node) const {
        auto const time = detail::concat({how_.deadline.count(), " ms"});
        if (node == no_rank) throw comm_error(-1, {"no packet came for ", time});
        throw comm_error(node, {"node ", node, " sent nothing that is needed for ", time});
    }

    static constexpr std::size_t lengths_at_once = 4;

    settings how_;
    detail::datagram_socket socket_;
    detail::datagram_socket::arrival here_{};  // the rest of the last arrival
    int me_ = no_rank;
    std::vector<peer> peers_;
    std::vector<int> waited_for_;       // peers with packets that have not been sent yet; some more than once
    std::map<std::string, int> nodes_;  // by the names of places
    detail::mailbox own_;               // packets that the node sends to itself
    std::uint64_t sent_ = 0;            // the number of packets sent, by which losses are drawn
};

}  // namespace laconic
