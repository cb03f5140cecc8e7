// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// What one rank hands to the others: a message, or a complaint in place of one (the bytes then say what is wrong). The
/// difference travels with the length, in the engine's envelope.
struct contribution {
    std::span<std::byte const> bytes;
    bool complaint = false;
};

/// How bytes travel between ranks that all run the same lines, as with MPI. Satisfied iff C has
///   rank(), size()     this rank, 0 .. size() - 1, and how many there are;
///   all_gather(mine)   hands `mine` to every rank and waits until every rank's contribution is here; all ranks must
///                      call it, in the same order. Throws comm_error, which names a rank, where one cannot come;
///   gather(root, mine) the same, but only the root gets the contributions;
///   broadcast(root, mine)   hands the root's contribution to every rank; the others' are ignored;
///   from(r)            what rank r handed over in the last of these meetings, on the ranks that got it; valid until
///                      the next one begins.
template <class C>
concept Communicator = requires(C& comm, contribution mine, int r) {
    { comm.rank() } -> std::same_as<int>;
    { comm.size() } -> std::same_as<int>;
    comm.all_gather(mine);
    comm.gather(r, mine);
    comm.broadcast(r, mine);
    { comm.from(r) } -> std::same_as<contribution>;
};

/// The bytes of a piece, where long vectors go in pieces. What is below 2^16 Open MPI sends off at once over TCP; of
/// longer ones it first asks the receiver, who may not have a core to answer.
inline constexpr std::size_t longest_piece = 64000;

/// In place of a rank: nothing is handed over, or nothing awaited.
inline constexpr int no_rank = -1;

/// A communicator whose ranks also talk in pairs, by any schedule: ring, tree, hypercube. Satisfied iff C also has
///   exchange(to, mine, from)   hands `mine` to rank `to` and returns what rank `from` handed to this one, in the order
///                      in which it did, of any number of bytes; valid until this rank's next exchange, to which it
///                      may be handed on. Either may be no_rank, and either may be this rank itself. What is handed
///                      over is copied and waits for its receiver as long as need be, so that a schedule goes on if
///                      every hand-over that is awaited is made somewhere; meetings may stand between the two, and do
///                      not touch what an exchange returned, nor an exchange what from() shows. Throws argument_error
///                      for ranks that do not exist, comm_error where rank `from` will not hand over anything more.
template <class C>
concept PointToPoint = Communicator<C> && requires(C& comm, contribution mine, int r) {
    { comm.exchange(r, mine, r) } -> std::same_as<contribution>;
};

/// A communicator whose engine adds up vectors of T by itself, by the algorithm that it takes for the best. Satisfied
/// iff C also has
///   all_reduce(x)      x <- the sum of all ranks' x, with the same bits on all ranks, but in an order of the engine's,
///                      which may be another in another run. All ranks must call it, with as many numbers: it does not
///                      see to that. As a meeting, it may stand between the hand-overs of exchanges.
template <class C, class T>
concept AllReducer = Communicator<C> && requires(C& comm, std::span<T> x) {
    comm.all_reduce(x);
};

/// How many all-gathers a rank can have in flight at the same time: their lanes are 0 to most_in_flight - 1.
inline constexpr int most_in_flight = 8;

/// A communicator that carries all-gathers while its rank computes, one in each lane. Satisfied iff C has
///   start_all_gather(mine, lane)   starts to send `mine` and waits for nobody; its bytes must stay as they are until
///   finish(lane)       which waits until every rank's contribution is here and throws what all_gather would. from(r)
///                      then shows this meeting, whatever is in flight in other lanes, until the next start or finish.
/// The lane is 0 where none is given. All ranks start the same lanes in the same order and finish them in the order of
/// the starts. While a lane is in flight a rank only computes, starts others and finishes: all else throws
/// argument_error, as do a start of a lane that is in flight, a finish out of order or without a start, and a lane that
/// does not exist; these change nothing. After any other error no lane is in flight.
template <class C>
concept Overlapping = Communicator<C> && requires(C& comm, contribution mine, int lane) {
    comm.start_all_gather(mine, lane);
    comm.finish(lane);
    comm.start_all_gather(mine);
    comm.finish();
};

/// A communicator that makes others of its ranks, as MPI_Comm_dup and MPI_Comm_split do. What goes through one of them,
/// meetings, lanes and exchanges, mixes with no other's; a rank uses all of its communicators from one thread at a
/// time. Satisfied iff C also has
///   split(color, key)  a communicator of those ranks that give the same color, in the order of their keys, and of
///   equal
///                      keys in that of their ranks here. All ranks call it, as a meeting. Throws argument_error on all
///                      of them where a color is below 0;
///   duplicate()        one of the same ranks in the same order.
/// A comm_error of one that was made so names the rank as it is numbered in the communicator that all come from. A
/// rank that lets go of it waits for nobody, and others who wait for it there get a comm_error. All let go of it before
/// the engine ends.
template <class C>
concept Splitting = Communicator<C> && requires(C& comm, int color, int key) {
    { comm.split(color, key) } -> std::same_as<C>;
    { comm.duplicate() } -> std::same_as<C>;
};

