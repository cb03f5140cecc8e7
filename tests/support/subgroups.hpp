// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "laconic/any/communicator.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "support/schedules.hpp"

/// What every engine that splits its ranks must do. All ranks call the same check; it returns how often this rank
/// received something wrong.
namespace subgroups {

using laconic::no_rank;
using schedules::test_message;

/// Whether the ranks of `part` are these of the parent, in this order, of which this one is `me`.
template <class C>
int other_than(C& part, std::vector<int> const& ranks, int me) {
    if (part.size() != int(ranks.size()) || part.rank() < 0 || part.rank() >= part.size()) return 1;
    int wrong = ranks[std::size_t(part.rank())] != me;
    part.all_gather({std::as_bytes(std::span(&me, 1))});
    for (int r = 0; r < part.size(); ++r) {
        int theirs = -1;
        if (part.from(r).bytes.size() == sizeof theirs) std::memcpy(&theirs, part.from(r).bytes.data(), sizeof theirs);
        wrong += theirs != ranks[std::size_t(r)];
    }
    return wrong;
}
/// Those of 0 to n - 1 that are such.
template <class Such>
std::vector<int> those(int n, Such such) {
    std::vector<int> ranks;
    for (int r = 0; r < n; ++r)
        if (such(r)) ranks.push_back(r);
    return ranks;
}

template <laconic::Splitting C>
int by_color_and_key(C& comm) {
    int const n = comm.size(), me = comm.rank(), half = n > 1 ? n / 2 : 1;
    int wrong = 0;
    auto rows = comm.split(me / half, me);
    auto columns = comm.split(me % half, 0);
    wrong += other_than(rows, those(n, [&](int r) { return r / half == me / half; }), me);
    wrong += other_than(columns, those(n, [&](int r) { return r % half == me % half; }), me);
    auto nested = rows.split(1000000 * (rows.rank() % 2), -3);
    wrong += other_than(nested,
                        those(n, [&](int r) { return r / half == me / half && r % half % 2 == rows.rank() % 2; }), me);
    auto reversed = comm.split(7, -me);
    std::vector<int> expected;
    for (int r = n; r-- > 0;) expected.push_back(r);
    wrong += other_than(reversed, expected, me);
    auto even_first = comm.split(0, me % 2);
    expected = those(n, [](int r) { return r % 2 == 0; });
    for (int r = 1; r < n; r += 2) expected.push_back(r);
    wrong += other_than(even_first, expected, me);
    auto alone = comm.split(n - me, me);
    wrong += other_than(alone, {me}, me);
    auto all = comm.duplicate();
    wrong += other_than(all, those(n, [](int) { return true; }), me);
    // Whatever can be done in a communicator, in each of them and in what they come from.
    for (C* const each : {&rows, &nested, &alone, &columns, &reversed, &all, &comm}) {
        laconic::any_communicator any(*each);
        wrong += schedules::all(any) + schedules::refuses_what_comes_between(any);
    }
    return wrong;
}

/// A message for each of three communicators between the same ranks, taken the other way round; and collective calls of
/// one between the start and the finish of another, in several lanes.
template <laconic::Splitting C>
int kept_apart(C& comm) {
    int const n = comm.size(), me = comm.rank(), next = (me + 1) % n, last = (me + n - 1) % n;
    auto first = comm.duplicate();
    auto second = first.duplicate();
    int wrong = 0;
    for (int k = 0; k < 5; ++k) {
        comm.exchange(next, test_message(me, 0, k).as_payload(), no_rank);
        first.exchange(next, test_message(me, 1, k).as_payload(), no_rank);
        second.exchange(next, test_message(me, 2, k).as_payload(), no_rank);

        std::vector<test_message> sent;
        for (int i = 0; i < 4; ++i) sent.emplace_back(me, 3 + i, k);
        comm.start_all_gather(sent[0].as_payload(), 2);
        first.all_gather(test_message(me, 9, k).as_payload());
        for (int r = 0; r < n; ++r) wrong += test_message(r, 9, k).wrong(first.from(r));
        first.start_all_gather(sent[1].as_payload(), 1);
        second.start_all_gather(sent[2].as_payload(), 1);
        first.start_all_gather(sent[3].as_payload(), 0);
        second.finish(1);
        comm.finish(2);
        for (int r = 0; r < n; ++r)
            wrong += test_message(r, 5, k).wrong(second.from(r)) + test_message(r, 3, k).wrong(comm.from(r));
        second.broadcast(k % n, test_message(me, 8, k).as_payload());
        wrong += test_message(k % n, 8, k).wrong(second.from(k % n));
        first.finish(1);
        for (int r = 0; r < n; ++r) wrong += test_message(r, 4, k).wrong(first.from(r));
        first.finish(0);
        for (int r = 0; r < n; ++r) wrong += test_message(r, 6, k).wrong(first.from(r));

        wrong += test_message(last, 2, k).wrong(second.exchange(no_rank, {}, last));
        wrong += test_message(last, 1, k).wrong(first.exchange(no_rank, {}, last));
        wrong += test_message(last, 0, k).wrong(comm.exchange(no_rank, {}, last));
    }
    return wrong;
}

/// A color below 0 is refused on all ranks, and so is a split while an all-gather is under way; then all goes on.
template <laconic::Splitting C>
int refuses(C& comm) {
    int const n = comm.size(), me = comm.rank();
    int refused = 0;
    std::string why;
    try {
        comm.split(me == n - 1 ? -1 : 0, me);
    } catch (laconic::argument_error const& e) {
        ++refused;
        why = e.what();
    }
    comm.start_all_gather({}, 3);
    try {
        comm.duplicate();
    } catch (laconic::argument_error const&) {
        ++refused;
    }
    comm.finish(3);
    auto again = comm.duplicate();
    return 2 - refused + (why != "rank " + std::to_string(n - 1) + " has color -1: colors are at least 0") +
           other_than(again, those(n, [](int) { return true; }), me);
}

template <laconic::Splitting C>
int all(C& comm) {
    int wrong = by_color_and_key(comm) + kept_apart(comm) + refuses(comm);
    for (int k = 0; k < 10; ++k) {  // made and dropped
        auto part = comm.split(comm.rank() % (k + 1), 0);
        laconic::any_communicator any(part);
        wrong += schedules::ring_algorithm(any);
    }
    return wrong;
}

}  // namespace subgroups
