// SPDX-License-Identifier: Apache-2.0
// The bounds of `magnitude_bins` descend by at most 1 + 2^-7, begin at the largest magnitude and ignore the scale.
#include "laconic/backend/magnitude_bins.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::kernels;

TEST_CASE("the bins from that of 1, of 1.5 and of 2 - 2^-30 down, by hand") {
    magnitude_bins const one(1), half(1.5), two(2 - 0x1p-30);
    CHECK(one.square(0) == 257. / 256);
    CHECK(one.square(1) == 511. / 512);  // [511 / 512, 1)
    CHECK(one.square(2) == 511. * 510 / (512 * 512));
    CHECK(one.square(256) == 257. / 1024);
    CHECK(half.square(0) == 384. * 385 / 65536);
    CHECK(half.square(128) == 257. / 256);
    CHECK(half.square(129) == 511. / 512);
    CHECK(two.square(0) == 511. / 128);
    CHECK(two.square(255) == 257. / 256);
    CHECK(one.square(magnitude_bins::count - 1) == 257. * 258 / 65536 * 0x1p-96);
}

TEST_CASE("they descend by a factor of 1 + 2^-7 at most, and know no scale") {
    for (double const largest : {1., 1.7, 3., 1e300, 5e-324, double(std::numeric_limits<float>::max())}) {
        magnitude_bins const bins(largest), twice(largest / 2);
        for (std::size_t b = 1; b < magnitude_bins::count; ++b) {
            double const ratio = bins.square(b - 1) / bins.square(b);
            REQUIRE((ratio > 1 && ratio <= 1 + 0x1p-7));
            if (largest > 1e-300) REQUIRE(bins.square(b) == twice.square(b));
        }
    }
}
