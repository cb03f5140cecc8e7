// SPDX-License-Identifier: Apache-2.0
// Sums, extremes and the first non-finite number on the device have the reference's bits.
#include "laconic/backend/device/reduce.hpp"

#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;
using both::same_bits;

TEST_CASE_TEMPLATE("numbers about a vector have the reference's bits", T, float, double) {
    device on;
    reference plain;
    both::each_vector<T>([&](std::vector<T> const& x) {
        auto const a = both::there(on, x);
        auto const v = both::in(a), w = both::in(x);
        CHECK(same_bits(sum_of_magnitudes(on, v), sum_of_magnitudes(plain, w)));
        CHECK(same_bits(sum_of_squares(on, v), sum_of_squares(plain, w)));
        if constexpr (sizeof(T) == 4)
            CHECK(same_bits(sum_of_squares_in_floats(on, v), sum_of_squares_in_floats(plain, w)));
        CHECK(same_bits(largest_magnitude(on, v), largest_magnitude(plain, w)));
        auto const sums = sums_by_sign(on, v), expected = sums_by_sign(plain, w);
        CHECK(same_bits(sums.first, expected.first));
        CHECK(same_bits(sums.second, expected.second));
        CHECK(first_non_finite(on, v) == first_non_finite(plain, w));
        for (double const centre : {0., 0.7}) {
            CHECK(same_bits(sum_of_squares(on, v, 1e300, centre), sum_of_squares(plain, w, 1e300, centre)));
            CHECK(same_bits(sum_of_numbers(on, v, 0.3, centre), sum_of_numbers(plain, w, 0.3, centre)));
        }
    });
}

TEST_CASE_TEMPLATE("the first number that is not finite, at every place", T, float, double) {
    device on;
    for (std::size_t i = 0; i <= 70; ++i) {
        std::vector<T> x(70, T(1));
        if (i < 70) x[i] = x[69] = std::numeric_limits<T>::infinity();
        CHECK(first_non_finite(on, both::in(both::there(on, x))) == i);
    }
}

TEST_CASE_TEMPLATE("numbers keep their order as integers, and come back", T, float, double) {
    using namespace detail::on_device;
    T const all[] = {-std::numeric_limits<T>::max(), -1, -std::numeric_limits<T>::denorm_min(), 0, T(1e-30), 2};
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(from_ordered_bits<T>(ordered_bits(all[i])) == all[i]);
        if (i > 0) CHECK(ordered_bits(all[i - 1]) < ordered_bits(all[i]));
    }
    CHECK(ordered_bits(T(-0.0)) == ordered_bits(T(0)));
    CHECK(ordered_bits(-std::numeric_limits<T>::infinity()) > 0);
}
