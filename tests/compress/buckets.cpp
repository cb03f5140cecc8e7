// SPDX-License-Identifier: Apache-2.0
// Bucket lengths are right for vectors of any length, and norm_ratio is a bound that worst vectors attain.
#include "laconic/compress/buckets.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

TEST_CASE("lengths of buckets: as a message has it, and as values come; of a bucket for all it is that of the vector") {
    struct {
        std::size_t bucket, d, of_message, longest;
    } const rows[] = {
        {0, 7, 7, 7}, {3, 7, 3, 3}, {100, 7, 100, 7}, {3, 0, 3, 1}, {0, 0, 1, 1},
    };
    for (auto const& row : rows) {
        CHECK(detail::bucket_of(row.bucket, row.d) == row.of_message);
        CHECK(detail::longest_bucket(row.bucket, row.d) == row.longest);
    }
}

template <class T>
T of(p_norm p, std::vector<T> const& x) {
    host on;
    return kernels::norm_of(on, p, std::span<T const>(x));
}

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
