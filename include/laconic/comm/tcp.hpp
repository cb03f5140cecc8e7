// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/tcp_links.hpp"
#include "laconic/core/key.hpp"

namespace laconic {

/// The ranks as processes, or threads, that are connected by TCP, each with each other, without MPI:
///
///     laconic::tcp comm(rank, size, "10.0.0.1:29400");   // where rank 0 listens; the others connect until it does
///
/// An address is HOST:PORT or [HOST]:PORT. Or each rank opens a tcp::listener, the addresses of all are exchanged by
/// other means, and each connects. All-gathers in lanes travel while a rank computes, as far as the system's buffers
/// reach, some MiB; what is longer travels when it calls next. A call that waits, and so finish(), returns when the
/// system has this rank's message, too. A message is sent with its length, in 24 bytes, and is copied once at either
/// end.
///
/// A rank whose process ends gives those that wait for it a comm_error that names it. Once a rank has got a comm_error
/// each later call throws the same, and so do those of the ranks that wait, then or later. A rank that ends sends what
/// it has to first, but waits for no other's call.
///
/// Nothing is encrypted or authenticated: for the loopback and networks of your own. Connections that do not begin as
/// those of a rank of this run do are refused, which finds mistakes, not forgeries. For POSIX systems; all.hpp leaves
/// this out.
class tcp {
  public:
    /// The same on all ranks.
    struct settings {
        /// The longest wait for another rank, within a call and until all are connected; 0: no limit. After it a
        /// comm_error names that rank.
        std::chrono::milliseconds deadline{std::chrono::minutes(30)};
        std::uint64_t run = 0;  ///< a number of the run: ranks that give others are not connected
    };

    /// Where a rank listens before it knows the others.
    class listener {
      public:
        /// Listens at this address, by which the others reach this rank; port 0 takes one that is free. Throws
        /// argument_error for an invalid address, comm_error where the system refuses.
        explicit listener(std::string const& own) : door_(own) {}
        std::string address() const { return door_.address(); }

      private:
        friend tcp;
        detail::tcp_door door_;
    };

    /// Rank 0 listens at `meet`, an address of its own by which all reach it, and the others connect, however late it
    /// does. Throws argument_error for an invalid rank or address, comm_error where ranks do not come before the
    /// deadline.
    tcp(int rank, int size, std::string const& meet, settings how) {
        detail::deadline const longest(how.deadline);
        check_rank(rank, size);
        std::unique_ptr<detail::tcp_door> door;
        auto const all = detail::tcp_meet(door, rank, size, meet, how.run, longest);
        connect(*door, rank, all, how);
    }
    tcp(int rank, int size, std::string const& meet) : tcp(rank, size, meet, settings{}) {}
    /// `addresses` are those of all ranks' listeners, in the order of ranks, with this one's own.
    tcp(listener const& own, int rank, std::vector<std::string> const& addresses, settings how) {
        check_rank(rank, static_cast<int>(addresses.size()));
        connect(own.door_, rank, addresses, how);
    }
    tcp(listener const& own, int rank, std::vector<std::string> const& addresses)
        : tcp(own, rank, addresses, settings{}) {}
    tcp(tcp&&) noexcept = default;
    tcp& operator=(tcp&& other) noexcept {
        leave();
        part_ = std::move(other.part_);
        links_ = std::move(other.links_);
        return *this;
    }
    ~tcp() { leave(); }

    int rank() const { return part_->rank; }
    int size() const { return static_cast<int>(part_->ranks.size()); }
    static constexpr bool may_change_threads() { return true; }

    void all_gather(payload mine) {
        part_->started.check_none();
        start_all_gather(mine);
        finish();
    }
    void start_all_gather(payload mine, int lane = 0) {
        part_->started.start(lane, [&] {
            auto& all = begin(lane);
            auto const own = links_->pool().copy(mine, all.size());
            all[place(rank())] = own;
            part_->current = none;
            for (int step = 1; step < size(); ++step) links_->expect(part_->channel, number(before(step)), mine.most);
            auto& counts = part_->counts[lane];
            counts.assign(all.size(), 0);
            for (int step = 1; step < size(); ++step) {
                send(collective, after(step), own);
                counts[place(after(step))] = links_->count(number(after(step)));
            }
            links_->look();
        });
    }
    void finish(int lane = 0) {
        part_->started.finish(lane, [&] {
            auto const until = links_->deadline_from_now();
            for (int step = 1; step < size(); ++step) {
                auto const from = before(step);
                part_->lanes[lane][place(from)] = links_->take(part_->channel, collective, number(from), until);
            }
            for (int step = 1; step < size(); ++step)
                links_->sent(number(after(step)), part_->counts[lane][place(after(step))], until);
            part_->current = lane;
        });
    }
    /// Only the root waits for the others' messages.
    void gather(int root, payload mine) {
        auto& all = begin_alone(root);
        auto const own = links_->pool().copy(mine, 1);
        if (rank() != root) return send(collective, root, own), sent(root);
        all[place(root)] = own;
        for (int step = 1; step < size(); ++step) links_->expect(part_->channel, number(before(step)), mine.most);
        auto const until = links_->deadline_from_now();
        for (int step = 1; step < size(); ++step) take(all, before(step), until);
    }
    /// The root does not wait for the others' calls where the system's buffers have room.
    void broadcast(int root, payload mine) {
        auto& all = begin_alone(root);
        if (rank() != root) {
            links_->expect(part_->channel, number(root), mine.most);
            return take(all, root, links_->deadline_from_now());
        }
        auto const own = all[place(root)] = links_->pool().copy(mine, all.size());
        for (int step = 1; step < size(); ++step) send(collective, after(step), own);
        for (int step = 1; step < size(); ++step) sent(after(step));
    }
    payload from(int r) const {
        LACONIC_EXPECTS(r >= 0 && r < size() && part_->current != none);
        return links_->pool().show(part_->lanes[part_->current][place(r)]);
    }

