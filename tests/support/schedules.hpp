// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/key.hpp"

/// What every engine whose ranks exchange in pairs must do. All ranks call the same check; it returns how often this
/// rank received something wrong.
namespace schedules {

using laconic::no_rank;
using laconic::payload;

using numbers = std::vector<std::uint64_t>;
inline std::span<std::byte const> bytes_of(numbers const& v) { return std::as_bytes(std::span(v)); }
inline numbers numbers_of(payload received) {
    numbers v(received.bytes.size() / 8);
    if (!v.empty()) std::memcpy(v.data(), received.bytes.data(), 8 * v.size());
    return v;
}

/// The n-th message that `from` has for `to`: 0 to 40 bytes, every fifth an error frame.
struct test_message {
    std::vector<std::byte> bytes;
    bool is_error;

    test_message(int from, int to, int n) : is_error((from + 2 * to + n) % 5 == 0) {
        auto const k = laconic::key{17}.child(std::uint64_t(from)).child(std::uint64_t(to)).child(std::uint64_t(n));
        bytes.resize(k.below(0, 41));
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(k.bits >> (i % 8 * 8));
    }
    payload as_payload() const { return {bytes, is_error}; }
    bool wrong(payload received) const {
        return received.is_error != is_error ||
               !std::equal(received.bytes.begin(), received.bytes.end(), bytes.begin(), bytes.end());
    }
};

/// Every number goes around the ring; what came is handed on as it lies there.
template <laconic::PointToPoint C>
int ring_algorithm(C& comm) {
    auto const me = comm.rank(), n = comm.size();
    numbers const mine{std::uint64_t(1) << me};
    std::uint64_t sum = mine[0];
    payload on = {bytes_of(mine)};
    for (int step = 1; step < n; ++step) {
        on = comm.exchange((me + 1) % n, on, (me + n - 1) % n);
        for (auto const v : numbers_of(on)) sum += v;
    }
    return sum != (std::uint64_t(1) << n) - 1;
}

/// A sum of vectors as ring all-reduces do it: each rank adds up one part, then the parts go around. Parts may be
/// empty.
template <laconic::PointToPoint C>
int ring_all_reduce(C& comm, std::size_t length) {
    auto const me = std::size_t(comm.rank()), n = std::size_t(comm.size());
    int const next = int((me + 1) % n), last = int((me + n - 1) % n);
    numbers x(length);
    for (std::size_t i = 0; i < length; ++i) x[i] = (me + 1) * (i + 3);
    auto const part = [&](std::size_t p) {
        auto const from = length * (p % n) / n;
        return std::span(x).subspan(from, length * (p % n + 1) / n - from);
    };
    for (std::size_t step = 0; step + 1 < n; ++step) {
        auto const received = numbers_of(comm.exchange(next, {std::as_bytes(part(me + n - step))}, last));
        auto const sum = part(me + 2 * n - step - 1);
        if (received.size() != sum.size()) return 1;
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += received[i];
    }
    for (std::size_t step = 0; step + 1 < n; ++step) {
        auto const received = numbers_of(comm.exchange(next, {std::as_bytes(part(me + n + 1 - step))}, last));
        auto const whole = part(me + 2 * n - step);
        if (received.size() != whole.size()) return 1;
        std::copy(received.begin(), received.end(), whole.begin());
    }
    int wrong = 0;
    for (std::size_t i = 0; i < length; ++i) wrong += x[i] != n * (n + 1) / 2 * (i + 3);
    return wrong;
}

/// Partners at distances 1, 2, 4, ...; ranks beyond the largest power of two send before, and receive the sum
/// after.
template <laconic::PointToPoint C>
int recursive_doubling_algorithm(C& comm) {
    int const me = comm.rank(), n = comm.size(), paired = int(std::bit_floor(unsigned(n)));
    numbers sum{std::uint64_t(1) << me};
    auto const add = [&](payload received) {
        for (auto const v : numbers_of(received)) sum[0] += v;
    };
    if (me >= paired) {
        comm.exchange(me - paired, {bytes_of(sum)}, no_rank);
        sum = numbers_of(comm.exchange(no_rank, {}, me - paired));
    } else {
        if (me + paired < n) add(comm.exchange(no_rank, {}, me + paired));
        for (int d = 1; d < paired; d *= 2) add(comm.exchange(me ^ d, {bytes_of(sum)}, me ^ d));
        if (me + paired < n) comm.exchange(me + paired, {bytes_of(sum)}, no_rank);
    }
    return sum != numbers{(std::uint64_t(1) << n) - 1};
}

/// Many words ahead of the receiver, who takes them in the order in which they were handed over, the senders by turns.
template <laconic::PointToPoint C>
int first_in_first_out(C& comm, int words) {
    int wrong = 0;
    for (int k = 0; k < words; ++k)
        for (int to = 0; to < comm.size(); ++to)
            comm.exchange(to, test_message(comm.rank(), to, k).as_payload(), no_rank);
    for (int from = comm.size() - 1; from >= 0; --from)
        for (int k = 0; k < words; ++k)
            wrong += test_message(from, comm.rank(), k).wrong(comm.exchange(no_rank, {{}, true}, from));
    return wrong;
}

/// A random schedule, which all ranks know, against queues that it is read from: in each round a rank hands some words
/// to anyone, itself included, then takes some of those on their way to it, from anyone. Some rounds are collective
/// calls.
template <laconic::PointToPoint C>
int random_schedule(C& comm, std::uint64_t seed, int rounds) {
    int const n = comm.size(), me = comm.rank();
    std::vector<int> posted(std::size_t(n * n)), taken(std::size_t(n * n));
    auto const of = [n](std::vector<int>& counts, int from, int to) -> int& {
        return counts[std::size_t(from * n + to)];
    };
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
        auto const k = laconic::key{seed}.child(std::uint64_t(round));
        bool const last = round + 1 == rounds;  // then everything is taken
        auto before = posted;
        for (int r = 0; r < n; ++r) {
            auto const mine = k.child(std::uint64_t(r));
            auto const posts = last ? 0 : mine.below(0, 5);
            for (std::uint64_t i = 0; i < posts; ++i) {
                int const to = int(mine.below(1 + 2 * i, std::uint64_t(n)));
                int const with = int(mine.below(2 + 2 * i, std::uint64_t(n)));
                // Along with it one from an earlier round, where there is one.
                int const from = of(taken, with, r) < of(before, with, r) ? with : no_rank;
                int const number = of(posted, r, to)++;
                int const awaited = from == no_rank ? 0 : of(taken, from, r)++;
                if (r != me) continue;
                auto const received = comm.exchange(to, test_message(me, to, number).as_payload(), from);
                wrong += from == no_rank ? !received.bytes.empty() : test_message(from, me, awaited).wrong(received);
            }
        }
        for (int r = 0; r < n; ++r)
            for (int i = 0; i < n; ++i) {
                int const from = (i + round + r) % n;
                auto const here = std::uint64_t(of(posted, from, r) - of(taken, from, r));
                auto const takes = last ? here : k.child(std::uint64_t(r + n)).below(std::uint64_t(i), here + 1);
                for (std::uint64_t j = 0; j < takes; ++j) {
                    int const number = of(taken, from, r)++;
                    if (r == me) wrong += test_message(from, me, number).wrong(comm.exchange(no_rank, {}, from));
                }
            }
        if (round % 3 == 0) {
            comm.all_gather(test_message(me, n, round).as_payload());
            for (int r = 0; r < n; ++r) wrong += test_message(r, n, round).wrong(comm.from(r));
        }
    }
    return wrong + (posted != taken);
}

