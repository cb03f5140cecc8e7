// SPDX-License-Identifier: Apache-2.0
// Bruck's all-gather brings each part to each rank once, bit for bit, in ceil(log2 P) steps.
#include "laconic/collective/sparse/bruck.hpp"

#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

using namespace laconic;
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
            struct counting {
                fibers::member* inner;
                int* steps;
                int rank() const { return inner->rank(); }
                int size() const { return inner->size(); }
                void all_gather(payload mine) { inner->all_gather(mine); }
                void gather(int root, payload mine) { inner->gather(root, mine); }
                void broadcast(int root, payload mine) { inner->broadcast(root, mine); }
                payload from(int r) const { return inner->from(r); }
                payload exchange(int to, payload mine, int from) {
                    ++*steps;
                    return inner->exchange(to, mine, from);
                }
            };
            auto const me = std::size_t(inner.rank());
            counting counts{&inner, &steps[me]};
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
