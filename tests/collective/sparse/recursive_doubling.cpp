// SPDX-License-Identifier: Apache-2.0
// `recursive_doubling` adds up lists in its order of pairs, each rank sending its partial sums.
#include "laconic/collective/sparse/recursive_doubling.hpp"

#include "support/collective_sums.hpp"
#include "support/everything.hpp"

using namespace collective_sums;

static_assert(Collective<recursive_doubling>);

TEST_CASE("the pairs in which ranks are added up") {
    sv::lists<double> brought;
    for (double const v : {1e16, 1., -1e16, 3., 5., 1.}) brought.push_back(sv::of<double>(1, {{0, v}}));
    // 4 and 5 join 0 and 1: 1e16 + 5 is 1e16 + 4, ties to even; then 0 meets 1 and 2 meets 3.
    double const a = 1e16 + 5., b = 1. + 1., c = -1e16 + 3.;
    for (auto const& v : after(brought, "recursive_doubling")) CHECK(v.values()[0] == (a + b) + c);
    CHECK((a + b) + c != 9);
}

TEST_CASE("each rank sends all that it has added up so far") {
    host on;
    std::size_t const d = 300;
    for (int const n : {1, 2, 3, 4, 7, 8}) {
        auto const brought = sv::all_whole_numbers<float>(sv::shape::spread, d, 20, n);
        auto const q = std::size_t(n < 2 ? 1 : n < 4 ? 2 : n < 8 ? 4 : 8), all = std::size_t(n);
        auto const size = [](sparse_sum<float> const& v) { return bits(v.message()) / 8; };
        std::vector<std::uint64_t> expected(all);
        auto at = brought;
        for (std::size_t r = q; r < all; ++r) {
            expected[r] = size(at[r]);
            at[r - q].add(on, at[r]);
        }
        for (std::size_t distance = 1; distance < q; distance *= 2) {
            auto const before = at;
            for (std::size_t r = 0; r < q; ++r) {
                expected[r] += size(before[r]);
                at[r].add(on, before[r ^ distance]);
            }
        }
        for (std::size_t r = q; r < all; ++r) expected[r - q] += size(at[0]);
        CHECK(bytes_sent_by(brought, "recursive_doubling") == expected);
    }
    // In full: nothing but a count of 9 bits and the numbers, log2 P times.
    auto const full = sv::all_whole_numbers<float>(sv::shape::all, d, 0, 8);
    for (auto const bytes : bytes_sent_by(full, "recursive_doubling")) CHECK(bytes == 3 * ((9 + 32 * d + 7) / 8));
}