/// How many of what meetings should bring is wrong, over some turns of each kind; whether what is gathered reaches the
/// root alone.
template <class C>
int collectives(C& comm, bool to_root_alone = true) {
    int const n = comm.size(), me = comm.rank();
    int wrong = 0;
    for (int turn = 0; turn < 20; ++turn) {
        comm.all_gather(test_message(me, n, turn).as_payload());
        for (int r = 0; r < n; ++r) wrong += test_message(r, n, turn).wrong(comm.from(r));
        int const root = turn % n;
        comm.gather(root, test_message(me, n + 1, turn).as_payload());
        for (int r = 0; r < n; ++r)
            wrong += me == root ? test_message(r, n + 1, turn).wrong(comm.from(r))
                                : to_root_alone && !comm.from(r).bytes.empty();
        comm.broadcast(root, test_message(me, n + 2, turn).as_payload());
        wrong += test_message(root, n + 2, turn).wrong(comm.from(root));
    }
    return wrong;
}

/// Exchanges and meetings do not touch what the others showed, and a word may be on its way during meetings.
template <laconic::PointToPoint C>
int mixed_with_collectives(C& comm) {
    int const n = comm.size(), me = comm.rank(), next = (me + 1) % n, last = (me + n - 1) % n;
    int wrong = 0;
    for (int k = 0; k < 6; ++k) {
        int const root = k % n;
        comm.exchange(next, test_message(me, next, k).as_payload(), no_rank);
        comm.all_gather(test_message(me, n + 1, k).as_payload());
        auto const received = comm.exchange(next, test_message(me, next, k + 100).as_payload(), last);
        for (int r = 0; r < n; ++r) wrong += test_message(r, n + 1, k).wrong(comm.from(r));
        comm.gather(root, test_message(me, n + 2, k).as_payload());
        for (int r = 0; r < n && me == root; ++r) wrong += test_message(r, n + 2, k).wrong(comm.from(r));
        comm.broadcast(root, test_message(me, n + 3, k).as_payload());
        wrong += test_message(root, n + 3, k).wrong(comm.from(root));
        wrong += test_message(last, me, k).wrong(received);  // as before the collective calls
        wrong += test_message(last, me, k + 100).wrong(comm.exchange(no_rank, {}, last));
        wrong += test_message(root, n + 3, k).wrong(comm.from(root));
    }
    return wrong;
}

