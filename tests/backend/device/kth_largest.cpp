// SPDX-License-Identifier: Apache-2.0
// `find_cutoff` finds the k-th largest magnitude, and which ties at it are chosen.
#include "laconic/backend/device/kth_largest.hpp"

#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;

TEST_CASE_TEMPLATE("the k-th largest magnitude, and whether all that have it are chosen", T, float, double) {
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
    // No more digits are looked at than tell the one five from the other, or both from the rest.
    auto const one = found(x, 1, false), both_fives = found(x, 2, false);
    CHECK(one.found == 0);
    CHECK(one.missing == 1);
    CHECK(one.is_tie(magnitude_bits(T(5))));
    CHECK_FALSE(one.chooses(magnitude_bits(T(5))));
    CHECK(both_fives.found == 1);
    CHECK(both_fives.chooses(magnitude_bits(T(5))));
    CHECK_FALSE(both_fives.chooses(magnitude_bits(T(3))));
    CHECK_FALSE(both_fives.is_tie(magnitude_bits(T(3))));
}
