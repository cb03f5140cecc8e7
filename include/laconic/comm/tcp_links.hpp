// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/tcp_link.hpp"

namespace laconic::detail {

/// The messages of this rank to the others and of theirs to it, over one connection with each, in channels that do not
/// mix. A call that waits receives whatever comes and sends whatever it can.
class tcp_links {
  public:
    /// What a payload may have beyond payload::most.
    static constexpr std::size_t most_beyond = 65536;

    tcp_links(int rank, std::vector<tcp_socket> mesh, deadline how) : how_(how), rank_(rank), links_(mesh.size()) {
        for (std::size_t r = 0; r < mesh.size(); ++r) {
            links_[r].socket = std::move(mesh[r]);
            links_[r].staged.resize(65536);
        }
        at(rank).why = concat({"rank ", rank, " waits for a message of its own that it has not sent"});
    }
    tcp_links(tcp_links const&) = delete;
    tcp_links& operator=(tcp_links const&) = delete;
    /// Sends what has not been sent, unless the ranks cannot go on.
    ~tcp_links() {
        auto const until = how_.from_now();
        auto const waits = [](tcp_link& l) { return !l.out.empty(); };
        do pump(why_ || std::none_of(links_.begin(), links_.end(), waits) ? 0 : milliseconds_left(how_, until));
        while (!why_ && !how_.is_over(until) && std::any_of(links_.begin(), links_.end(), waits));
        for (auto& l : links_)
            if (l.socket) ::shutdown(l.socket.get(), SHUT_WR);
        pump(0);  // closing a connection from which something was not read discards what has yet to be sent
    }

    deadline::clock::time_point deadline_from_now() const { return how_.from_now(); }
    /// For each call: throws where the ranks cannot go on.
    void check() const {
        if (why_) why_.raise();
    }
    tcp_pool& pool() { return pool_; }

    /// Sends a message to rank `to`, which may be this one, and does not wait. It releases the message once.
    void send(std::uint64_t channel, tcp_header::kind is, int to, std::size_t message) {
        auto& l = at(to);
        if (!l.socket) return queue(channel, is, to).push(message);
        if (!l.takes) return pool_.release(message);  // whoever waits for that rank gets the error
        auto const& m = pool_[message];
        tcp_header h;
        h.is = is, h.is_error = m.is_error ? 1 : 0, h.channel = channel, h.length = m.count;
        l.out.push({h, message});
        ++l.pushed;
        if (l.out.size() == 1) l.write(pool_);
    }
    /// How many messages have been sent to this rank, for sent().
    std::uint64_t count(int to) { return at(to).pushed; }
    /// Waits until the system has taken the first so many messages to this rank: from then on they arrive, whatever
    /// this rank waits for by other means. Throws comm_error where it does not before the deadline.
    void sent(int to, std::uint64_t count, deadline::clock::time_point until) {
        auto const& l = at(to);
        while (l.popped < count) {
            check();
            if (how_.is_over(until)) fail(to, concat({"rank ", to, " did not receive a message within ", how_.text()}));
            pump(milliseconds_left(how_, until));
        }
    }
    /// Receives what has come, and sends what can be sent.
    void look() { pump(0); }
    /// The next collective message of rank `from` belongs to a call in which it has at most so many bytes; 0: any
    /// number.
    void expect(std::uint64_t channel, int from, std::size_t most) {
        auto& of = sender(channel, from);
        std::size_t const limit = most == 0 ? no_limit : most + most_beyond;
        if (of.early == 0) return of.limits.push(limit);
        auto& q = of.queues[tcp_header::collective];
        if (auto const length = pool_[q[q.size() - of.early--]].length; length > limit)
            fail(from, too_long(from, length, limit));
    }
    /// Waits for the next message from this rank. Throws comm_error where none will come, or none before the deadline.
    std::size_t take(std::uint64_t channel, tcp_header::kind is, int from, deadline::clock::time_point until) {
        auto& q = queue(channel, is, from);
        while (q.empty() || !pool_[q[0]].is_whole()) {
            auto const& l = at(from);
            if (!l.why.empty()) fail(l.culprit < 0 ? from : l.culprit, l.why);
            if (sender(channel, from).left) fail(from, abort_reason::left(from));
            if (failed_ != no_rank) fail(at(failed_).culprit, at(failed_).why);
            if (how_.is_over(until))
                fail(from, concat({"rank ", from,
                                   !q.empty()                     ? " did not send all of its message"
                                   : is == tcp_header::collective ? " did not come"
                                                                  : " sent nothing",
                                   " within ", how_.text()}));
            pump(milliseconds_left(how_, until));
        }
        return q.pop();
    }

    /// This rank uses a channel among these ranks no more. With tell_them those who wait for it there learn so.
    void close(std::uint64_t channel, std::vector<int> const& among, bool tell_them) {
        auto& c = channel_of(channel);
        c.among = among;
        c.closed = true;
        for (auto& s : c.senders)
            for (auto& q : s.queues)
                while (!q.empty()) pool_.release(q.pop());
        if (tell_them && !why_)
            for (int const r : among)
                if (r != rank_) send(channel, tcp_header::left, r, pool_.copy({}, 1));
        forget(channel);
    }

