// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "laconic/comm/mpi_inbox.hpp"

namespace laconic::detail {

/// The messages of this rank to others, from memory that must stay as it is until they are received. Reuses its memory.
class mpi_outbox {
  public:
    mpi_outbox(MPI_Comm all, mpi_wait& how) : all_(all), how_(&how) {}

    void send(std::span<std::byte const> bytes, int to, int tag) {
        to_.push_back(to);
        start_to_send(bytes, to, tag, all_, sent_);
    }
    /// Sends it in pieces of at most `piece` bytes.
    void send(payload message, int to, std::size_t piece) {
        mpi_pieces::for_each(message, piece, [&](std::span<std::byte const> bytes, int tag) { send(bytes, to, tag); });
    }
    /// Whether some may not have been received.
    bool waits() const { return !sent_.empty(); }
    /// Waits until all of it is received, or a receiver has left, which may not receive its part before this rank
    /// leaves, too. Returns that receiver, or no_rank. Others may leave meanwhile: they have done all that they had to.
    /// Throws comm_error, which names the receiver, where the deadline passes before.
    int await(mpi_inbox& inbox) {
        auto const until = how_->longest.from_now();
        while (!is_over()) {
            inbox.look();
            how_->check();
            if (inbox.left() > 0)
                if (int const gone = first_not_taken([&](int to) { return inbox.has_left(to); }); gone != no_rank)
                    return gone;
            if (how_->longest.is_over(until))
                how_->timed_out(first_not_taken([](int) { return true; }), " did not take a message");
        }
        sent_.clear();
        to_.clear();
        return no_rank;
    }
    /// Whether all of it is received.
    bool is_over() { return are_over(sent_); }

  private:
    // The first receiver for which counts() holds that has not received its part, or no_rank.
    int first_not_taken(auto counts) {
        for (std::size_t i = 0; i < sent_.size(); ++i) {
            if (!counts(to_[i])) continue;
            int over = 0;
            check_mpi(MPI_Test(&sent_[i], &over, MPI_STATUS_IGNORE), "MPI_Test");
            if (over == 0) return to_[i];
        }
        return no_rank;
    }

    MPI_Comm all_;
    mpi_wait* how_;
    std::vector<MPI_Request> sent_;
    std::vector<int> to_;
};

/// The collective calls of an MPI job's ranks as messages from rank to rank: those that are started and finished, and
/// those that can be abandoned. Messages from one rank to another arrive in the order of the starts, so that no message
/// names its lane. Reuses its memory.
class mpi_lanes {
  public:
    /// Over a duplicate of `all`, in pieces of at most `piece` bytes.
    mpi_lanes(MPI_Comm all, std::size_t piece, mpi_wait how) : wait_(std::move(how)), piece_(piece), comm_(all) {
        for (auto& l : lanes_) l.out.emplace(comm_.all, wait_);
    }
    mpi_lanes(mpi_lanes const&) = delete;
    mpi_lanes& operator=(mpi_lanes const&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    mpi_wait& wait() { return wait_; }
    under_way const& started() const { return started_; }
    /// For the other calls: throws where an all-gather is in flight, or where the ranks cannot go on.
    void require_ready() const {
        started_.check_none();
        wait_.check();
    }
    payload from(int r) const {
        LACONIC_EXPECTS(r >= 0 && r < size_ && current_);
        return (*current_)[place(r)];
    }

    // To each rank one by one: MPI_Iallgatherv would need the lengths of the messages before, and takes twice as long
    // for short ones (measured among 4, 8 and 16 ranks on two cores). In pieces that MPI sends at once: before a whole
    // message it waits for the receiver, which answers only when it calls MPI. Long messages start to two others, and
    // to the next one when one was received: else all would send to each rank at the same time.
    void start_all_gather(payload mine, int number = 0) {
        started_.start(number, [&] {
            lane& l = take_own(mine, number);
            l.sent_to = 0;
            // For the deadline, which counts the ranks that came, not those whose bytes wait for others.
            if (wait_.longest)
                for (int step = 1; step < size_; ++step) l.out->send({}, after(step), mpi_pieces::came);
            int const before = started_.count() - 1;
            int const most = before < 0 ? size_ - 1 : lanes_[started_.lane(before)].sent_to;
            for (std::size_t n = 1; (n <= 2 || n * mine.bytes.size() <= most_at_once) && l.sent_to < most; ++n)
                send_on(l);
        });
        current_ = nullptr;
    }
    void finish(int number = 0) {
        started_.finish(number, [&] {
            lane& l = lanes_[number];
            for (int step = 1; step < size_; ++step) {
                take(l, before(step), true);
                if (wait_.longest) inbox_.forget_coming(before(step));
                send_on();
            }
            l.out->await(inbox_);
            current_ = &l.received;
        });
    }
    void all_gather(payload mine) {
        started_.check_none();
        start_all_gather(mine);
        finish();
    }

    /// Only the root waits for the others, but a long message waits until the root receives it.
    void gather(int root, payload mine) {
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
        current_ = &l.received;
    }
    void broadcast(int root, payload mine) {
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
        current_ = &l.received;
    }

    /// Sends the rest of what was started, so that the others can finish it, and the notice that this rank leaves. Does
    /// not wait.
    void leave() {
        if (!wait_.why)
            while (send_on()) {
            }
        inbox_.leave();
    }
    /// After leave(): receives what has come. Returns whether all others have left too, and MPI uses nothing of this
    /// any more.
    bool is_over() {
        return inbox_.is_over() && std::all_of(lanes_.begin(), lanes_.end(), [](lane& l) { return l.out->is_over(); });
    }

  protected:
    mpi_inbox& inbox() { return inbox_; }
    std::size_t piece() const { return piece_; }
    /// From here on from() shows the payload of this rank alone.
    void show(int rank, payload theirs) {
        auto& all = lanes_[0].received;
        std::fill(all.begin(), all.end(), payload{});
        all[place(rank)] = theirs;
    }

  private:
    static constexpr std::size_t most_at_once = 500000;  // bytes to one rank at the same time: a switch buffers as much
    struct lane {
        std::optional<mpi_outbox> out{};
        std::vector<std::vector<std::byte>> arrived{};  // from each rank; this rank's own as it was sent
        std::vector<payload> received{};
        int sent_to = 0;  // the number of others it was sent to; no two ranks begin with the same
    };

    static std::size_t place(int rank) { return static_cast<std::size_t>(rank); }
    int after(int step) const { return (rank_ + step) % size_; }
    int before(int step) const { return (rank_ + size_ - step) % size_; }

    // Copies this rank's payload to where it stays until all have received it.
    lane& take_own(payload mine, int number) {
        wait_.check();
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

    mpi_wait wait_;
    std::size_t piece_;
    mpi_duplicate comm_;
    int rank_ = comm_.rank(), size_ = comm_.size();
    mpi_inbox inbox_{comm_, wait_};
    per_lane<lane> lanes_;
    under_way started_;
    std::vector<payload> const* current_ = nullptr;  // what from() shows, until its lane is started again
};

}  // namespace laconic::detail
