// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// The payload that one rank sends: a message, or an error frame in place of one (`is_error`; the bytes are then its
/// text). That flag travels with the length, in the engine's envelope. `most` is the same on all ranks: payloads of one
/// kind have the same, by which an engine may remember how long they were (comm/engine_of.hpp). Unless it is 0, no rank's
/// payload of this kind has more bytes, apart from 65536 for a tag or the text of an error (comm/tcp.hpp refuses those).
struct payload {
    std::span<std::byte const> bytes;
    bool is_error = false;
    std::size_t most = 0;
};

/// Carries bytes between ranks that all run the same lines, as with MPI. Satisfied iff C has
///   rank(), size()     this rank, 0 .. size() - 1, and the number of ranks;
///   all_gather(mine)   sends `mine` to every rank and waits until every rank's payload is here; all ranks must call
///                      it, in the same order. Throws comm_error, which names a rank, where one cannot come;
///   gather(root, mine) the same, but only the root gets the payloads;
///   broadcast(root, mine)   sends the root's payload to every rank; the others' are ignored;
///   from(r)            the payload of rank r in the last of these collective calls, on the ranks that got it; valid
///                      until the next one begins.
template <class C>
concept Communicator = requires(C& comm, payload mine, int r) {
    { comm.rank() } -> std::same_as<int>;
    { comm.size() } -> std::same_as<int>;
    comm.all_gather(mine);
    comm.gather(r, mine);
    comm.broadcast(r, mine);
    { comm.from(r) } -> std::same_as<payload>;
};

/// In place of a rank: this call sends nothing, or receives nothing.
inline constexpr int no_rank = -1;

/// A communicator whose ranks also exchange payloads in pairs, by any schedule: ring, tree, hypercube. Satisfied iff C
/// also has
///   exchange(to, mine, from)   sends `mine` to rank `to` and returns what rank `from` sent to this one, in the order
///                      in which it was sent, of any number of bytes. The result is valid until this rank's next
///                      exchange, to which it may be passed. `to` and `from` may be no_rank, and may be this rank
///                      itself. What is sent is copied and waits for its receiver as long as need be, so that a
///                      schedule goes on if every payload that is awaited is sent somewhere. Collective calls may stand
///                      between the two: they do not touch what an exchange returned, nor an exchange what from()
///                      shows. Throws argument_error for ranks that do not exist, comm_error where rank `from` will not
///                      send anything more.
template <class C>
concept PointToPoint = Communicator<C> && requires(C& comm, payload mine, int r) {
    { comm.exchange(r, mine, r) } -> std::same_as<payload>;
};

/// A communicator whose engine adds up vectors of T itself, by an algorithm of its choice. Satisfied iff C also has
///   all_reduce(x)      x <- the sum of all ranks' x, with the same bits on all ranks, but in an order that the engine
///                      chooses and that may differ from run to run. A collective call: all ranks must make it, with
///                      the same number of elements, which it need not check. It may stand between exchanges.
template <class C, class T>
concept AllReducer = Communicator<C> && requires(C& comm, std::span<T> x) {
    comm.all_reduce(x);
};

/// A communicator that carries all-gathers while its rank computes, one in each lane. Satisfied iff C has
///   start_all_gather(mine, lane)   starts to send `mine` and does not wait; its bytes must stay as they are until
///   finish(lane)       which waits until every rank's payload is here and throws what all_gather would. from(r) then
///                      shows this all-gather, whatever is in flight in other lanes, until the next start or finish.
/// The lane is 0 where none is given. All ranks start the same lanes in the same order and finish them in the order of
/// the starts. While a lane is in flight a rank only computes, starts others and finishes: all other calls throw
/// argument_error, as do a start of a lane that is in flight, a finish out of order or without a start, and a lane that
/// does not exist; these change nothing. After any other error no lane is in flight.
template <class C>
concept Overlapping = Communicator<C> && requires(C& comm, payload mine, int lane) {
    comm.start_all_gather(mine, lane);
    comm.finish(lane);
    comm.start_all_gather(mine);
    comm.finish();
};