/// A communicator of an engine whose ranks are in one process, so that one rank can compute what all need. Satisfied
/// iff C also has
///   in_one_process()   whether they are: the same on all ranks;
///   share(mine)        where they are, all_gather() of what every rank could compute from what it was handed before.
///                      Between processes it would not be handed over: nothing counts it as communication, and it takes
///                      no time on a network.
/// Only engines have it: who has inner() leaves it to what is underneath (uncounted, comm/metered.hpp).
template <class C>
concept OneProcess = requires(std::remove_cvref_t<C>& comm, contribution mine) {
    requires Communicator<std::remove_cvref_t<C>>;
    { comm.in_one_process() } -> std::same_as<bool>;
    comm.share(mine);
};

namespace detail {

/// For an engine's member whose ranks are in one process.
template <class Member>
struct one_process {
    static constexpr bool in_one_process() { return true; }
    void share(contribution mine) { static_cast<Member&>(*this).all_gather(mine); }
};

/// Something for each lane.
template <class T>
class per_lane {
  public:
    T& operator[](int lane) { return all_[static_cast<std::size_t>(lane)]; }
    T const& operator[](int lane) const { return all_[static_cast<std::size_t>(lane)]; }
    auto begin() { return all_.begin(); }
    auto end() { return all_.end(); }

  private:
    std::array<T, static_cast<std::size_t>(most_in_flight)> all_{};
};

/// Which all-gathers a rank has started and not finished, in the order of the starts, for the engines' refusals.
class under_way {
  public:
    explicit operator bool() const { return count_ > 0; }
    int count() const { return count_; }
    /// The lane of the i-th of them.
    int lane(int i) const { return lanes_[i]; }
    void check_none() const {
        if (count_ > 0) throw argument_error("an all-gather is under way: finish() comes before anything else");
    }
    void start(int lane = 0) {
        start(lane, [] {});
    }
    void finish(int lane = 0) {
        finish(lane, [] {});
    }
    /// Calls call() where this may be started; after an error of that nothing is under way.
    template <class Call>
    void start(int lane, Call call) {
        check(lane);
        auto const end = lanes_.begin() + count_;
        if (std::find(lanes_.begin(), end, lane) != end)
            throw argument_error(
                concat({"an all-gather is under way in lane ", lane, ": finish() comes before the next start"}));
        or_nothing(call);
        lanes_[count_++] = lane;
    }
    /// The same where this is the one to be finished, which call() finds here for the last time.
    template <class Call>
    void finish(int lane, Call call) {
        check(lane);
        if (count_ == 0) throw argument_error("there is no all-gather to finish: start_all_gather() comes before");
        if (lanes_[0] != lane)
            throw argument_error(
                concat({"lane ", lane, " cannot be finished: lane ", lanes_[0], " is the first that was started"}));
        or_nothing(call);
        std::copy(lanes_.begin() + 1, lanes_.begin() + count_--, lanes_.begin());
    }

  private:
    static void check(int lane) {
        if (lane < 0 || lane >= most_in_flight)
            throw argument_error(concat({"there is no lane ", lane, ": they are 0 to ", most_in_flight - 1}));
    }
    template <class Call>
    void or_nothing(Call& call) {
        try {
            call();
        } catch (...) {
            count_ = 0;
            throw;
        }
    }

    per_lane<int> lanes_;
    int count_ = 0;
};

// Whether a rank's communicator may be used from another thread while its own leaves it alone.
template <class C>
concept TellsOfThreads = requires(C const& comm) {
    { comm.may_change_threads() } -> std::same_as<bool>;
};
template <Communicator C>
bool may_change_threads([[maybe_unused]] C const& comm) {
    if constexpr (TellsOfThreads<C>)
        return comm.may_change_threads();
    else
        return false;
}

inline void check_partners(int ranks, int to, int from) {
    for (int const r : {to, from})
        if (r < no_rank || r >= ranks) throw argument_error(concat({"an exchange with rank ", r, " of ", ranks}));
}

// Who waits for whom, from one rank on: waits_for(r) is the rank that r waits for, or no_rank.
template <class WaitsFor>
std::string say_who_waits(int rank, WaitsFor waits_for) {
    std::string text = concat({"rank ", rank});
    std::vector<int> named{rank};
    for (int next = waits_for(rank); next != no_rank; next = waits_for(next)) {
        text += concat({(named.size() == 1 ? " waits for rank " : ", which waits for rank "), next});
        if (std::find(named.begin(), named.end(), next) != named.end()) break;
        named.push_back(next);
        if (named.size() > 8) return concat({text, ", and so on: nobody can go on"});
    }
    return concat({text, ": nobody can go on"});
}

}  // namespace detail

}  // namespace laconic
