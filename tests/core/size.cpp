// SPDX-License-Identifier: Apache-2.0
// A partition's parts cover all coordinates in order and differ in length by one at most.
#include "laconic/core/size.hpp"

#include "support/everything.hpp"

static_assert(std::same_as<decltype(detail::as_size(std::uint64_t{3})), std::size_t>);
static_assert(detail::as_size(3) == 3 && detail::as_size(std::uint64_t{1} << 31) == std::size_t{1} << 31);
static_assert(detail::pieces_in(7u, 3) == 3 && detail::pieces_in(6u, 3) == 2 && detail::pieces_in(7u, 7) == 1);
static_assert(detail::pieces_in(std::uint64_t{7}, ~std::uint64_t{0}) == 1 && detail::pieces_in(0u, 3) == 0);

TEST_CASE("parts cover all coordinates, one after another, as equal as can be") {
    for (std::size_t const d : {0, 1, 6, 7, 100})
        for (std::size_t const n : {1, 2, 3, 7, 33}) {
            detail::partition const parts{d, n};
            CHECK(parts.first(0) == 0);
            CHECK(parts.first(n) == d);
            std::size_t most = 0, least = d;
            for (std::size_t p = 0; p < n; ++p) {
                CHECK(parts.first(p) + parts.length(p) == parts.first(p + 1));
                most = std::max(most, parts.length(p));
                least = std::min(least, parts.length(p));
            }
            CHECK(most - least <= 1);
        }
    CHECK(detail::partition{4294967295u, 4294967295u}.first(4294967294u) == 4294967294u);  // no product overflows
}

TEST_CASE("parts of a vector") {
    std::vector<float> x{0, 1, 2, 3, 4, 5, 6};
    detail::partition const parts{7, 3};
    CHECK(parts.of(std::span(x), 1).front() == 2);
    CHECK(parts.of(std::span(x), 1).size() == 2);
    CHECK(parts.of(std::span(x), 1, 2).size() == 5);
    CHECK(parts.of(std::span(x), 3, 0).empty());
}