/// A communicator that makes others of its ranks, as MPI_Comm_dup and MPI_Comm_split do. The traffic of one of them
/// (collective calls, lanes and exchanges) mixes with no other's; a rank uses all of its communicators from one thread
/// at a time. Satisfied iff C also has
///   split(color, key)  a communicator of those ranks that give the same color, in the order of their keys, and of
///                      equal keys in the order of their ranks here. A collective call. Throws argument_error on all of
///                      them where a color is below 0;
///   duplicate()        one of the same ranks in the same order.
/// A comm_error of such a communicator names the rank by its number in the communicator that all come from. A rank that
/// destroys its part waits for no other rank; ranks that wait for it there get a comm_error. A part is used only
/// while its engine runs.
template <class C>
concept Splitting = Communicator<C> && requires(C& comm, int color, int key) {
    { comm.split(color, key) } -> std::same_as<C>;
    { comm.duplicate() } -> std::same_as<C>;
};

}  // namespace laconic

namespace laconic::detail {

/// The bytes of a piece, where long vectors travel in pieces. Open MPI sends less than 2^16 bytes at once over TCP; for
/// more, it first waits for a reply of the receiver, which may not have a core to make it.
inline constexpr std::size_t longest_piece = 64000;

/// The number of all-gathers that a rank can have in flight at the same time: their lanes are 0 to most_in_flight - 1.
inline constexpr int most_in_flight = 8;

/// A communicator of an engine whose ranks may be in one process, so that one rank can compute what all need. Satisfied
/// iff C also has
///   in_one_process()   whether they are: the same on all ranks;
///   share(mine)        where they are, all_gather() of what every rank could compute from what it has received.
///                      Between processes it would not be sent: it does not count as communication, and takes no time
///                      on a simulated network.
/// Only engines have it: a wrapper with inner() leaves it to the engine (innermost, comm/metered.hpp).
template <class C>
concept OneProcess = requires(std::remove_cvref_t<C>& comm, payload mine) {
    requires Communicator<std::remove_cvref_t<C>>;
    { comm.in_one_process() } -> std::same_as<bool>;
    comm.share(mine);
};

/// One value for each lane.
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

/// A function that does nothing, also for concepts: nvcc takes one that contains a lambda for unsatisfied.
struct no_calls {
    void operator()(auto&&...) const {}
};

/// The all-gathers that a rank has started and not finished, in the order of the starts. Refuses calls in another
/// order.
class under_way {
  public:
    explicit operator bool() const { return count_ > 0; }
    int count() const { return count_; }
    /// The lane of the i-th of them.
    int lane(int i) const { return lanes_[i]; }
    void check_none() const {
        if (count_ > 0) throw argument_error("an all-gather is under way: finish() comes before anything else");
    }
    /// Calls call() where the lane may be started; after an error of call() nothing is in flight.
    template <class Call = no_calls>
    void start(int lane = 0, Call call = {}) {
        check(lane);
        auto const end = lanes_.begin() + count_;
        if (std::find(lanes_.begin(), end, lane) != end)
            throw argument_error(
                {"an all-gather is under way in lane ", lane, ": finish() comes before the next start"});
        or_nothing(call);
        lanes_[count_++] = lane;
    }
    /// Calls call() where the lane may be finished; it still counts as in flight during the call.
    template <class Call = no_calls>
    void finish(int lane = 0, Call call = {}) {
        check(lane);
        if (count_ == 0) throw argument_error("there is no all-gather to finish: start_all_gather() comes before");
        if (lanes_[0] != lane)
            throw argument_error(
                {"lane ", lane, " cannot be finished: lane ", lanes_[0], " is the first that was started"});
        or_nothing(call);
        std::copy(lanes_.begin() + 1, lanes_.begin() + count_--, lanes_.begin());
    }

