// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/mailbox.hpp"
#include "laconic/comm/packet_machine.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/key.hpp"

namespace laconic {

/// A node's datagram socket, IPv4 or IPv6, that runs packet machines: the nodes are processes anywhere, and what is
/// lost between them the machines send again. An address is HOST:PORT or [HOST]:PORT; port 0 is one that is free. All
/// errors of the network are losses; what does not heal ends with the deadline. What comes from another address than
/// the peers' is dropped: that tells mistakes, not forgeries. For POSIX systems; laconic.hpp leaves it out.
class udp {
  public:
    struct settings {
        /// The longest wait for something that brings a machine nearer to its end.
        std::chrono::milliseconds deadline{30000};
        std::size_t longest = 1472;                 ///< bytes of a packet: what Ethernet carries in one piece over IPv4
        std::size_t buffer = std::size_t{4} << 20;  ///< bytes asked of the system, for what comes and what goes
        double loss = 0;                            ///< for tests: this share of what is sent is not
        key losses{};                               ///< which
    };

    /// Opens the socket. Throws argument_error for an address or settings that cannot be, comm_error where the system
    /// refuses.
    explicit udp(std::string const& own, settings how) : how_(how) {
        if (how.deadline.count() <= 0) throw argument_error("a deadline of no time");
        if (!(how.loss >= 0 && how.loss <= 1)) throw argument_error("a loss that is no share");
        auto const at = resolve(own, AF_UNSPEC);
        family_ = at->ai_family;
        socket_ = ::socket(family_, SOCK_DGRAM, 0);
        if (socket_ < 0) fail("socket");
        ::fcntl(socket_, F_SETFD, FD_CLOEXEC);
        // As much of it as there may be.
        auto const bytes = static_cast<int>(std::min<std::size_t>(how.buffer, 1u << 30));
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
        ::setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
        if (::bind(socket_, at->ai_addr, at->ai_addrlen) != 0) {
            int const why = errno;
            ::close(std::exchange(socket_, -1));
            errno = why;
            fail("bind to " + own);
        }
        received_.resize(65536);
    }
    explicit udp(std::string const& own) : udp(own, settings{}) {}
    udp(udp&& other) noexcept
        : how_(other.how_),
          family_(other.family_),
          socket_(std::exchange(other.socket_, -1)),
          me_(other.me_),
          peers_(std::move(other.peers_)),
          nodes_(std::move(other.nodes_)),
          received_(std::move(other.received_)) {}
    ~udp() {
        if (socket_ >= 0) ::close(socket_);
    }

    /// Where it is, as others find it if it was opened on an address that they know.
    std::string address() const {
        place p;
        if (::getsockname(socket_, p.get(), &p.length) != 0) fail("getsockname");
        char name[NI_MAXHOST], port[NI_MAXSERV];
        if (::getnameinfo(p.get(), p.length, name, sizeof name, port, sizeof port,
                          NI_NUMERICHOST | NI_NUMERICSERV | NI_DGRAM) != 0)
            fail("getnameinfo");
        bool const six = family_ == AF_INET6;
        return (six ? "[" : "") + std::string(name) + (six ? "]:" : ":") + port;
    }

    /// This node's number, and the addresses of all, in the order of nodes; its own is not looked at. Throws
    /// argument_error for addresses that cannot be, or that two nodes have.
    void meet(int me, std::vector<std::string> const& all) {
        if (me < 0 || static_cast<std::size_t>(me) >= all.size())
            throw argument_error("node " + std::to_string(me) + " of " + std::to_string(all.size()));
        me_ = me;
        peers_.assign(all.size(), {});
        nodes_.clear();
        for (std::size_t n = 0; n < all.size(); ++n) {
            if (static_cast<int>(n) == me) continue;
            auto const at = resolve(all[n], family_);
            std::memcpy(&peers_[n].bytes, at->ai_addr, at->ai_addrlen);
            peers_[n].length = static_cast<socklen_t>(at->ai_addrlen);
            if (auto const [other, is_new] = nodes_.try_emplace(peers_[n].name(), static_cast<int>(n)); !is_new)
                throw argument_error("nodes " + std::to_string(other->second) + " and " + std::to_string(n) +
                                     " have the address " + all[n]);
        }
    }

    /// Runs a machine until it is done. Throws comm_error that names the node it waits for where nothing brings it
    /// nearer to its end before the deadline; argument_error for a packet that is too long or for a node that there is
    /// not. What the machine then has to say, such as that a rank's numbers are not finite, is asked of the machine.
    template <PacketMachine M>
    void run(M& machine) {
        auto const out = [this](int to, std::span<std::byte const> packet) { send(to, packet); };
        double const patience = std::chrono::duration<double>(how_.deadline).count();
        double news = seconds();
        own_ = {};
        machine.start(news, out);
        while (!machine.done()) {
            double now = seconds();
            bool const heard = each_packet(std::min(machine.wakes_at(), news + patience) - now,
                                           [&](int from, std::span<std::byte const> packet) {
                                               now = seconds();
                                               if (machine.take(now, from, packet, out)) news = now;
                                               return !machine.done();
                                           });
            now = seconds();
            if (machine.done()) break;
            if (machine.wakes_at() <= now) machine.wake(now, out);
            // What is here already may be news, unless there is no end of it.
            if (now >= news + (heard ? 2 : 1) * patience) give_up(machine.waits_for());
        }
    }

