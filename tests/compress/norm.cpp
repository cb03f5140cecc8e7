// SPDX-License-Identifier: Apache-2.0
// A norm is at least the largest magnitude, and norm_ratio is a bound that worst vectors attain.
#include "laconic/compress/norm.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using namespace laconic;

namespace {

template <class T>
T of(p_norm p, std::vector<T> const& x) {
    host on;
    return kernels::norm_of(on, p, std::span<T const>(x));
}

}  // namespace

TEST_CASE("the norm is at least the largest magnitude, and the ratio is a bound that is attained") {
    for (std::uint64_t k = 0; k < 200; ++k) {
        auto const x = laws::noise<float>(1 + k % 9, k, 3);
        double const square = laws::energy(x), sum = static_cast<double>(of(p_norm::one, x));
        if (square == 0) continue;
        for (p_norm p : {p_norm::one, p_norm::two, p_norm::largest}) {
            CHECK(of(p, x) >= of(p_norm::largest, x));
            CHECK(static_cast<double>(of(p, x)) * sum <=
                  detail::norm_ratio(p, static_cast<double>(x.size())) * square * (1 + 1e-6));
        }
    }
    std::vector<double> const equal(16, -2.0);
    CHECK(of(p_norm::one, equal) * 32 == detail::norm_ratio(p_norm::one, 16) * 64);
    CHECK(of(p_norm::two, equal) * 32 == detail::norm_ratio(p_norm::two, 16) * 64);
    std::vector<double> worst(16, 0.2);  // 1 / (1 + sqrt 16)
    worst[5] = 1;
    CHECK(of(p_norm::one, worst) ==
          doctest::Approx(detail::norm_ratio(p_norm::largest, 16) * laws::energy(worst)).epsilon(1e-14));
}
