// SPDX-License-Identifier: Apache-2.0
// The shift's rate is that of the compressor's theorem, or the one that is given.
#include "laconic/reduction/shift_at_rate.hpp"

#include "support/everything.hpp"

static_assert(Reduction<shift_at_rate<top_k<>>, double>);

TEST_CASE("shift_at_rate: 1 for a contractive compressor, 1 / (1 + omega) for an unbiased one, or as given") {
    CHECK(shift_at_rate<top_k<>>{{2}}.rate(8) == 1);
    CHECK(shift_at_rate<rand_k<>>{{2}}.rate(8) == doctest::Approx(2 / 8.).epsilon(1e-15));
    CHECK(shift_at_rate<rand_k<>>{{2}, .125}.rate(8) == .125);
    CHECK(shift_at_rate<rand_k<>>{{2}}.feedback<double, host>(8).rate() == doctest::Approx(.25));
    CHECK(to_string(shift_at_rate<rand_k<>>{{2}, .125}) == "shift_at_rate(rand_k(2), alpha=0.125, over=gather)");
}
