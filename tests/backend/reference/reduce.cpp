// SPDX-License-Identifier: Apache-2.0
// Sums, the largest magnitude and the first non-finite number are the same bits on host and reference.
#include "laconic/backend/reference/reduce.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE_TEMPLATE("the first number that is not finite", T, float, double) {
    host fast;
    reference plain;
    for (std::size_t i = 0; i <= 40; ++i) {
        std::vector<T> x(40, T(1));
        if (i < 40) x[i] = i % 2 == 0 ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
        CHECK(first_non_finite(fast, std::span<T const>(x)) == i);
        CHECK(first_non_finite(plain, std::span<T const>(x)) == i);
    }
}

TEST_CASE_TEMPLATE("sums and the largest agree to the last bit", T, float, double) {
    host fast;
    reference plain;
    for (std::size_t d = 0; d <= 70; ++d) {
        std::vector<T> x(d);
        for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(key{d}.uniform(i) - 0.3);
        std::span<T const> const v(x);
        CHECK(sum_of_magnitudes(fast, v) == sum_of_magnitudes(plain, v));
        CHECK(sum_of_squares(fast, v) == sum_of_squares(plain, v));
        if constexpr (sizeof(T) == 4) CHECK(sum_of_squares_in_floats(fast, v) == sum_of_squares_in_floats(plain, v));
        for (double const scale : {1., 3., 0x1p-700})
            for (double const centre : {0., 0.25, -1e9}) {
                CHECK(sum_of_numbers(fast, v, scale, centre) == sum_of_numbers(plain, v, scale, centre));
                CHECK(sum_of_squares(fast, v, scale, centre) == sum_of_squares(plain, v, scale, centre));
            }
        CHECK(largest_magnitude(fast, v) == largest_magnitude(plain, v));
    }
}
