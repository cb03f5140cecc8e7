// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "laconic/core/error.hpp"

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

/// A communicator that carries an all-gather while its rank computes. Satisfied iff C also has
///   start_all_gather(mine)   hands `mine` over and waits for nobody; its bytes must stay as they are until
///   finish()           which waits until every rank's contribution is here and throws what all_gather would.
/// All ranks take part in one meeting in the same way. Between the two a rank only computes: meetings, exchanges and a
/// second start throw argument_error, as does finish() where nothing was started. After an error nothing is under way.
template <class C>
concept Overlapping = Communicator<C> && requires(C& comm, contribution mine) {
    comm.start_all_gather(mine);
    comm.finish();
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

/// Whether a rank has started an all-gather that it has not finished, for the engines' refusals.
class under_way {
  public:
    explicit operator bool() const { return started_; }
    void check_none() const {
        if (started_) throw argument_error("an all-gather is under way: finish() comes before anything else");
    }
    void start() {
        check_none();
        started_ = true;
    }
    void finish() {
        if (!started_) throw argument_error("there is no all-gather to finish: start_all_gather() comes before");
        started_ = false;
    }

  private:
    bool started_ = false;
};

// Whether a rank's communicator may be used from another thread while its own leaves it alone: who can says so.
template <Communicator C>
bool may_change_threads(C const& comm) {
    if constexpr (requires { comm.may_change_threads(); })
        return comm.may_change_threads();
    else
        return false;
}

inline void check_partners(int ranks, int to, int from) {
    for (int const r : {to, from})
        if (r < no_rank || r >= ranks)
            throw argument_error("an exchange with rank " + std::to_string(r) + " of " + std::to_string(ranks));
}

// Who waits for whom, from one rank on: waits_for(r) is the rank that r waits for, or no_rank.
template <class WaitsFor>
std::string say_who_waits(int rank, WaitsFor waits_for) {
    std::string text = "rank " + std::to_string(rank);
    std::vector<int> named{rank};
    for (int next = waits_for(rank); next != no_rank; next = waits_for(next)) {
        text += (named.size() == 1 ? " waits for rank " : ", which waits for rank ") + std::to_string(next);
        if (std::find(named.begin(), named.end(), next) != named.end()) break;
        named.push_back(next);
        if (named.size() > 8) return text + ", and so on: nobody can go on";
    }
    return text + ": nobody can go on";
}

}  // namespace detail

}  // namespace laconic
