// SPDX-License-Identifier: Apache-2.0
// Bruck's all-gather brings each part to each rank once, bit for bit, in ceil(log2 P) steps.
// `split_and_add` leaves each rank the sum of its part, wherever parts start, and reports where a sum overflows.
#include "laconic/collective/parts.hpp"

#include "support/everything.hpp"
#include "support/passed_on.hpp"
#include "support/sparse_vectors.hpp"

TEST_CASE("numbers are added or taken as they are read") {
    std::vector<double> x{1, 2}, y{3, -4};
    wire::bit_writer sink;
    put_numbers(sink, y);
    auto const bytes = sink.finish();
    wire::bit_reader once(bytes), twice(bytes);
    detail::add_numbers(once, std::span(x));
    CHECK(x == std::vector<double>{4, -2});
    take_numbers(twice, std::span(x));
    CHECK(x == y);
    CHECK_THROWS_AS(take_numbers(twice, std::span(x)), wire_error);
}

TEST_CASE("pieces cover a part, one after another, and a part of nothing is one") {
    constexpr std::size_t most = detail::in_pieces<float>::longest;
    CHECK(most * 4 < 65536);
    CHECK(detail::in_pieces<double>::longest * 8 < 65536);
    for (std::size_t const length : {std::size_t{0}, std::size_t{1}, most, most + 1, 3 * most}) {
        detail::in_pieces<float> const all{7, length};
        CHECK(all.count() == std::max<std::size_t>(1, (length + most - 1) / most));
        std::size_t next = 7, pieces = 0;
        all.each([&](std::size_t first, std::size_t n) {
            CHECK(first == next);
            CHECK(n <= most);
            all.visit(pieces, [&](std::size_t at, std::size_t numbers) {
                CHECK(at == first);
                CHECK(numbers == n);
            });
            next += n;
            ++pieces;
        });
        CHECK(next == 7 + length);
        CHECK(pieces == all.count());
    }
}

TEST_CASE("who takes turns is at most eight pieces ahead, as long as there is something to receive") {
    constexpr std::size_t most = detail::in_pieces<float>::longest;
    for (std::size_t const sent : {0, 1, 3, 20})
        for (std::size_t const received : {0, 1, 8, 9, 30}) {
            std::size_t sends = 0, receives = 0;
            int ahead = 0, largest = 0;
            detail::by_turns(
                detail::in_pieces<float>{5, sent * most}, detail::in_pieces<float>{0, received * most},
                [&](std::size_t first, std::size_t) {
                    CHECK(first == 5 + most * sends++);
                    largest = std::max(largest, ++ahead);
                },
                [&](std::size_t first, std::size_t) {
                    CHECK(first == most * receives++);
                    --ahead;
                });
            CHECK(sends == std::max<std::size_t>(sent, 1));
            CHECK(receives == std::max<std::size_t>(received, 1));
            CHECK(largest == (received + 8 < sent ? int(sent - receives) : std::min(8, int(sends))));
        }
}

namespace sv = sparse_vectors;

TEST_CASE("lists stand one behind another, as they came") {
    // Of a vector of 10: its coordinates 6 .. 9, none of 0 .. 2, and 3 .. 5.
    std::vector<std::size_t> const first{6, 0, 3};
    sv::lists<double> const came{sv::of<double>(4, {{0, 1.5}, {3, -2}}), sv::of<double>(3, {}),
                                 sv::of<double>(3, {{1, 7}})};
    detail::gathered_lists<double> lists;
    for (int again = 0; again < 2; ++again) {
        lists.clear();
        CHECK(lists.size() == 0);
        for (std::size_t i = 0; i < 3; ++i) lists.append(came[i], first[i]);
        CHECK(lists.size() == 3);
        std::vector<std::vector<coordinate>> const at{{6, 9}, {}, {4}};
        std::vector<std::vector<double>> const values{{1.5, -2}, {}, {7}};
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(std::ranges::equal(lists[i].at, at[i]));
            CHECK(std::ranges::equal(lists[i].values, values[i]));
        }
    }
}

