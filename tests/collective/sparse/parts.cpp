// SPDX-License-Identifier: Apache-2.0
// Bruck's all-gather brings each part to each rank once, bit for bit, in ceil(log2 P) steps.
// `split_and_add` leaves each rank the sum of its part, wherever parts start, and reports where a sum overflows.
#include "laconic/collective/sparse/parts.hpp"

#include "support/everything.hpp"
#include "support/passed_on.hpp"
#include "support/sparse_vectors.hpp"

namespace sv = sparse_vectors;

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

namespace sv = sparse_vectors;

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
        schedule.start(3);
        detail::partition const parts{10, 2};
        sparse_sum<float> mine, piece;
        detail::gathered_lists<float> lists;
        auto const v = sv::of<float>(10, {{7, 3e38f}});
        detail::split_and_add(on, comm, schedule, parts, v, mine, piece, lists);
        schedule.finish();
    });
    CHECK(errors[0] == "none");  // rank 1 reports it in the messages that follow
    CHECK(errors[1] == "round 3: the ranks' sum is not finite at coordinate 7");
}
