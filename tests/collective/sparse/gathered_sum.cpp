// SPDX-License-Identifier: Apache-2.0
// `gathered_sum` adds up all ranks' lists in the order of ranks, with as many bytes as documented.
#include "laconic/collective/sparse/gathered_sum.hpp"

#include "support/collective_sums.hpp"
#include "support/everything.hpp"

using namespace collective_sums;

static_assert(Collective<gathered_sum>);

TEST_CASE("ranks are added up in their order") {
    sv::lists<float> brought;
    for (float const v : {1.f, 0x1p24f, 1.f, -0x1p24f}) brought.push_back(sv::of<float>(3, {{1, v}}));
    for (auto const& v : after(brought, "gathered_sum"))
        CHECK(v == sv::of<float>(3, {{1, ((1.f + 0x1p24f) + 1.f) - 0x1p24f}}));
}

TEST_CASE("each rank sends every list but one") {
    for (int const n : {1, 2, 3, 5, 8}) {
        // In each step some lists of 4 + 320 bits.
        std::uint64_t bytes = 0;
        for (int distance = 1; distance < n; distance *= 2)
            bytes += (std::uint64_t(std::min(distance, n - distance)) * 324 + 7) / 8;
        CHECK(bytes_sent_by(sv::all_whole_numbers<float>(sv::shape::all, 10, 0, n), "gathered_sum") ==
              std::vector(std::size_t(n), bytes));
    }
}