  private:
    struct place {
        sockaddr_storage bytes{};
        socklen_t length = sizeof(sockaddr_storage);

        sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
        // Port and host, of which no two nodes have the same.
        std::string name() const {
            auto const text = [](auto const& port, auto const& at) {
                return std::string(reinterpret_cast<char const*>(&port), sizeof port) +
                       std::string(reinterpret_cast<char const*>(&at), sizeof at);
            };
            if (bytes.ss_family == AF_INET) {
                sockaddr_in four;
                std::memcpy(&four, &bytes, sizeof four);
                return text(four.sin_port, four.sin_addr);
            }
            sockaddr_in6 six;
            std::memcpy(&six, &bytes, sizeof six);
            return text(six.sin6_port, six.sin6_addr);
        }
    };
    struct free_list {
        void operator()(addrinfo* p) const { ::freeaddrinfo(p); }
    };

    [[noreturn]] static void fail(std::string const& call) { throw comm_error(-1, call + ": " + std::strerror(errno)); }

    static std::unique_ptr<addrinfo, free_list> resolve(std::string const& address, int family) {
        auto const colon = address.rfind(':');
        if (colon == std::string::npos || colon == 0 || colon + 1 == address.size())
            throw argument_error("'" + address + "' is no address: HOST:PORT or [HOST]:PORT is one");
        std::string name = address.substr(0, colon);
        if (name.front() == '[' && name.back() == ']') name = name.substr(1, name.size() - 2);
        addrinfo wanted{};
        wanted.ai_family = family;
        wanted.ai_socktype = SOCK_DGRAM;
        wanted.ai_flags = AI_NUMERICSERV;
        addrinfo* found = nullptr;
        if (int const why = ::getaddrinfo(name.c_str(), address.c_str() + colon + 1, &wanted, &found); why != 0)
            throw argument_error("'" + address + "': " + ::gai_strerror(why));
        return std::unique_ptr<addrinfo, free_list>(found);
    }

    static double seconds() {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    void send(int to, std::span<std::byte const> packet) {
        if (to < 0 || static_cast<std::size_t>(to) >= peers_.size())
            throw argument_error("a packet for node " + std::to_string(to) + " of " + std::to_string(peers_.size()));
        if (to == me_) {
            own_.next(0, packet.size()).say({packet});
            return own_.post(0);
        }
        if (packet.size() > how_.longest)
            throw argument_error("a packet of " + std::to_string(packet.size()) + " bytes: up to " +
                                 std::to_string(how_.longest) + " can be");
        if (how_.loss > 0 && how_.losses.uniform(sent_++) < how_.loss) return;
        auto& peer = peers_[static_cast<std::size_t>(to)];
        if (::sendto(socket_, packet.data(), packet.size(), 0, peer.get(), peer.length) < 0 && errno == EMSGSIZE)
            fail("a packet of " + std::to_string(packet.size()) + " bytes");
    }

    // Waits for a packet, and calls take(from, packet) for it and others that are here, while that returns true.
    // Whether there was one.
    template <class Take>
    bool each_packet(double longest_wait, Take take) {
        bool some = false;
        while (own_.has(0)) {
            some = true;
            if (!take(me_, own_.take(0).bytes)) return true;
        }
        pollfd waits{socket_, POLLIN, 0};
        // To the next millisecond, lest it wakes too early again and again.
        auto const wait = some ? 0 : static_cast<int>(std::ceil(std::clamp(longest_wait, 0.0, 1e6) * 1000));
        if (::poll(&waits, 1, wait) < 0 && errno != EINTR) fail("poll");
        for (int n = 0; n < 64; ++n) {
            place sender;
            auto const bytes =
                ::recvfrom(socket_, received_.data(), received_.size(), MSG_DONTWAIT, sender.get(), &sender.length);
            if (bytes < 0) break;
            auto const from = nodes_.find(sender.name());
            if (from == nodes_.end()) continue;
            some = true;
            if (!take(from->second, std::span(received_).first(static_cast<std::size_t>(bytes)))) break;
        }
        return some;
    }

    [[noreturn]] void give_up(int node) const {
        auto const time = std::to_string(how_.deadline.count()) + " ms";
        if (node == no_rank) throw comm_error(-1, "nothing was heard for " + time);
        throw comm_error(node, "node " + std::to_string(node) + " said nothing that was waited for, for " + time);
    }

    settings how_;
    int family_ = AF_UNSPEC, socket_ = -1, me_ = no_rank;
    std::vector<place> peers_;
    std::map<std::string, int> nodes_;  // by names of places
    std::vector<std::byte> received_;
    mailbox own_;             // what the node says to itself
    std::uint64_t sent_ = 0;  // by which losses are drawn
};

}  // namespace laconic