/// All-gathers that are started and finished show what blocking ones do, in turns with all else.
template <laconic::Overlapping C>
int started_and_finished(C& comm) {
    int const n = comm.size(), me = comm.rank();
    int wrong = 0;
    for (int k = 0; k < 12; ++k) {
        auto const mine = test_message(me, n + 1, k);
        comm.start_all_gather(mine.as_payload());
        comm.finish();
        for (int r = 0; r < n; ++r) wrong += test_message(r, n + 1, k).wrong(comm.from(r));
        if (k % 3 == 0) {
            comm.all_gather(test_message(me, n + 2, k).as_payload());
            for (int r = 0; r < n; ++r) wrong += test_message(r, n + 2, k).wrong(comm.from(r));
        }
        if constexpr (laconic::PointToPoint<C>)
            wrong += test_message((me + n - 1) % n, me, k)
                         .wrong(comm.exchange((me + 1) % n, test_message(me, (me + 1) % n, k).as_payload(),
                                              (me + n - 1) % n));
        comm.broadcast(k % n, test_message(me, n + 3, k).as_payload());
        wrong += test_message(k % n, n + 3, k).wrong(comm.from(k % n));
    }
    return wrong;
}

/// All-gathers of several lanes in flight at the same time, as many as there can be: first all that are started, from
/// another lane on in each round, then one after another, so that a lane is started again while the others are in
/// flight.
template <laconic::Overlapping C>
int in_flight_together(C& comm, int rounds, std::size_t longer = 0) {
    constexpr int lanes = laconic::detail::most_in_flight;
    int const n = comm.size(), me = comm.rank();
    std::vector<test_message> sent;
    for (int lane = 0; lane < lanes; ++lane) sent.emplace_back(me, n, lane);
    auto const of = [&](int rank, int number) {
        test_message one(rank, n + 1, number);
        if (number % 3 == 0 && !one.bytes.empty()) one.bytes.resize(one.bytes.size() + longer, std::byte(number));
        return one;
    };
    int started = 0, finished = 0, wrong = 0;
    auto const start = [&] {
        int const lane = started % lanes;
        sent[std::size_t(lane)] = of(me, started++);
        comm.start_all_gather(sent[std::size_t(lane)].as_payload(), lane);
    };
    auto const finish = [&] {
        comm.finish(finished % lanes);
        std::uint64_t computes = 0;
        for (int i = 0; i < 100 * me; ++i) computes = laconic::key{computes}.child(std::uint64_t(i)).bits;
        wrong += computes == 1;
        for (int r = 0; r < n; ++r) wrong += of(r, finished).wrong(comm.from(r));
        ++finished;
    };
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < 1 + (7 + round) % lanes; ++i) start();
        while (finished < started) finish();
        comm.all_gather(of(me, round).as_payload());
        for (int r = 0; r < n; ++r) wrong += of(r, round).wrong(comm.from(r));
    }
    for (int i = 0; i < lanes; ++i) start();
    for (int i = 0; i < 5 * rounds; ++i) finish(), start();
    while (finished < started) finish();
    return wrong;
}

