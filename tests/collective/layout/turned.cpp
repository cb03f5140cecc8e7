// SPDX-License-Identifier: Apache-2.0
// Coordinates that are turned to begin at a rank's own part turn back, and all parts reach all ranks.
#include "laconic/collective/layout/turned.hpp"

#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

using namespace laconic;
namespace sv = sparse_vectors;

TEST_CASE("parts from a rank on, by hand") {
    detail::partition const parts{10, 3};  // from 0, 3 and 6
    detail::turned const order{&parts, 10, 3, 1};
    CHECK(order.origin() == 3);
    for (std::size_t j = 0; j < 4; ++j) CHECK(order.first(j) == std::vector<std::size_t>{0, 3, 7, 10}[j]);
    for (std::size_t j = 0; j < 3; ++j) CHECK(order.length(j) == std::vector<std::size_t>{3, 4, 3}[j]);
    sparse_sum<float> turned, back;
    auto const v = sv::of<float>(10, {{0, 1}, {2, 2}, {3, 3}, {9, 4}});
    detail::turn(v, order.origin(), turned);
    CHECK(turned == sv::of<float>(10, {{0, 3}, {6, 4}, {7, 1}, {9, 2}}));
    detail::turn(turned, 10 - order.origin(), back);
    CHECK(back == v);
}

TEST_CASE("every rank turns back what it turned, whatever is empty") {
    sparse_sum<double> turned, back;
    for (std::size_t const d : {0, 1, 5, 40})
        for (std::size_t const n : {1, 2, 7, 12}) {
            detail::partition const parts{d, n};
            for (std::size_t me = 0; me < n; ++me)
                for (auto const how : sv::shapes) {
                    detail::turned const order{&parts, d, n, me};
                    auto const v = sv::whole_numbers<double>(how, d, 9, int(me), int(n));
                    detail::turn(v, order.origin(), turned);
                    detail::turn(turned, d - order.origin(), back);
                    CHECK(back == v);
                    CHECK(order.first(n) == d);
                    sparse_sum<double> one, other;
                    for (std::size_t j = 0; j < n; ++j) {
                        auto const p = (me + j) % n;
                        CHECK(order.length(j) == parts.length(p));
                        one.assign_part(turned, order.first(j), order.length(j));
                        other.assign_part(v, parts.first(p), parts.length(p));
                        CHECK(one == other);
                    }
                }
        }
}

TEST_CASE("every rank gets every part, in ceil(log2 P) steps, each part once") {
    std::size_t const d = 97;
    for (int const n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33}) {
        auto const all = sv::whole_numbers<float>(sv::shape::spread, d, 30, 0, 1);
        detail::partition const parts{d, std::size_t(n)};
        fibers::run(n, [&](auto& inner) {
            metered comm(inner);
            host on;
            session schedule;
            schedule.start(0);
            auto const me = std::size_t(comm.rank());
            detail::turned const order{&parts, d, std::size_t(n), me};
            sparse_sum<float> held(d), piece, back;
            piece.assign_part(all, parts.first(me), parts.length(me));
            held.append(piece, 0);
            detail::all_gather_turned(on, comm, schedule, order, held, piece);
            schedule.finish();
            detail::turn(held, d - order.origin(), back);
            CHECK(back == all);
            std::uint64_t bits_received = 0;
            for (std::size_t p = 0; p < std::size_t(n); ++p)
                if (p != me) {
                    piece.assign_part(all, parts.first(p), parts.length(p));
                    bits_received += account(piece.message()).unpadded();
                }
            CHECK(8 * comm.bytes_received() >= bits_received);
            CHECK(8 * comm.bytes_received() < bits_received + 8 * detail::width_of(std::uint64_t(n)) + 1);
        });
    }
}
