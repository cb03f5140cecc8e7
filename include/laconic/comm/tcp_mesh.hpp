// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "laconic/comm/datagram_socket.hpp"
#include "laconic/comm/deadline.hpp"
#include "laconic/core/key.hpp"

namespace laconic::detail {

/// The milliseconds for poll() until then, rounded up; -1, for ever, where there is no deadline.
inline int milliseconds_left(deadline const& how, deadline::clock::time_point until) {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(until - deadline::clock::now()).count();
    return how ? static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000000)) : -1;
}

/// A TCP socket, which none of its calls waits for. Closed at its end.
class tcp_socket {
  public:
    tcp_socket() = default;
    explicit tcp_socket(int open) : socket_(open) {
        if (open < 0) fail("socket");
        ::fcntl(open, F_SETFD, FD_CLOEXEC);
        ::fcntl(open, F_SETFL, O_NONBLOCK);
        int const yes = 1;
        ::setsockopt(open, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }
    tcp_socket(tcp_socket&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
    tcp_socket& operator=(tcp_socket&& other) noexcept {
        std::swap(socket_, other.socket_);
        return *this;
    }
    ~tcp_socket() {
        if (socket_ >= 0) ::close(socket_);
    }
    explicit operator bool() const { return socket_ >= 0; }
    int get() const { return socket_; }

    /// Whether the last call failed only because it would have had to wait.
    static bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }
    /// Waits until it can be read or written, or until the time is over.
    void wait(short events, deadline const& how, deadline::clock::time_point until) const {
        pollfd one{socket_, events, 0};
        ::poll(&one, 1, milliseconds_left(how, until));
    }
    /// Sends all bytes, or receives as many, before the time is over. Returns false where that fails.
    bool send(std::span<std::byte const> bytes, deadline const& how, deadline::clock::time_point until) const {
        return move(bytes, POLLOUT, how, until,
                    [&](auto part) { return ::send(socket_, part.data(), part.size(), MSG_NOSIGNAL); });
    }
    bool receive(std::span<std::byte> bytes, deadline const& how, deadline::clock::time_point until) const {
        return move(bytes, POLLIN, how, until, [&](auto part) { return ::recv(socket_, part.data(), part.size(), 0); });
    }
    [[noreturn]] static void fail(std::string const& call) { throw comm_error(-1, {call, ": ", std::strerror(errno)}); }

  private:
    bool move(auto bytes, short events, deadline const& how, deadline::clock::time_point until, auto call) const {
        while (!bytes.empty()) {
            auto const n = call(bytes);
            if (n == 0 || (n < 0 && !would_wait()) || how.is_over(until)) return false;
            if (n > 0)
                bytes = bytes.subspan(static_cast<std::size_t>(n));
            else
                wait(events, how, until);
        }
        return true;
    }

    int socket_ = -1;
};

/// What each end of a connection sends first. Others than ranks of the same run, and of the same version of what
/// follows, have another, by which they are refused: that finds mistakes, no forgeries.
struct tcp_greeting {
    using address = std::array<char, 88>;

    std::array<char, 8> version{'l', 'a', 'c', 'o', 'n', 'i', 'c', '1'};
    std::uint64_t order = 0x0102030405060708;  // of bytes
    std::uint64_t run = 0;
    std::uint32_t size = 0, rank = 0;
    address listens{};  // where the ranks meet: the sender's own

    std::span<std::byte const> bytes() const { return std::as_bytes(std::span(this, 1)); }
    std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(this, 1)); }
    /// Whether it is of the same run.
    bool fits(tcp_greeting const& other) const {
        return version == other.version && order == other.order && run == other.run && size == other.size;
    }
    static address as_array(std::string const& text) {
        address all{};
        if (text.size() >= all.size()) throw argument_error({"the address ", text, " is too long"});
        std::copy(text.begin(), text.end(), all.begin());
        return all;
    }
    static std::string as_text(address const& all) {
        return {all.begin(), std::find(all.begin(), all.end() - 1, '\0')};
    }
};

