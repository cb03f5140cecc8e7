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

/// The meetings of an MPI job's ranks as messages from one to another: those that are started and finished, and those
/// that can be given up. What a rank sends to another arrives in the order of the starts, so that no message names its
/// lane. Reuses its memory.
class mpi_lanes {
  public:
    /// What each rank has brought to a meeting; valid until its lane is started again.
    using contributions = std::vector<contribution>;

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

    // To each rank by itself: MPI_Iallgatherv would want to know how long the messages are. In pieces that MPI sends
    // off at once, as before a whole message it asks the receiver, who answers only when it calls MPI. Long messages go
    // to two others, and to the next one when one was received: else all would send to each at the same time.
    void start(contribution mine, int number) {
        started_.start(number, [&] {
            lane& l = take_own(mine, number);
            l.sent_to = 0;
            // At the deadline it counts who came, not whose bytes wait for others.
            if (wait_->longest)
                for (int step = 1; step < size_; ++step) l.out->send({}, after(step), mpi_pieces::came);
            int const before = started_.count() - 1;
            int const most = before < 0 ? size_ - 1 : lanes_[started_.lane(before)].sent_to;
            for (std::size_t n = 1; (n <= 2 || n * mine.bytes.size() <= most_at_once) && l.sent_to < most; ++n)
                send_on(l);
        });
    }
    contributions const& finish(int number) {
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
    contributions const& all_gather(contribution mine) {
        started_.check_none();
        start(mine, 0);
        return finish(0);
    }

    /// Only the root waits for the others, but a long message waits until the root takes it.
    contributions const& gather(int root, contribution mine) {
        lane& l = take_own(mine, 0);
        if (rank_ != root) {
            l.out->send(l.received[place(rank_)], root, piece_);
            l.out->await(inbox_);
            std::fill(l.received.begin(), l.received.end(), contribution{});
        } else {
            for (int step = 1; step < size_; ++step) take(l, before(step), true);
        }
        return l.received;
    }
    contributions const& broadcast(int root, contribution mine) {
        lane& l = take_own(mine, 0);
        if (rank_ == root) {
            for (int step = 1; step < size_; ++step) l.out->send(l.received[place(rank_)], after(step), piece_);
            l.out->await(inbox_);
        } else {
            std::fill(l.received.begin(), l.received.end(), contribution{});
            take(l, root, false);
        }
        return l.received;
    }

    /// Sends the rest of what was started, so that the others can finish it, and that this rank comes no more. Waits
    /// for nobody.
    void leave() {
        if (!wait_->why)
            while (send_on()) {
            }
        inbox_.leave();
    }
    /// After that: takes what has come. Whether all others have left too, and MPI uses nothing of this any more.
    bool is_over() {
        return inbox_.is_over() && std::all_of(lanes_.begin(), lanes_.end(), [](lane& l) { return l.out->is_over(); });
    }

  private:
    static constexpr std::size_t most_at_once = 500000;  // bytes to one rank at the same time: switches hold as much
    struct lane {
        std::optional<mpi_outbox> out{};
        std::vector<std::vector<std::byte>> arrived{};  // from each rank; the own as it was sent
        contributions received{};
        int sent_to = 0;  // how many of the others, no two ranks beginning with the same
    };

    static std::size_t place(int rank) { return static_cast<std::size_t>(rank); }
    int after(int step) const { return (rank_ + step) % size_; }
    int before(int step) const { return (rank_ + size_ - step) % size_; }

    // What this rank brings, where it stays until all have it.
    lane& take_own(contribution mine, int number) {
        wait_->check();
        lane& l = lanes_[number];
        if (l.out->waits())
            if (int const gone = l.out->await(inbox_); gone != no_rank) inbox_.fail_as_told(gone);
        l.received.resize(place(size_));
        l.arrived.resize(place(size_));
        auto& bytes = l.arrived[place(rank_)];
        bytes.assign(mine.bytes.begin(), mine.bytes.end());
        l.received[place(rank_)] = {bytes, mine.complaint};
        return l;
    }
    void take(lane& l, int from, bool all_come) {
        l.received[place(from)] = inbox_.take(from, l.arrived[place(from)], all_come);
    }
    void send_on(lane& l) { l.out->send(l.received[place(rank_)], after(++l.sent_to), piece_); }
    // Of what was started, the first that not all others were sent goes to the next one: so each is sent this rank's
    // messages in the order of the starts. Whether there was one.
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
