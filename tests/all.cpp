// SPDX-License-Identifier: Apache-2.0
// Every header of the library can be included at once.
#include "laconic/all.hpp"

#include "support/everything.hpp"

TEST_CASE("what stands in no other umbrella is in this one") {
    static_assert(version[0] == 0 && version[1] >= 1 && version[2] >= 0);
    std::vector<double> const x{3, -4, 0};
    reference by_definition;
    CHECK(first_non_finite(by_definition, std::span<double const>(x)) == 3);
    CHECK(check_compressor(top_k{2}).empty());
}