/// A socket at which the others of a run connect.
class tcp_door {
  public:
    /// Opens it at this address; port 0 takes one that is free. Throws argument_error for an invalid address,
    /// comm_error where the system refuses.
    explicit tcp_door(std::string const& own) : door_(::socket(find_place(own).bytes.ss_family, SOCK_STREAM, 0)) {
        auto at = find_place(own);
        int const yes = 1;
        ::setsockopt(door_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);  // a run may follow another at once
        if (::bind(door_.get(), at.get(), at.length) != 0 || ::listen(door_.get(), SOMAXCONN) != 0)
            tcp_socket::fail(concat({"listening at ", own}));
    }
    std::string address() const { return address_of(door_.get()); }

    /// Accepts a connection from each rank for which awaited[rank], and answers with `mine`; take(greeting, socket)
    /// gets it. Connections that do not begin with the greeting of such a rank are closed. Throws comm_error with the
    /// first rank that does not connect before the time is over.
    void accept(tcp_greeting mine, std::vector<char> awaited, deadline const& how, deadline::clock::time_point until,
                auto take) const {
        struct guest {
            tcp_socket socket{};
            tcp_greeting greeting{};
            std::size_t here = 0;  // bytes
        };
        std::vector<guest> guests;
        std::vector<pollfd> polled;
        std::size_t const most = awaited.size() + 64;  // of those that have yet to greet, who may be anybody
        for (;;) {
            auto const missing = std::find(awaited.begin(), awaited.end(), 1);
            if (missing == awaited.end()) return;
            polled.assign(1, {door_.get(), POLLIN, 0});
            for (auto const& g : guests) polled.push_back({g.socket.get(), POLLIN, 0});
            ::poll(polled.data(), polled.size(), milliseconds_left(how, until));
            for (std::size_t i = guests.size(); i-- > 0;) {
                if (polled[i + 1].revents == 0) continue;
                auto& g = guests[i];
                auto const rest = g.greeting.bytes().subspan(g.here);
                auto const n = ::recv(g.socket.get(), rest.data(), rest.size(), 0);
                if (n < 0 && tcp_socket::would_wait()) continue;
                g.here += n > 0 ? static_cast<std::size_t>(n) : 0;
                if (n > 0 && g.here < sizeof g.greeting) continue;
                auto const who = g.greeting.rank;
                if (n > 0 && mine.fits(g.greeting) && who < awaited.size() && awaited[who] != 0 &&
                    g.socket.send(mine.bytes(), how, until)) {
                    awaited[who] = 0;
                    take(g.greeting, std::move(g.socket));
                }
                guests.erase(guests.begin() + static_cast<std::ptrdiff_t>(i));
            }
            if (polled[0].revents != 0) {
                if (int const open = ::accept(door_.get(), nullptr, nullptr); open >= 0) {
                    if (guests.size() == most) guests.erase(guests.begin());
                    guests.push_back({tcp_socket(open)});
                }
            }
            if (how.is_over(until)) {
                int const r = static_cast<int>(missing - awaited.begin());
                throw comm_error(r, {"rank ", r, " did not connect to ", address(), " within ", how.text()});
            }
        }
    }

  private:
    tcp_socket door_;
};

/// A connection to this address, at which rank r listens, or will. Throws argument_error for an invalid address,
/// comm_error where none can be made before the time is over.
inline tcp_socket tcp_connect(int r, std::string const& address, deadline const& how,
                              deadline::clock::time_point until) {
    auto at = find_place(address);
    for (;;) {
        tcp_socket made(::socket(at.bytes.ss_family, SOCK_STREAM, 0));
        if (::connect(made.get(), at.get(), at.length) != 0 && errno == EINPROGRESS) made.wait(POLLOUT, how, until);
        int why = 0;
        socklen_t length = sizeof why;
        ::getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &why, &length);
        place other;
        if (why == 0 && ::getpeername(made.get(), other.get(), &other.length) == 0) {
            // A free port may be the one from which this connects, and so connect to itself.
            if (address_of(made.get()) != address_of(other)) return made;
        }
        if (how.is_over(until))
            throw comm_error(r, {"rank ", r, " did not answer at ", address, " within ", how.text(),
                                 (why != 0 ? concat({": ", std::strerror(why)}) : std::string())});
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}
/// Sends the first greeting, and, with receive_greeting, the other end's.
inline void send_greeting(tcp_socket const& to, int r, tcp_greeting const& mine, deadline const& how,
                          deadline::clock::time_point until) {
    if (!to.send(mine.bytes(), how, until)) throw comm_error(r, {"the connection to rank ", r, " has ended"});
}
inline void receive_greeting(tcp_socket const& from, int r, tcp_greeting const& mine, deadline const& how,
                             deadline::clock::time_point until) {
    tcp_greeting theirs;
    bool const here = from.receive(theirs.bytes(), how, until);
    if (how.is_over(until)) throw comm_error(r, {"rank ", r, " did not answer within ", how.text()});
    if (!here || !mine.fits(theirs) || theirs.rank != static_cast<unsigned>(r))
        throw comm_error(r, {"rank ", r,
                             " refused the connection, or is another: all ranks must have the same size, addresses, "
                             "settings and version, and each a rank of its own"});
}

