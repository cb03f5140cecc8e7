// SPDX-License-Identifier: Apache-2.0
// `split_all_gather` sums lists by parts in the order of ranks, with its second stage as lists or in full.
#include "laconic/collective/sparse/split_all_gather.hpp"

#include "support/collective_sums.hpp"
#include "support/everything.hpp"

using namespace collective_sums;

static_assert(Collective<split_all_gather>);

TEST_CASE("the order of ranks decides the last bits, wherever the part is added up") {
    std::size_t const d = 5;
    double const sent[] = {1e16, 1., -1e16, 3., .1};
    sv::lists<double> brought(5, sparse_sum<double>(d));
    for (std::size_t r = 0; r < 5; ++r)
        for (std::size_t i = 0; i < d; ++i) brought[r].append(i, sent[r]);
    for (auto const& v : after(brought, "split_all_gather"))
        for (auto const x : v.values()) CHECK(x == (((1e16 + 1) - 1e16) + 3) + .1);
}

TEST_CASE("each rank sends what others add up, and then what it and others have added up") {
    host on;
    std::size_t const d = 300;
    for (bool const dense : {false, true})
        for (int const n : {1, 2, 3, 5, 8}) {
            auto const all = std::size_t(n);
            auto const brought = sv::all_whole_numbers<float>(sv::shape::spread, d, 20, n);
            detail::partition const ranges{d, all};
            sparse_sum<float> sum(d), part;
            for (auto const& v : brought) sum.add(on, v);
            std::vector<std::uint64_t> expected(all);
            for (std::size_t r = 0; r < all; ++r) {
                for (std::size_t p = 0; p < all; ++p)
                    if (p != r) {
                        part.assign_part(brought[r], ranges.first(p), ranges.length(p));
                        expected[r] += bits(part.message()) / 8;
                    }
                for (std::size_t distance = 1; distance < all; distance *= 2) {
                    wire::ledger books;
                    for (std::size_t j = 0; j < std::min(distance, all - distance); ++j) {
                        auto const p = (r + j) % all;
                        if (dense) expected[r] += sizeof(float) * ranges.length(p);
                        part.assign_part(sum, ranges.first(p), ranges.length(p));
                        write(books, part);
                    }
                    if (!dense) expected[r] += books.bits() / 8;
                }
            }
            CHECK(bytes_sent_by(brought, dense ? "split_all_gather(dense)" : "split_all_gather(sparse)") == expected);
        }
}