  private:
    static constexpr std::size_t no_limit = static_cast<std::size_t>(-1);
    struct of_sender {
        std::array<fifo<std::size_t>, 2> queues{};  // by kind; the last one may not be here in full
        fifo<std::size_t> limits{};                 // of collective messages that are expected and have not begun
        std::size_t early = 0;                      // those that have begun and were not expected yet
        bool left = false;
    };
    struct channel_state {
        std::vector<of_sender> senders{};
        std::vector<int> among{};
        bool closed = false;
    };

    tcp_link& at(int rank) { return links_[static_cast<std::size_t>(rank)]; }
    int rank_of(tcp_link const& l) const { return static_cast<int>(&l - links_.data()); }
    channel_state& channel_of(std::uint64_t number) {
        auto& c = channels_[number];
        c.senders.resize(links_.size());
        return c;
    }
    of_sender& sender(std::uint64_t channel, int from) {
        return channel_of(channel).senders[static_cast<std::size_t>(from)];
    }
    fifo<std::size_t>& queue(std::uint64_t channel, tcp_header::kind is, int from) {
        return sender(channel, from).queues[is];
    }
    // Where all have left it.
    void forget(std::uint64_t channel) {
        auto& c = channel_of(channel);
        for (int const r : c.among)
            if (r != rank_ && !c.senders[static_cast<std::size_t>(r)].left) return;
        channels_.erase(channel);
    }

    static std::string too_long(int from, std::uint64_t length, std::size_t limit) {
        return concat({"rank ", from, " sends ", length, " bytes, where at most ", limit,
                       " can come: all ranks must make the same calls in the same order"});
    }
    // Records the reason, sends it to the others, and throws it.
    [[noreturn, gnu::cold, gnu::noinline]] void fail(int culprit, std::string const& why) {
        why_.is(culprit, why);
        std::int32_t const first = culprit;
        std::vector<std::byte> notice(sizeof first + why.size());
        std::memcpy(notice.data(), &first, sizeof first);
        std::memcpy(notice.data() + sizeof first, why.data(), why.size());
        for (auto& l : links_)
            if (l.socket && !l.ended) send(0, tcp_header::failed, rank_of(l), pool_.copy({notice}, 1));
        why_.raise();
    }

    // Waits for so many milliseconds, -1 without end, until something can be received or sent, and does it.
    void pump(int milliseconds) {
        polled_.clear();
        for (auto& l : links_)
            if (l.socket && !l.ended)
                polled_.push_back({l.socket.get(), static_cast<short>(l.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
        if (::poll(polled_.data(), polled_.size(), milliseconds) <= 0) return;
        auto p = polled_.begin();
        for (auto& l : links_) {
            if (!l.socket || p == polled_.end() || p->fd != l.socket.get()) continue;
            if ((p->revents & POLLOUT) != 0) l.write(pool_);
            if ((p->revents & ~POLLOUT) != 0) read(l);
            ++p;
        }
    }

    void read(tcp_link& l) {
        auto const on_header = [&] { return begin(l); };
        if (l.read(pool_, on_header, [&] { complete(l); })) return;
        bool const left = errno == 0 || errno == ECONNRESET;
        end(l, left ? abort_reason::left(rank_of(l))
                    : concat({"the connection to rank ", rank_of(l), " has ended: ", std::strerror(errno)}));
    }
    // That rank sends nothing more.
    void end(tcp_link& l, std::string why) {
        l.ended = true;
        if (l.why.empty()) l.why = std::move(why);
        l.drop(pool_);
        pool_.release(std::exchange(l.reading, tcp_pool::none));
    }
    // A header has come. Returns false where it ends the connection.
    bool begin(tcp_link& l) {
        auto const& h = l.header;
        int const from = rank_of(l);
        if (!h.is_sound()) return end(l, concat({"rank ", from, " sent what is no message"})), false;
        auto& c = channel_of(h.channel);
        auto& of = c.senders[static_cast<std::size_t>(from)];
        std::size_t limit = h.is > tcp_header::pair ? most_beyond : no_limit;
        if (h.is == tcp_header::collective) {
            if (of.limits.empty())
                ++of.early;
            else
                limit = of.limits.pop();
        }
        if (h.length > limit) return end(l, too_long(from, h.length, limit)), false;
        bool const queued = h.is <= tcp_header::pair && !c.closed;
        l.reading = pool_.take(h.length, h.is_error != 0, queued ? 2 : 1);
        if (queued) of.queues[h.is].push(l.reading);
        return true;
    }
    void complete(tcp_link& l) {
        auto const& m = pool_[l.reading];
        if (l.header.is == tcp_header::left) {
            auto& c = channel_of(l.header.channel);
            c.senders[static_cast<std::size_t>(rank_of(l))].left = true;
            if (c.closed) forget(l.header.channel);
        } else if (l.header.is == tcp_header::failed && l.why.empty()) {
            std::int32_t culprit = no_rank;
            std::memcpy(&culprit, m.bytes.data(), sizeof culprit);
            l.why.assign(reinterpret_cast<char const*>(m.bytes.data()) + sizeof culprit, m.count - sizeof culprit);
            l.culprit = culprit;
            failed_ = rank_of(l);
        }
    }

    deadline how_;
    int rank_;
    abort_reason why_;
    std::vector<tcp_link> links_;  // with each rank; the own one has no socket
    std::map<std::uint64_t, channel_state> channels_;
    tcp_pool pool_;
    std::vector<pollfd> polled_;
    int failed_ = no_rank;  // a rank that has sent the reason why the ranks cannot go on
};

}  // namespace laconic::detail
