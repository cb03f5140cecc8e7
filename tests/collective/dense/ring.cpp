// SPDX-License-Identifier: Apache-2.0
// `ring` adds up any number of ranks' vectors, part p from rank p on, and sends all parts but one twice.
#include "laconic/collective/dense/ring.hpp"

#include <doctest/doctest.h>

#include "support/dense_sums.hpp"

using namespace laconic;

static_assert(Collective<ring>);

namespace {

constexpr auto make_ring = []<class T>(auto& comm, std::size_t d) { return make_sum<T>(ring{}, comm, d); };

}  // namespace

TEST_CASE("sums of floats by a ring") { dense_sums::sums_are_right<float>(make_ring); }
TEST_CASE("sums of doubles by a ring") { dense_sums::sums_are_right<double>(make_ring); }

TEST_CASE("part p is added up from rank p on") {
    std::size_t const d = 12;
    auto const all = dense_sums::fractions<double>(d, 4), sums = dense_sums::after(all, make_ring);
    for (std::size_t i = 0; i < d; ++i) {
        auto const p = i / 3;
        CHECK(sums[0][i] == ((all[p][i] + all[(p + 1) % 4][i]) + all[(p + 2) % 4][i]) + all[(p + 3) % 4][i]);
    }
}

TEST_CASE("each rank sends all parts but one twice") {
    for (int const n : {1, 2, 3, 5, 8})
        for (std::size_t const d : {0, 3, 40, 41}) {
            std::vector<std::uint64_t> sent(std::size_t{16});
            dense_sums::after(dense_sums::whole_numbers<float>(d, n), make_ring, &sent);
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

TEST_CASE("what a ring refuses") { dense_sums::refuses(make_ring); }

TEST_CASE("long parts go in pieces") { dense_sums::long_parts(make_ring); }
