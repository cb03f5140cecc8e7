// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/device/kth_largest.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "backend/device/both.hpp"

using namespace laconic;

TEST_CASE_TEMPLATE("the k-th largest magnitude, and of equal ones the last that is chosen", T, float, double) {
    device on;
    using namespace detail::on_device;
    auto const found = [&](std::vector<T> const& x, std::size_t k, bool only_magnitude) {
        auto const a = both::there(on, x);
        return fetched(on, find_cutoff(on, both::in(a), k, only_magnitude));
    };
    std::vector<T> const x{1, -5, 3, 5, -3, 0};
    CHECK(found(x, 1, true).magnitude == magnitude_bits(T(5)));
    CHECK(found(x, 3, true).magnitude == magnitude_bits(T(3)));
    CHECK(found(x, 6, true).magnitude == 0);
    CHECK(found(x, 1, false).magnitude == magnitude_bits(T(5)));
    CHECK(found(x, 1, false).last < 3);
    CHECK(found(x, 1, false).last >= 1);
    // Both fives: no more digits are looked at than tell them from the rest.
    CHECK(found(x, 2, false).magnitude <= magnitude_bits(T(5)));
    CHECK(found(x, 2, false).magnitude > magnitude_bits(T(3)));
    CHECK(found(x, 2, false).last == std::numeric_limits<coordinate>::max());
}
