// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"

namespace laconic::detail {

/// The address of a socket: a host and a port, IPv4 or IPv6.
struct place {
    sockaddr_storage bytes{};
    socklen_t length = sizeof(sockaddr_storage);

    sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }

    /// The bytes of port and host, which identify a place.
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

/// Resolves HOST:PORT or [HOST]:PORT, of this family of addresses or of any. Throws argument_error where it cannot.
inline place find_place(std::string const& address, int family = AF_UNSPEC) {
    auto const colon = address.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == address.size())
        throw argument_error({"'", address, "' is no address: HOST:PORT or [HOST]:PORT is one"});
    // A larger number is one of 16 bits to getaddrinfo.
    if (std::strtoull(address.c_str() + colon + 1, nullptr, 10) > 65535)
        throw argument_error({"'", address, "': a port is at most 65535"});
    std::string name = address.substr(0, colon);
    if (name.front() == '[' && name.back() == ']') name = name.substr(1, name.size() - 2);
    addrinfo wanted{};
    wanted.ai_family = family;
    wanted.ai_socktype = SOCK_DGRAM;
    wanted.ai_flags = AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (int const why = ::getaddrinfo(name.c_str(), address.c_str() + colon + 1, &wanted, &found); why != 0)
        throw argument_error({"'", address, "': ", ::gai_strerror(why)});
    place p;
    std::memcpy(&p.bytes, found->ai_addr, found->ai_addrlen);
    p.length = found->ai_addrlen;
    ::freeaddrinfo(found);
    return p;
}

/// The text of a place, HOST:PORT or [HOST]:PORT in numbers.
inline std::string address_of(place p) {
    char name[NI_MAXHOST], port[NI_MAXSERV];
    if (int const why = ::getnameinfo(p.get(), p.length, name, sizeof name, port, sizeof port,
                                      NI_NUMERICHOST | NI_NUMERICSERV | NI_DGRAM);
        why != 0)
        throw comm_error(-1, {"getnameinfo: ", ::gai_strerror(why)});
    bool const six = p.bytes.ss_family == AF_INET6;
    return (six ? "[" : "") + std::string(name) + (six ? "]:" : ":") + port;
}
/// The same of a socket's own place.
inline std::string address_of(int socket) {
    place p;
    if (::getsockname(socket, p.get(), &p.length) != 0) throw comm_error(-1, {"getsockname: ", std::strerror(errno)});
    return address_of(p);
}

/// The system's socket for datagrams. Packets of one length for one place go through the system in one call where it
/// can (Linux, UDP_SEGMENT and UDP_GRO), as a call for each would take longer than all other work.
class datagram_socket {
  public:
    /// The most bytes, and packets, of one call.
    static constexpr std::size_t longest_together = 65000, most_together = 64;

    /// What one place has sent: packets one behind another, all of this length but the last, which may be shorter.
    struct arrival {
        place from{};
        std::span<std::byte const> bytes{};
        std::size_t length = 0;
    };

    /// Opens it at this address; port 0 takes one that is free. `buffer` is the number of bytes that the system is to
    /// reserve for each direction. Throws argument_error for an invalid address, comm_error where the system refuses.
    datagram_socket(std::string const& own, std::size_t buffer) {
        auto at = find_place(own);
        family_ = at.bytes.ss_family;
        socket_ = ::socket(family_, SOCK_DGRAM, 0);
        if (socket_ < 0) fail("socket");
        ::fcntl(socket_, F_SETFD, FD_CLOEXEC);
        // The system reserves at most what it allows.
        auto const bytes = static_cast<int>(std::min<std::size_t>(buffer, 1u << 30));
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
        ::setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
        int const yes = 1;
        ::setsockopt(socket_, IPPROTO_UDP, come_together, &yes, sizeof yes);  // where refused, packets come one by one
        if (::bind(socket_, at.get(), at.length) != 0) {
            int const why = errno;
            ::close(std::exchange(socket_, -1));
            errno = why;
            fail(concat({"bind to ", own}));
        }
        received_.resize(65536);
    }
    datagram_socket(datagram_socket&& other) noexcept
        : family_(other.family_),
          socket_(std::exchange(other.socket_, -1)),
          go_together_(other.go_together_),
          received_(std::move(other.received_)) {}
    ~datagram_socket() {
        if (socket_ >= 0) ::close(socket_);
    }

