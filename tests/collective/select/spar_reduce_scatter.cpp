// SPDX-License-Identifier: Apache-2.0
// `spar_reduce_scatter` keeps its quota in each block, returns all other terms, and sums exactly without a quota.
// Coordinates that are turned to begin at a rank's own part turn back, and all parts reach all ranks.
#include "laconic/collective/select/spar_reduce_scatter.hpp"

#include "support/collective_sums.hpp"
#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

using namespace collective_sums;

static_assert(Collective<spar_reduce_scatter>);

template <class T>
auto keeping(std::size_t d, spar_reduce_scatter how) {
    return [=](auto& comm) { return make_sum<T>(how, comm, d); };
}

// Of the terms that are brought, how much of the sum of magnitudes is applied.
double share_applied(sv::lists<float> const& brought, spar_reduce_scatter how) {
    auto const [applied, returned] = sv::after(brought, keeping<float>(brought[0].dimension(), how));
    double of_all = 0, of_applied = 0;
    auto const sum = sv::sum_of(brought);
    for (double const v : sum) of_all += std::abs(v);
    for (auto const v : applied[0].values()) of_applied += std::abs(v);
    return of_applied / of_all;
}

TEST_CASE("two ranks, by hand") {
    // Blocks 0 .. 2 and 3 .. 5, two terms of each. Rank 0 cuts block 1 to -4 at 4 and 3 at 5 and hands it over; rank 1
    // cuts block 0 to 7 at 0 and 2 at 1; then rank 0 has 7, 7, 5 in block 0, rank 1 has 6, -4, 3 + 1 in block 1.
    sv::lists<double> const brought{sv::of<double>(6, {{1, 5}, {2, 5}, {3, 2}, {4, -4}, {5, 3}}),
                                    sv::of<double>(6, {{0, 7}, {1, 2}, {2, 1}, {3, 6}, {5, 1}})};
    auto const [applied, returned] = sv::after(brought, keeping<double>(6, {4, true}));
    for (auto const& v : applied) CHECK(v == sv::of<double>(6, {{0, 7}, {1, 7}, {3, 6}, {4, -4}}));
    CHECK(returned[0] == sv::of<double>(6, {{2, 5}, {3, 2}}));
    CHECK(returned[1] == sv::of<double>(6, {{2, 1}, {5, 4}}));
}

TEST_CASE_TEMPLATE("any number of ranks, any supports: equal bits, the quota is kept, and nothing is lost", T, float,
                   double) {
    for (int const n : {1, 2, 3, 4, 7, 8, 33})
        for (auto const how : sv::shapes) {
            CAPTURE(n);
            std::size_t const d = 60;
            auto const ranks = std::size_t(n);
            auto const brought = sv::all_whole_numbers<T>(how, d, 12, n);
            if (n > 9 && how != sv::shape::spread && how != sv::shape::crowded) continue;
            for (std::size_t const k : {std::size_t{0}, std::size_t{1}, std::size_t{12}, d})
                for (bool const scatters : {false, true}) {
                    auto const [applied, returned] = sv::after(brought, keeping<T>(d, {k, !scatters, 3}));
                    for (auto const& v : applied) CHECK(v == applied[0]);
                    detail::partition const blocks{d, ranks};
                    auto const quota = (k + ranks - 1) / ranks;
                    sparse_sum<T> block;
                    for (std::size_t p = 0; p < ranks && !scatters; ++p) {
                        block.assign_part(applied[0], blocks.first(p), blocks.length(p));
                        CHECK(block.size() <= quota);
                    }
                    CHECK(applied[0].size() <= quota * ranks);
                    auto everything = returned;  // whole numbers: conservation is exact
                    everything.push_back(applied[0]);
                    CHECK(sv::sum_of(everything) == sv::sum_of(brought));
                }
        }
}

TEST_CASE("equal magnitudes: the lower coordinates of each block") {
    sv::lists<float> brought;
    for (std::size_t r = 0; r < 4; ++r) {
        brought.emplace_back(40);
        for (std::size_t i = 0; i < 40; ++i) brought[r].append(i, i % 2 == 0 ? 1.f : -1.f);
    }
    auto const applied = sv::after(brought, keeping<float>(40, {8, true})).first[2];
    CHECK(applied == sv::of<float>(40, {{0, 4}, {1, -4}, {10, 4}, {11, -4}, {20, 4}, {21, -4}, {30, 4}, {31, -4}}));
}

