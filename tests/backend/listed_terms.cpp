// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/listed_terms.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

using namespace laconic;

TEST_CASE("listed terms are free to copy, and made of arrays where they lie") {
    static_assert(std::is_trivially_copyable_v<listed_terms<float>>);
    std::vector<coordinate> const at{1, 5};
    std::vector<float> const values{2, -3};
    listed_terms<float> const v{at, values};
    CHECK(v.at.data() == at.data());
    CHECK(v.values.data() == values.data());
    CHECK(v.values.size() == 2);
}