TEST_CASE("lists are added up from one of them on, as merges do, however far apart their terms are") {
    for (std::size_t const d : {60, 4000000}) {
        host on;
        // Sums that are rounded differently in another order.
        auto const all = sv::all_whole_numbers<float>(sv::shape::apart, 60, 9, 5);
        sv::lists<float> came;
        for (std::size_t i = 0; i < 5; ++i) {
            came.emplace_back(d);
            for (std::size_t j = 0; j < all[i].size(); ++j)
                came[i].append((all[i].support()[j] / 5 * 5) * (d / 60), all[i].values()[j] / (j % 2 == 0 ? 7 : 3e5f));
        }
        for (std::size_t start = 0; start < 5; ++start) {
            detail::gathered_lists<float> lists;
            sparse_sum<float> wanted(d), sum(d);
            for (auto const& list : came) lists.append(list, 0);
            for (std::size_t i = 0; i < 5; ++i) wanted.add(on, came[(start + i) % 5]);
            sum.append(d - 1, 1);
            lists.add_up(on, start, sum);
            CHECK(sum == wanted);
        }
    }
}

TEST_CASE("within its room it stays where it is") {
    host on;
    detail::gathered_lists<float> lists;
    lists.reserve(on, 3, 4);
    for (int i = 0; i < 2; ++i) lists.append(sv::of<float>(5, {{0, 1}, {4, 1}}), 5);
    lists.clear();
    lists.append(sv::of<float>(5, {{0, 1}, {4, 1}}), 5);
    auto const* const there = lists[0].values.data();
    lists.append(sv::of<float>(5, {{0, 1}, {4, 1}}), 5);
    CHECK(lists[0].values.data() == there);
}

TEST_CASE("what is handed on is what its own rank sent, to the bit") {
    for (int const n : {2, 3, 5, 6, 7, 8, 9}) {
        auto const ranks = std::size_t(n);
        fibers::run(n, [&](auto& comm) {
            session schedule;
            schedule.start(0);
            auto const me = std::size_t(comm.rank());
            auto const width = [](std::size_t p) { return unsigned(3 + 11 * p); };  // part p has so many bits, all ones
            std::vector<int> received(ranks);
            detail::all_gather_by(
                comm, schedule,
                [&](wire::bit_writer& sink) {
                    for (unsigned b = 0; b < width(me); ++b) sink.put(1, 1);
                    sink.put(0, 1);
                },
                [&](wire::bit_reader& source, std::size_t p) {
                    ++received[p];
                    CHECK(source.take_ones(200) == width(p));
                });
            schedule.finish();
            for (std::size_t p = 0; p < ranks; ++p) CHECK(received[p] == (p == me ? 0 : 1));
        });
    }
}

TEST_CASE("every rank gets every part, in ceil(log2 P) steps, each part once") {
    for (int const n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33}) {
        std::vector<sparse_sum<float>> all;
        for (int r = 0; r < n; ++r)
            all.push_back(sv::whole_numbers<float>(sv::shape::spread, std::size_t(10 + r), 5, r, n));
        std::vector<int> steps(std::size_t(60));
        fibers::run(n, [&](auto& inner) {
            struct counting : passed_on<fibers::member> {
                int* steps;
                payload exchange(int to, payload mine, int from) {
                    ++*steps;
                    return inner->exchange(to, mine, from);
                }
            };
            auto const me = std::size_t(inner.rank());
            counting counts{{&inner}, &steps[me]};
            metered comm(counts);
            host on;
            session schedule;
            schedule.start(0);
            auto parts = all;
            for (std::size_t p = 0; p < parts.size(); ++p)
                if (p != me) parts[p].reset(all[p].dimension());
            detail::all_gather_parts(on, comm, schedule, parts);
            schedule.finish();
            CHECK(parts == all);
            // Each part is received once; a message of many is one string of bits.
            std::uint64_t bits_received = 0;
            for (std::size_t p = 0; p < parts.size(); ++p)
                if (p != me) bits_received += account(parts[p].message()).unpadded();
            CHECK(8 * comm.bytes_received() >= bits_received);
            CHECK(8 * comm.bytes_received() < bits_received + 8 * std::uint64_t(steps[me]) + 1);
        });
        for (int r = 0; r < n; ++r) CHECK(steps[std::size_t(r)] == int(detail::width_of(std::uint64_t(n))));
    }
}