/// To oneself, empty messages, and empty error frames.
template <laconic::PointToPoint C>
int with_oneself(C& comm) {
    int const me = comm.rank();
    int wrong = 0;
    for (int k = 0; k < 5; ++k)
        wrong += test_message(me, me, k).wrong(comm.exchange(me, test_message(me, me, k).as_payload(), me));
    for (bool const is_error : {false, true}) {
        auto const received = comm.exchange(me, {{}, is_error}, me);
        wrong += !received.bytes.empty() || received.is_error != is_error;
    }
    auto const nothing = comm.exchange(no_rank, {{}, true}, no_rank);
    return wrong + (!nothing.bytes.empty() || nothing.is_error);
}

template <laconic::PointToPoint C>
int all(C& comm) {
    int wrong =
        ring_algorithm(comm) + recursive_doubling_algorithm(comm) + with_oneself(comm) + first_in_first_out(comm, 7);
    for (std::size_t const length : {0, 3, 40}) wrong += ring_all_reduce(comm, length);
    wrong += collectives(comm, false) + mixed_with_collectives(comm);
    if constexpr (laconic::Overlapping<C>) wrong += started_and_finished(comm) + in_flight_together(comm, 10);
    for (std::uint64_t seed = 0; seed < 3; ++seed) wrong += random_schedule(comm, seed, 20);
    return wrong;
}

/// Throws for ranks that do not exist, before anything is handed over.
template <laconic::PointToPoint C>
int refuses_ranks_that_do_not_exist(C& comm) {
    int refused = 0;
    for (auto const& [to, from] : {std::pair(comm.size(), no_rank), {-2, no_rank}, {no_rank, comm.size()}, {0, -2}}) {
        try {
            comm.exchange(to, {}, from);
        } catch (laconic::argument_error const&) {
            ++refused;
        }
    }
    return 4 - refused;
}

/// Between a start and its finish nothing else may come, nor a finish without a start; what was started goes on.
template <laconic::Overlapping C>
int refuses_what_comes_between(C& comm) {
    int refused = 0;
    auto const refuses = [&](auto call) {
        try {
            call();
        } catch (laconic::argument_error const&) {
            ++refused;
        }
    };
    refuses([&] { comm.finish(); });
    test_message const mine(comm.rank(), 0, 3);
    comm.start_all_gather(mine.as_payload());
    refuses([&] { comm.start_all_gather({}); });
    refuses([&] { comm.all_gather({}); });
    refuses([&] { comm.gather(0, {}); });
    refuses([&] { comm.broadcast(0, {}); });
    refuses([&] { comm.exchange(comm.rank(), {}, comm.rank()); });
    comm.finish();
    refuses([&] { comm.finish(); });
    int wrong = 7 - refused;
    for (int r = 0; r < comm.size(); ++r) wrong += test_message(r, 0, 3).wrong(comm.from(r));

    refused = 0;
    test_message const second(comm.rank(), 0, 4);
    comm.start_all_gather(mine.as_payload(), 5);
    comm.start_all_gather(second.as_payload(), 2);
    for (int const lane : {2, 5, -1, laconic::detail::most_in_flight})
        refuses([&] { comm.start_all_gather({}, lane); });
    for (int const lane : {2, 0, -1, laconic::detail::most_in_flight}) refuses([&] { comm.finish(lane); });
    refuses([&] { comm.all_gather({}); });
    comm.finish(5);
    for (int r = 0; r < comm.size(); ++r) wrong += test_message(r, 0, 3).wrong(comm.from(r));
    refuses([&] { comm.finish(5); });
    refuses([&] { comm.exchange(comm.rank(), {}, comm.rank()); });
    comm.finish(2);
    for (int r = 0; r < comm.size(); ++r) wrong += test_message(r, 0, 4).wrong(comm.from(r));
    return wrong + 11 - refused;
}

}  // namespace schedules