// All that is brought lies in the first eighth of the coordinates, where all ranks have the same k.
TEST_CASE("a crowded block is cut, scattered coordinates are not") {
    std::size_t const d = 8000, k = 400;
    sv::lists<float> brought;
    for (std::size_t r = 0; r < 8; ++r) {
        brought.emplace_back(d);
        for (std::size_t i = 0; i < k; ++i) brought[r].append(2 * i, 1.f);
    }
    CHECK(share_applied(brought, {k, true}) == 1. / 8);
    double least = 1, most = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        double const share = share_applied(brought, {k, false, seed});
        least = std::min(least, share);
        most = std::max(most, share);
    }
    // Of 50 expected in each block those above 50 are cut: of a binomial about sqrt(50 * 7 / 8 / (2 pi)), 5 %.
    CHECK(least > .9);
    CHECK(most < 1);
    // Another round, other blocks.
    host on;
    std::vector<sparse_sum<float>> kept(2);
    sv::run_over<fibers>(8, [&](any_communicator& comm) {
        auto collective = make_sum<float>(spar_reduce_scatter{k, false, 1}, comm, d);
        for (std::uint64_t round = 0; round < 2; ++round) {
            auto v = brought[0];
            host mine;
            collective(mine, comm, v, round);
            if (comm.rank() == 0) kept[round] = v;
        }
    });
    CHECK(!(kept[0] == kept[1]));
}

TEST_CASE("of four thousand million coordinates only those that are brought take time and memory") {
    std::size_t const d = detail::largest_dimension;
    sv::lists<float> brought;
    for (std::size_t r = 0; r < 5; ++r) brought.push_back(sv::of<float>(d, {{7, 1}, {d / 2 + r, 2}, {d - 1, 3}}));
    for (bool const scatters : {false, true}) {
        auto const applied = sv::after(brought, keeping<float>(d, {40, !scatters, 3})).first;
        auto const h = d / 2;
        for (auto const& v : applied)
            CHECK(v == sv::of<float>(d, {{7, 5}, {h, 2}, {h + 1, 2}, {h + 2, 2}, {h + 3, 2}, {h + 4, 2}, {d - 1, 15}}));
    }
}

TEST_CASE("a block of more terms than the quota is refused") {
    // Both cut to what they take the quota for: they did not agree on k.
    auto const errors = sv::errors_on(2, [](auto& comm) {
        host on;
        auto collective = make_sum<float>(spar_reduce_scatter{comm.rank() == 0 ? 8 : 2, true}, 8);
        auto v = sv::of<float>(8, {{0, 1}, {1, 1}, {4, 1}, {5, 1}, {6, 1}});
        collective(on, comm, v);
    });
    for (auto const& text : errors) CHECK(text.find("from rank 0: more terms than a block may have") < text.size());
}

TEST_CASE("what each rank sends: all blocks but its own, then those that it has, in 2 ceil(log2 P) messages") {
    // In full, 4 bits of a count for 10 numbers in each block.
    for (int const n : {2, 4, 8}) {
        auto const ranks = std::size_t(n), d = 10 * ranks;
        auto const full = sv::all_whole_numbers<float>(sv::shape::all, d, 0, n);
        std::uint64_t bytes = 0;
        for (std::size_t blocks = 1; blocks < ranks; blocks *= 2) bytes += 2 * ((blocks * (4 + 320) + 7) / 8);
        for (auto const sent : bytes_sent_by(full, "spar_reduce_scatter(all, as_published=yes)")) CHECK(sent == bytes);
    }
    // Cut: no more than the quota of terms in each block, of at most a coordinate of 7 bits and a number each.
    for (int const n : {2, 3, 5, 9}) {
        auto const ranks = std::size_t(n);
        auto const brought = sv::all_whole_numbers<float>(sv::shape::all, 100 * ranks, 0, n);
        auto const quota = (20 + ranks - 1) / ranks;
        for (auto const sent : bytes_sent_by(brought, "spar_reduce_scatter(20, as_published=yes)")) {
            CHECK(sent <= 2 * (ranks - 1) * (7 + 3 + quota * 39) / 8 + 2 * detail::width_of(ranks));
            CHECK(sent >= 2 * (ranks - 1) * quota * 32 / 8);
        }
    }
}

TEST_CASE("thousands of terms are scattered and come back in their places") {
    std::size_t const d = 3000000, terms = 4000;
    sv::run_over<fibers>(3, [&](any_communicator& comm) {
        host on;
        sparse_sum<float> v(d), wanted(d);
        for (std::size_t j = 0; j < terms; ++j) {
            v.append(j * 700 + j % 5, float(int(j % 100) - 50) * float(comm.rank() + 1));
            wanted.append(j * 700 + j % 5, float(int(j % 100) - 50) * 6);
        }
        auto collective = make_sum<float>(spar_reduce_scatter{d, false, 3}, comm, d);
        collective(on, comm, v);
        CHECK(v == wanted);
        CHECK(collective.leftover().size() == 0);
    });
}

TEST_CASE("parts from a rank on, by hand") {
    detail::turned const order{{10, 3}, 1};  // the parts are from 0, 3 and 6
    CHECK(order.origin() == 3);
    for (std::size_t j = 0; j < 4; ++j) CHECK(order.first(j) == std::vector<std::size_t>{0, 3, 7, 10}[j]);
    for (std::size_t j = 0; j < 3; ++j) CHECK(order.length(j) == std::vector<std::size_t>{3, 4, 3}[j]);
    std::vector<coordinate> const at{0, 2, 3, 9};
    auto turned = at;
    order.turn(turned);
    CHECK(turned == std::vector<coordinate>{7, 9, 0, 6});
    order.turn_back(turned);
    CHECK(turned == at);
}