  private:
    static void check(int lane) {
        if (lane < 0 || lane >= most_in_flight)
            throw argument_error({"there is no lane ", lane, ": they are 0 to ", most_in_flight - 1});
    }
    void or_nothing(auto& call) {
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

// Whether a rank's communicator may be used from another thread while its own thread does not use it.
bool may_change_threads([[maybe_unused]] Communicator auto const& comm) {
    if constexpr (requires { comm.may_change_threads(); }) return comm.may_change_threads();
    return false;
}

inline void check_root(int ranks, int root) {
    if (root < 0 || root >= ranks) throw argument_error({"the root is rank ", root, " of ", ranks});
}
inline void check_partners(int ranks, int to, int from) {
    for (int const r : {to, from})
        if (r < no_rank || r >= ranks) throw argument_error({"an exchange with rank ", r, " of ", ranks});
}

// The text of who waits for whom, from one rank on: waits_for(r) is the rank that r waits for, or no_rank.
[[gnu::cold, gnu::noinline]] std::string describe_waits(int rank, auto waits_for) {
    std::string text = concat({"rank ", rank});
    std::vector<int> named{rank};
    for (int next = waits_for(rank); next != no_rank; next = waits_for(next)) {
        text += concat({(named.size() == 1 ? " waits for rank " : ", which waits for rank "), next});
        if (std::find(named.begin(), named.end(), next) != named.end()) break;
        named.push_back(next);
        if (named.size() > 8) return concat({text, ", and so on: no rank can go on"});
    }
    return concat({text, ": no rank can go on"});
}

[[gnu::cold, gnu::noinline]] inline void raise_wrong_length(int r, std::size_t bytes, std::size_t length,
                                                            std::string_view what) {
    throw comm_error(r, {"rank ", r, " sent ", bytes, " bytes in place of ", what, ", of ", length,
                         " bytes: all ranks must make the same calls in the same order"});
}
/// What rank r has sent in the last collective call, which must have so many bytes. Throws comm_error where it has not;
/// `what` names it, as in "its weight".
std::span<std::byte const> bytes_from(Communicator auto const& comm, int r, std::size_t length, std::string_view what) {
    auto const bytes = comm.from(r).bytes;
    if (bytes.size() != length) raise_wrong_length(r, bytes.size(), length, what);
    return bytes;
}
/// The same as a value of S.
template <class S, Communicator C>
S value_from(C const& comm, int r, std::string_view what) {
    static_assert(std::is_trivially_copyable_v<S>);
    S theirs;
    std::memcpy(&theirs, bytes_from(comm, r, sizeof theirs, what).data(), sizeof theirs);
    return theirs;
}
/// Sends `mine` to all ranks and calls use(r, theirs) for each rank r, in their order: with what it has sent, as a
/// value of S. A collective call of sizeof(S) bytes from each rank, which allocates nothing. Throws comm_error as
/// above, and what use() throws.
template <class S, Communicator C, class Use>
void from_all(C& comm, S const& mine, std::string_view what, Use use) {
    comm.all_gather({std::as_bytes(std::span(&mine, 1))});
    for (int r = 0; r < comm.size(); ++r) use(r, value_from<S>(comm, r, what));
}

/// The ranks that have this one's color, in the order of their keys, and of equal keys in the order of their ranks. A
/// collective call: one all-gather. Throws argument_error on all ranks where a color is below 0.
[[gnu::cold, gnu::noinline]] std::vector<int> subgroup(Communicator auto& comm, int color, int key) {
    using pair = std::array<int, 2>;
    std::vector<std::int64_t> same;  // a key above, a rank below: integers sort with less code than pairs
    from_all(comm, pair{color, key}, "its color and key", [&](int r, pair theirs) {
        if (theirs[0] < 0) throw argument_error({"rank ", r, " has color ", theirs[0], ": colors are at least 0"});
        if (theirs[0] == color) same.push_back((std::int64_t{theirs[1]} << 32) | r);
    });
    std::sort(same.begin(), same.end());
    std::vector<int> ranks;
    for (auto const& one : same) ranks.push_back(static_cast<int>(one & 0x7fffffff));
    return ranks;
}

}  // namespace laconic::detail
