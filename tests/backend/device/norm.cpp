// SPDX-License-Identifier: Apache-2.0
// Norms of buckets on the device are those of `norm_of` on the reference, also where squares leave the range.
#include "laconic/backend/device/norm.hpp"

#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::kernels;

TEST_CASE_TEMPLATE("norms of buckets are norm_of()'s", T, float, double) {
    device on;
    reference plain;
    auto const check = [&](std::vector<T> const& x) {
        auto const a = both::there(on, x);
        for (auto const p : {p_norm::one, p_norm::two, p_norm::largest})
            for (std::size_t const bucket : {1u, 7u, 128u, 100000u}) {
                std::vector<T> expected;
                for (std::size_t i = 0; i < x.size(); i += bucket)
                    expected.push_back(norm_of(plain, p, both::in(x).subspan(i, std::min(bucket, x.size() - i))));
                device::array<T> norms(expected.size());
                detail::on_device::find_norms(on, both::in(a), bucket, p, norms.data());
                CHECK(both::same_bits(both::here(on, norms), expected));
            }
    };
    both::each_vector<T>(check);
    for (double const size :
         {1e-200, 1e-150, 1e-30, 1e-15, 1e15, 1e30, 1e150, 1e200}) {  // squares leave the range of T
        auto x = both::numbers<T>(both::kind::noise, 300);
        for (std::size_t i = 100; i < 200; ++i) x[i] = static_cast<T>(x[i] * size);
        check(x);
    }
}