    /// As PointToPoint describes it.
    payload exchange(int to, payload mine, int from) {
        detail::check_partners(size(), to, from);
        part_->started.check_none();
        links_->check();
        if (to != no_rank) send(pair, to, links_->pool().copy(mine, 1));
        links_->pool().release(
            std::exchange(part_->received, detail::tcp_pool::none));  // not earlier: `mine` may lie there
        if (from != no_rank)
            part_->received = links_->take(part_->channel, pair, number(from), links_->deadline_from_now());
        if (to != no_rank) sent(to);
        return links_->pool().show(part_->received);
    }

    /// As Splitting describes it, over the same connections.
    tcp split(int color, int key) {
        auto ranks = detail::subgroup(*this, color, key);
        auto const channel = laconic::key{part_->channel}.child(++part_->splits).child(std::uint64_t(ranks.front()));
        auto const me = std::find(ranks.begin(), ranks.end(), rank()) - ranks.begin();
        for (int& r : ranks) r = number(r);
        return tcp(links_, std::make_unique<part>(static_cast<int>(me), std::move(ranks), channel.bits));
    }
    tcp duplicate() { return split(0, 0); }

  private:
    static constexpr int none = -1;
    static constexpr auto collective = detail::tcp_header::collective, pair = detail::tcp_header::pair;
    // One of the communicators over the same connections.
    struct part {
        part(int me, std::vector<int> all, std::uint64_t of) : rank(me), ranks(std::move(all)), channel(of) {}

        int rank;
        std::vector<int> ranks;  // their numbers among the connections
        std::uint64_t channel;
        detail::per_lane<std::vector<std::size_t>> lanes{};     // messages, by rank
        detail::per_lane<std::vector<std::uint64_t>> counts{};  // of those sent, by rank
        detail::under_way started{};
        int current = none;  // the lane that from() shows
        std::size_t received = detail::tcp_pool::none;
        std::uint64_t splits = 0;
    };

    tcp(std::shared_ptr<detail::tcp_links> links, std::unique_ptr<part> of)
        : links_(std::move(links)), part_(std::move(of)) {}

    static std::size_t place(int rank) { return static_cast<std::size_t>(rank); }
    static void check_rank(int rank, int size) {
        if (rank < 0 || rank >= size) throw argument_error({"rank ", rank, " of ", size});
    }
    void connect(detail::tcp_door const& door, int rank, std::vector<std::string> const& addresses, settings how) {
        detail::deadline const longest(how.deadline);
        links_ = std::make_shared<detail::tcp_links>(rank, detail::tcp_mesh(door, rank, addresses, how.run, longest),
                                                     longest);
        std::vector<int> all(addresses.size());
        std::iota(all.begin(), all.end(), 0);
        part_ = std::make_unique<part>(rank, std::move(all), 0);
    }
    void leave() noexcept {
        if (!part_) return;
        for (auto& lane : part_->lanes)
            for (auto const message : lane) links_->pool().release(message);
        links_->pool().release(part_->received);
        // While an exception passes, its error is what the others should get where it ends the process.
        links_->close(part_->channel, part_->ranks, std::uncaught_exceptions() == 0);
        part_.reset();
    }

    int number(int rank) const { return part_->ranks[place(rank)]; }
    int after(int step) const { return (rank() + step) % size(); }
    int before(int step) const { return (rank() + size() - step) % size(); }
    void send(detail::tcp_header::kind is, int to, std::size_t message) {
        links_->send(part_->channel, is, number(to), message);
    }
    void sent(int to) { links_->sent(number(to), links_->count(number(to)), links_->deadline_from_now()); }
    void take(std::vector<std::size_t>& all, int from, detail::deadline::clock::time_point until) {
        all[place(from)] = links_->take(part_->channel, collective, number(from), until);
    }
    // What a lane had is not used any more.
    std::vector<std::size_t>& begin(int lane) {
        links_->check();
        auto& all = part_->lanes[lane];
        for (auto const message : all) links_->pool().release(message);
        all.assign(part_->ranks.size(), detail::tcp_pool::none);
        return all;
    }
    std::vector<std::size_t>& begin_alone(int root) {
        detail::check_root(size(), root);
        part_->started.check_none();
        auto& all = begin(0);
        part_->current = 0;
        return all;
    }

    std::shared_ptr<detail::tcp_links> links_;
    std::unique_ptr<part> part_;
};

}  // namespace laconic
