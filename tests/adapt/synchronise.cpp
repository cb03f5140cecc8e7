// SPDX-License-Identifier: Apache-2.0
#include "laconic/adapt/synchronise.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "laconic/compress/rand_k.hpp"

using namespace laconic;

static_assert(Level<synchronise, identity_or<identity>>);

static_assert(Level<synchronise, identity_or<rand_k<>>> && Level<synchronise, identity_or<rand_k<>>, float>);

TEST_CASE("the compressor speaks in full exactly where everybody does") {
    host on;
    identity_or c{rand_k{1}};
    std::vector<double> const x{1, 2};
    int full = 0;
    for (std::uint64_t round = 0; round < 100; ++round) {
        auto const now = round_context::of(key{1}, round, 1, 3);
        for (int again = 0; again < 2; ++again) {
            synchronise{.5}.tune(on, c, now, std::span<double const>(x), std::span<double const>(x));
            CHECK(c.in_full == sends_in_full(now, .5));
        }
        full += c.in_full;
    }
    CHECK(full > 25);
    CHECK(full < 75);
    CHECK(to_string(synchronise{.5}) == "synchronise(0.5)");
}
