// SPDX-License-Identifier: Apache-2.0
// The variance that rounding adds is the same bits on host and reference.
#include "laconic/backend/reference/rounding_variance.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE_TEMPLATE("it agrees with the host's to the last bit", T, float, double) {
    host fast;
    reference plain;
    for (std::size_t d = 0; d <= 70; ++d)
        for (T const step : {T(1), T(.1), T(3e-5)}) {
            std::vector<T> x(d);
            for (std::size_t i = 0; i < d; ++i)
                x[i] = static_cast<T>(key{d}.uniform(i) - .5) * (i % 3 == 0 ? T(1e-3) : T(1));
            std::span<T const> const v(x);
            CHECK(rounding_variance(fast, v, step) == rounding_variance(plain, v, step));
        }
    T const tiny = std::numeric_limits<T>::denorm_min();
    std::vector<T> const least{tiny, -2 * tiny, 3 * tiny};
    CHECK(rounding_variance(fast, std::span<T const>(least), 2 * tiny) == .5);
    CHECK(rounding_variance(plain, std::span<T const>(least), 2 * tiny) == .5);
}
