// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/mpi_inbox.hpp"
#include "laconic/comm/mpi_outbox.hpp"
#include "laconic/core/error.hpp"

namespace laconic::detail {

/// The collective calls of an MPI job's ranks as messages from rank to rank: those that are started and finished, and
/// those that can be abandoned. Messages from one rank to another arrive in the order of the starts, so that no message
/// names its lane. Reuses its memory.
class mpi_lanes {
  public:
    /// The payload of each rank in a collective call; valid until its lane is started again.
    using payloads = std::vector<payload>;

    /// Over a duplicate of `all`, in pieces of at most `piece` bytes.
    mpi_lanes(MPI_Comm all, std::size_t piece, mpi_wait& how) : piece_(piece), wait_(&how), comm_(all) {
        check_mpi(MPI_Comm_rank(all, &rank_), "MPI_Comm_rank");
        check_mpi(MPI_Comm_size(all, &size_), "MPI_Comm_size");
        for (auto& l : lanes_) l.out.emplace(comm_.all, how);
    }
    mpi_lanes(mpi_lanes const&) = delete;
    mpi_lanes& operator=(mpi_lanes const&) = delete;

    under_way const& started() const { return started_; }
    mpi_inbox& inbox() { return inbox_; }

    // To each rank one by one: MPI_Iallgatherv would need the lengths of the messages before, and takes twice as long
    // for short ones (measured among 4, 8 and 16 ranks on two cores). In pieces that MPI sends at
    // once, as before a whole message it waits for the receiver, which answers only when it calls MPI. Long messages
    // start to two others, and to the next one when one was received: else all would send to each rank at the same
    // time.
    void start(payload mine, int number) {
        started_.start(number, [&] {
            lane& l = take_own(mine, number);
            l.sent_to = 0;
            // For the deadline, which counts the ranks that came, not those whose bytes wait for others.
            if (wait_->longest)
                for (int step = 1; step < size_; ++step) l.out->send({}, after(step), mpi_pieces::came);
            int const before = started_.count() - 1;
            int const most = before < 0 ? size_ - 1 : lanes_[started_.lane(before)].sent_to;
            for (std::size_t n = 1; (n <= 2 || n * mine.bytes.size() <= most_at_once) && l.sent_to < most; ++n)
                send_on(l);
        });
    }
    payloads const& finish(int number) {
        lane& l = lanes_[number];
        started_.finish(number, [&] {
            for (int step = 1; step < size_; ++step) {
                take(l, before(step), true);
                if (wait_->longest) inbox_.forget_coming(before(step));
                send_on();
            }
            l.out->await(inbox_);
        });
        return l.received;
    }
    payloads const& all_gather(payload mine) {
        started_.check_none();
        start(mine, 0);
        return finish(0);
    }

    /// Only the root waits for the others, but a long message waits until the root receives it.
    payloads const& gather(int root, payload mine) {
        lane& l = take_own(mine, 0);
        if (rank_ != root) {
            inbox_.look_at_all();
            check_takes(root);
            l.out->send(l.received[place(rank_)], root, piece_);
            l.out->await(inbox_);
            std::fill(l.received.begin(), l.received.end(), payload{});
        } else {
            for (int step = 1; step < size_; ++step) take(l, before(step), true);
        }
        return l.received;
    }
    payloads const& broadcast(int root, payload mine) {
        lane& l = take_own(mine, 0);
        if (rank_ == root) {
            inbox_.look_at_all();
            for (int step = 1; step < size_; ++step) check_takes(after(step));
            for (int step = 1; step < size_; ++step) l.out->send(l.received[place(rank_)], after(step), piece_);
            l.out->await(inbox_);
        } else {
            std::fill(l.received.begin(), l.received.end(), payload{});
            take(l, root, false);
        }
        return l.received;
    }

    /// Sends the rest of what was started, so that the others can finish it, and the notice that this rank leaves. Does
    /// not wait.
    void leave() {
        if (!wait_->why)
            while (send_on()) {
            }
        inbox_.leave();
    }
    /// After leave(): receives what has come. Returns whether all others have left too, and MPI uses nothing of this
    /// any more.
    bool is_over() {
        return inbox_.is_over() && std::all_of(lanes_.begin(), lanes_.end(), [](lane& l) { return l.out->is_over(); });
    }

  private:
    static constexpr std::size_t most_at_once = 500000;  // bytes to one rank at the same time: a switch buffers as much
    struct lane {
        std::optional<mpi_outbox> out{};
        std::vector<std::vector<std::byte>> arrived{};  // from each rank; this rank's own as it was sent
        payloads received{};
        int sent_to = 0;  // the number of others it was sent to; no two ranks begin with the same
    };

    static std::size_t place(int rank) { return static_cast<std::size_t>(rank); }
    int after(int step) const { return (rank_ + step) % size_; }
    int before(int step) const { return (rank_ + size_ - step) % size_; }

    // Copies this rank's payload to where it stays until all have received it.
    lane& take_own(payload mine, int number) {
        wait_->check();
        lane& l = lanes_[number];
        if (l.out->waits())
            if (int const gone = l.out->await(inbox_); gone != no_rank) inbox_.raise_notice(gone);
        l.received.resize(place(size_));
        l.arrived.resize(place(size_));
        auto& bytes = l.arrived[place(rank_)];
        bytes.assign(mine.bytes.begin(), mine.bytes.end());
        l.received[place(rank_)] = {bytes, mine.is_error};
        return l;
    }
    // A rank that has left still receives, until all have, but takes no message.
    void check_takes(int to) {
        if (inbox_.has_left(to)) inbox_.raise_notice(to);
    }
    void take(lane& l, int from, bool all_come) {
        l.received[place(from)] = inbox_.take(from, l.arrived[place(from)], all_come);
    }
    void send_on(lane& l) { l.out->send(l.received[place(rank_)], after(++l.sent_to), piece_); }
    // Of what was started, sends the first that not all others have to the next one, so that each gets this rank's
    // messages in the order of the starts. Returns whether there was one.
    bool send_on() {
        for (int i = 0; i < started_.count(); ++i)
            if (lane& l = lanes_[started_.lane(i)]; l.sent_to + 1 < size_) {
                send_on(l);
                return true;
            }
        return false;
    }

    std::size_t piece_;
    mpi_wait* wait_;
    mpi_duplicate comm_;
    int rank_ = 0, size_ = 1;
    mpi_inbox inbox_{comm_.all, *wait_};
    per_lane<lane> lanes_;
    under_way started_;
};

}  // namespace laconic::detail
