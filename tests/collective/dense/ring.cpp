// SPDX-License-Identifier: Apache-2.0
// `ring` adds up part p from rank p on, and sends all parts but one twice; ../collectives.cpp has what all sums promise.
#include "laconic/collective/dense/ring.hpp"

#include "support/collective_sums.hpp"
#include "support/everything.hpp"

using namespace collective_sums;

static_assert(Collective<ring>);

TEST_CASE("part p is added up from rank p on") {
    std::size_t const d = 12;
    auto const all = whole_numbers<double>(d, 4, 7), sums = after(all, "ring");
    for (std::size_t i = 0; i < d; ++i) {
        auto const p = i / 3;
        CHECK(sums[0][i] == ((all[p][i] + all[(p + 1) % 4][i]) + all[(p + 2) % 4][i]) + all[(p + 3) % 4][i]);
    }
}

TEST_CASE("each rank sends all parts but one twice") {
    for (int const n : {1, 2, 3, 5, 8})
        for (std::size_t const d : {0, 3, 40, 41}) {
            auto const sent = bytes_sent_by(whole_numbers<float>(d, n), "ring");
            std::uint64_t all = 0;
            for (std::size_t r = 0; r < std::size_t(n); ++r) {
                all += sent[r];
                // First all but part r + 1, which it completes, then all but part r + 2.
                detail::partition const parts{d, std::size_t(n)};
                auto const without = [&](std::size_t p) { return d - parts.length(p % std::size_t(n)); };
                CHECK(sent[r] == 4 * (without(r + 1) + without(r + 2)));
            }
            CHECK(all == 4 * 2 * (std::size_t(n) - 1) * d);
        }
}
