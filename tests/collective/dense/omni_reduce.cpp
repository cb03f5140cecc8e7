// SPDX-License-Identifier: Apache-2.0
// `omni_reduce` adds up blocks in the order of ranks and sends each nonzero block as often as documented.
#include "laconic/collective/dense/omni_reduce.hpp"

#include "support/block_vectors.hpp"
#include "support/collective_sums.hpp"
#include "support/everything.hpp"

using namespace collective_sums;

static_assert(Collective<omni_reduce>);

TEST_CASE("the sum is added up in the order of ranks, whatever is left out") {
    for (int const n : {1, 2, 3, 16})
        for (double const share : {0.0, 0.02, 0.4, 1.0})
            for (std::size_t const block : {1, 3, 16, 1000}) {
                std::size_t const d = 500;
                auto const all = block_vectors::fractions<float>(d, block, n, share);
                auto const sum = block_vectors::sum_in_order(all);
                for (auto const& x : after(all, "omni_reduce(" + std::to_string(block) + ")"))
                    CHECK(std::memcmp(x.data(), sum.data(), d * sizeof(float)) == 0);
            }
}

TEST_CASE("what nobody has is not touched, and 0 of either sign is nothing") {
    auto const sums = after(vectors<double>{{-0.0, -0.0, 1, -0.0}, {0.0, -0.0, -0.0, -0.0}}, "omni_reduce(2)");
    CHECK(std::signbit(sums[0][0]));
    CHECK(!std::signbit(sums[1][0]));
    for (auto const& x : sums) {
        CHECK(x[2] == 1);
        CHECK(!std::signbit(x[3]));
    }
}

// With d a multiple of the block, and 8 parts that a bitmap of b bits tells apart: counts and bitmaps, and the blocks.
TEST_CASE("each rank sends its blocks once, and the blocks that anybody has") {
    std::size_t const d = 64000, block = 32, ranks = 8;
    detail::omni_deal const deal{d / block, ranks};
    for (double const share : {0.01, 0.1, 0.4}) {
        auto const all = block_vectors::fractions<float>(d, block, int(ranks), share);
        auto const sent = bytes_sent_by(all, "omni_reduce(32)");
        auto const has = [&](std::size_t r, std::size_t b) { return block_vectors::has_block(all[r], block, b); };
        for (std::size_t me = 0; me < ranks; ++me) {
            std::uint64_t up = 0, down = 0;
            for (std::size_t b = 0; b < deal.blocks; ++b) {
                bool named_by_any = false;
                for (std::size_t r = 0; r < ranks; ++r) named_by_any = named_by_any || has(r, b);
                up += deal.part_of(b) != me && has(me, b);
                down += deal.part_of(b) == me && named_by_any;
            }
            std::uint64_t const least = 4 * block * (up + (ranks - 1) * down);
            CHECK(sent[me] >= least + 2 * (ranks - 1));
            CHECK(sent[me] <= least + 2 * (ranks - 1) * (4 + deal.rows() / 8));
        }
    }
}

TEST_CASE("a NaN among zeros is none of them") {
    auto all = block_vectors::fractions<float>(90, 4, 5, 0.3);
    std::fill(all[3].begin() + 40, all[3].begin() + 44, 0.f);
    all[3][42] = NAN;
    for (auto const& text : sv::errors_on(5, [&](any_communicator& comm) {
             summing<float> sum(comm, by_text<float>("omni_reduce(4)"), 90);
             sum(comm, all[std::size_t(comm.rank())], 7);
         }))
        CHECK(text == "rank 3, round 7: the gradient is not finite at coordinate 42");
    CHECK_THROWS_AS(omni_reduce{0}.check(100), argument_error);
}

// Numbers enough for three chunks, of which the last and the last block are shorter.
TEST_CASE("long vectors go in chunks: the same sums, and each block sent as often") {
    std::size_t const d = (std::size_t{3} << 20) + 12345, block = 4096, ranks = 3;
    auto all = block_vectors::fractions<float>(d, block, int(ranks), 0.2);
    for (auto& x : all) x.back() = 1;
    std::vector<std::uint64_t> sent(ranks);
    auto const sum = block_vectors::sum_in_order(all);
    for (auto const& x : after(all, "omni_reduce(4096)", &sent))
        CHECK(std::memcmp(x.data(), sum.data(), d * sizeof(float)) == 0);
    detail::omni_blocks const blocks{d, block};
    detail::omni_deal const deal{blocks.count(), ranks};
    for (std::size_t me = 0; me < ranks; ++me) {
        std::uint64_t numbers = 0;
        for (std::size_t b = 0; b < deal.blocks; ++b) {
            std::uint64_t has = 0;
            for (auto const& x : all) has += block_vectors::has_block(x, block, b);
            bool const own = deal.part_of(b) == me;
            numbers += blocks.length(b) * (own ? (ranks - 1) * (has > 0) : block_vectors::has_block(all[me], block, b));
        }
        CHECK(sent[me] >= 4 * numbers + 2 * (ranks - 1));
        CHECK(sent[me] <= 4 * numbers + 3 * 2 * (ranks - 1) * (4 + deal.rows() / 3 / 8));
    }

    // What is wrong in the last chunk is known before anything has changed, and so is what is wrong in two.
    auto bad = all;
    bad[1][d - 7] = NAN;
    auto const before = bad;
    auto const refusals = [&] {
        return sv::errors_on(int(ranks), [&](any_communicator& comm) {
            summing<float> sum_up(comm, by_text<float>("omni_reduce(4096)"), d);
            sum_up(comm, bad[std::size_t(comm.rank())], 7);
        });
    };
    for (auto const& text : refusals())
        CHECK(text == "rank 1, round 7: the gradient is not finite at coordinate " + std::to_string(d - 7));
    for (std::size_t r = 0; r < ranks; ++r) CHECK(std::memcmp(bad[r].data(), before[r].data(), d * sizeof(float)) == 0);
    bad[2][5] = bad[1][9] = NAN;
    for (auto const& text : refusals()) CHECK(text == "rank 1, round 7: the gradient is not finite at coordinate 9");
}