    /// AF_INET or AF_INET6.
    int family() const { return family_; }

    /// Its address, which others can use if it was opened on an address that they can reach.
    std::string address() const { return address_of(socket_); }

    /// Sends packets of this length > 0, one behind another; the last may be shorter. Packets for which the network has
    /// no room are lost. Throws comm_error for packets that are too long for the system.
    void send(place& to, std::span<std::byte const> packets, std::size_t length) {
        if (go_together_ && packets.size() > length) {
            go_together_ = send_together(to, packets, length);
            if (go_together_) return;
        }
        for (std::size_t at = 0; at < packets.size(); at += length) {
            auto const one = packets.subspan(at, std::min(length, packets.size() - at));
            if (::sendto(socket_, one.data(), one.size(), 0, to.get(), to.length) < 0 && errno == EMSGSIZE)
                fail(concat({"a packet of ", one.size(), " bytes"}));
        }
    }

    /// Waits for a packet, at most so many seconds, rounded up to milliseconds.
    void wait(double seconds) const {
        pollfd waits{socket_, POLLIN, 0};
        auto const milliseconds = static_cast<int>(std::ceil(std::clamp(seconds, 0.0, 1e6) * 1000));
        if (::poll(&waits, 1, milliseconds) < 0 && errno != EINTR) fail("poll");
    }

    /// Returns what has come already; no bytes where nothing has. Valid until the next call. Does not wait.
    arrival receive() {
        arrival a;
        alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
        iovec bytes{received_.data(), received_.size()};
        auto message = message_of(a.from, bytes, room);
        auto const all = ::recvmsg(socket_, &message, MSG_DONTWAIT);
        if (all <= 0) return a;
        a.bytes = std::span(received_).first(static_cast<std::size_t>(all));
        a.length = a.bytes.size();
        for (auto* option = CMSG_FIRSTHDR(&message); option; option = CMSG_NXTHDR(&message, option)) {
            if (option->cmsg_level != IPPROTO_UDP || option->cmsg_type != come_together) continue;
            int length = 0;
            std::memcpy(&length, CMSG_DATA(option), sizeof length);
            if (length > 0) a.length = static_cast<std::size_t>(length);
        }
        return a;
    }

  private:
    [[noreturn]] static void fail(std::string const& call) { throw comm_error(-1, {call, ": ", std::strerror(errno)}); }

    template <std::size_t N>
    static msghdr message_of(place& other, iovec& bytes, char (&room)[N]) {
        msghdr message{};
        message.msg_name = other.get();
        message.msg_namelen = other.length;
        message.msg_iov = &bytes;
        message.msg_iovlen = 1;
        message.msg_control = room;
        message.msg_controllen = N;
        return message;
    }

    // Returns false where the system cannot do that, or not with packets of that length; then it has sent nothing.
    bool send_together(place& to, std::span<std::byte const> packets, std::size_t length) const {
        alignas(cmsghdr) char room[CMSG_SPACE(sizeof(std::uint16_t))] = {};
        iovec bytes{const_cast<std::byte*>(packets.data()), packets.size()};  // sendmsg only reads
        auto const message = message_of(to, bytes, room);
        cmsghdr* const option = CMSG_FIRSTHDR(&message);
        option->cmsg_level = IPPROTO_UDP;
        option->cmsg_type = as_packets_of;
        option->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
        auto const each = static_cast<std::uint16_t>(length);
        std::memcpy(CMSG_DATA(option), &each, sizeof each);
        if (::sendmsg(socket_, &message, 0) >= 0) return true;
        return errno != EINVAL && errno != EIO && errno != EMSGSIZE && errno != EOPNOTSUPP && errno != ENOPROTOOPT;
    }

    // Linux's numbers of UDP_SEGMENT and UDP_GRO; other systems refuse them.
    static constexpr int as_packets_of = 103, come_together = 104;

    int family_ = AF_UNSPEC, socket_ = -1;
    bool go_together_ = true;
    std::vector<std::byte> received_;
};

}  // namespace laconic::detail