TEST_CASE("numbers come to where they belong, in pieces, one of which may be of the last part and the first") {
    constexpr std::size_t most = detail::in_pieces<double>::longest;
    for (int const n : {1, 2, 3, 5, 8, 9})
        for (std::size_t const d : {std::size_t{0}, std::size_t{4}, std::size_t{61}, 7 * most + 5}) {
            detail::partition const parts{d, std::size_t(n)};
            std::vector<double> all(d);
            for (std::size_t i = 0; i < d; ++i) all[i] = double(i) + 1;
            fibers::run(n, [&](auto& inner) {
                metered comm(inner);
                auto const me = std::size_t(comm.rank());
                std::vector<double> x(d);
                auto const mine = parts.of(std::span(all), me);
                std::copy(mine.begin(), mine.end(), x.begin() + std::ptrdiff_t(parts.first(me)));
                session schedule;
                schedule.start(0);
                detail::all_gather_numbers(comm, schedule, parts, std::span(x));
                schedule.finish();
                CHECK(x == all);
                CHECK(comm.bytes_received() == sizeof(double) * (d - parts.length(me)));
            });
        }
}

TEST_CASE("each rank adds up its part, wherever parts start, and receives what stands in front of them") {
    for (int const n : {1, 2, 3, 8}) {
        std::size_t const d = 40;
        auto const ranks = std::size_t(n);
        auto const brought = sv::all_whole_numbers<double>(sv::shape::spread, d, 15, n);
        auto const sum = sv::sum_of(brought);
        detail::regions parts{d};
        parts.prepare(ranks);
        std::vector<std::uint64_t> next(ranks + 1, 35);
        next[1] = 3;
        parts.move(next);  // 0 .. 2, 3 .. 34, 35 .. for the last, and none for those between
        fibers::run(n, [&](auto& comm) {
            host on;
            session schedule;
            schedule.start(0);
            auto const me = std::size_t(comm.rank());
            sparse_sum<double> mine, piece;
            detail::gathered_lists<double> lists;
            std::vector<std::uint64_t> received(ranks, 99);
            detail::split_and_add(
                on, comm, schedule, parts, brought[me], mine, piece, lists,
                [&](wire::bit_writer& sink, std::size_t p) { sink.put(10 * me + p, 7); },
                [&](wire::bit_reader& source, std::size_t r) { received[r] = source.take(7); });
            schedule.finish();
            CHECK(mine.dimension() == parts.length(me));
            auto const x = sv::dense(mine);
            for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == sum[parts.first(me) + i]);
            for (std::size_t r = 0; r < ranks; ++r) CHECK(received[r] == (r == me ? 99 : 10 * r + me));
        });
    }
}

TEST_CASE("a sum that overflows is reported at its coordinate of the whole vector") {
    auto const errors = sv::errors_on(2, [](auto& comm) {
        host on;
        session schedule;
        detail::partition const parts{10, 2};
        sparse_sum<float> mine, piece;
        detail::gathered_lists<float> lists;
        auto v = sv::of<float>(10, {{7, 3e38f}});
        detail::split_and_add(on, comm, schedule, parts, v, 3, mine, piece, lists);
        schedule.finish();
    });
    CHECK(errors[0] == "none");  // rank 1 reports it in the messages that follow
    CHECK(errors[1] == "round 3: the ranks' sum is not finite at coordinate 7");
}