/// A connection with each other rank, in their order; the own is none. `addresses` are those at which the ranks listen,
/// this one at `door`: each connects to those of lower ranks. All ranks call it.
inline std::vector<tcp_socket> tcp_mesh(tcp_door const& door, int rank, std::vector<std::string> const& addresses,
                                        std::uint64_t run, deadline const& how) {
    auto const until = how.from_now();
    key all{run};  // ranks with other addresses are of another run
    for (auto const& a : addresses) {
        for (char const c : a) all = all.child(static_cast<unsigned char>(c));
        all = all.child(256);
    }
    auto const n = addresses.size(), me = static_cast<std::size_t>(rank);
    tcp_greeting mine{.run = all.bits, .size = static_cast<std::uint32_t>(n), .rank = static_cast<std::uint32_t>(rank)};
    std::vector<tcp_socket> mesh(n);
    for (int r = 0; r < rank; ++r) {
        auto& to = mesh[static_cast<std::size_t>(r)];
        to = tcp_connect(r, addresses[static_cast<std::size_t>(r)], how, until);
        send_greeting(to, r, mine, how, until);
    }
    std::vector<char> awaited(n, 1);
    std::fill_n(awaited.begin(), me + 1, char{0});
    door.accept(mine, awaited, how, until,
                [&](tcp_greeting const& theirs, tcp_socket from) { mesh[theirs.rank] = std::move(from); });
    for (int r = 0; r < rank; ++r) receive_greeting(mesh[static_cast<std::size_t>(r)], r, mine, how, until);
    return mesh;
}

/// Where ranks know only the address at which rank 0 listens, `door` of rank 0: returns the addresses of all. The
/// others open theirs on the interface by which they reach rank 0, at a port that is free. All ranks call it.
inline std::vector<std::string> tcp_meet(std::unique_ptr<tcp_door>& door, int rank, int size, std::string const& meet,
                                         std::uint64_t run, deadline const& how) {
    auto const until = how.from_now();
    auto const n = static_cast<std::size_t>(size);
    tcp_greeting mine{.run = run, .size = static_cast<std::uint32_t>(size), .rank = static_cast<std::uint32_t>(rank)};
    std::vector<tcp_greeting::address> all(n);
    if (rank == 0) {
        door = std::make_unique<tcp_door>(meet);
        std::vector<tcp_socket> guests(n);
        std::vector<char> awaited(n, 1);
        awaited[0] = 0;
        all[0] = tcp_greeting::as_array(meet);
        door->accept(mine, awaited, how, until, [&](tcp_greeting const& theirs, tcp_socket from) {
            all[theirs.rank] = theirs.listens;
            guests[theirs.rank] = std::move(from);
        });
        for (std::size_t r = 1; r < n; ++r) guests[r].send(std::as_bytes(std::span(all)), how, until);
    } else {
        auto const to = tcp_connect(0, meet, how, until);
        auto own = address_of(to.get());
        door = std::make_unique<tcp_door>(own.substr(0, own.rfind(':')) + ":0");
        mine.listens = tcp_greeting::as_array(door->address());
        send_greeting(to, 0, mine, how, until);
        receive_greeting(to, 0, mine, how, until);
        if (!to.receive(std::as_writable_bytes(std::span(all)), how, until))
            throw comm_error(0, {"rank 0 has ended before all ranks met at ", meet});
    }
    std::vector<std::string> addresses;
    for (auto const& a : all) addresses.push_back(tcp_greeting::as_text(a));
    return addresses;
}

}  // namespace laconic::detail
