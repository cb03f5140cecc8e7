// SPDX-License-Identifier: Apache-2.0
// width_of is the least width that tells n things apart, and dimensions above 2^32 - 1 are refused.
#include "laconic/core/term.hpp"

#include "support/everything.hpp"

static_assert(std::is_trivially_copyable_v<term<float>> && sizeof(term<float>) == 8);
static_assert(detail::largest_dimension == 4294967295u);

TEST_CASE("width_of is the least width that tells n things apart") {
    CHECK(detail::width_of(0) == 0);
    CHECK(detail::width_of(1) == 0);
    CHECK(detail::width_of(2) == 1);
    CHECK(detail::width_of(3) == 2);
    CHECK(detail::width_of(784) == 10);
    CHECK(detail::width_of(~std::uint64_t{0}) == 64);
    for (unsigned w = 1; w < 64; ++w) {
        std::uint64_t const n = std::uint64_t{1} << w;
        CHECK(detail::width_of(n) == w);
        CHECK(detail::width_of(n + 1) == w + 1);
    }
}

TEST_CASE("2^32 - 1 dimensions are the most") {
    CHECK_NOTHROW(check_dimension(0xffffffffu));
    CHECK_THROWS_WITH_AS(check_dimension(std::uint64_t{1} << 32),
                         "more than 2^32 - 1 dimensions: 4294967296; split the vector, so that each part has at most "
                         "2^32 - 1 numbers",
                         argument_error);
}
