// SPDX-License-Identifier: Apache-2.0
// The histogram puts each magnitude into the bin of its square, the same at any power of two and backend.
#include "laconic/compress/histogram.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

template <class B = host, class T>
detail::histogram of(std::vector<T> const& x) {
    B on;
    detail::histogram h;
    h.fill(on, std::span<T const>(x), largest_magnitude(on, std::span<T const>(x)));
    return h;
}

}  // namespace

TEST_CASE_TEMPLATE("every number is in the bin that stands for it, the smallest in none", T, float, double) {
    std::vector<T> x{3, -0x1p-40, -0x1p-46, 0x1p-47, 0, 1.5, -0x1p-17, T(2.9999)};
    auto const h = of(x);
    CHECK(std::accumulate(h.counts.begin(), h.counts.end(), std::size_t{0}) == 6);
    std::sort(x.begin(), x.end(), [](T a, T b) { return std::abs(a) > std::abs(b); });
    auto next = x.begin();
    for (std::size_t b = 0; b < h.counts.size(); ++b)
        for (std::uint32_t n = 0; n < h.counts[b]; ++n, ++next) {
            double const square = double(*next) / 2 * double(*next) / 2;  // where the largest is in [1, 2)
            CHECK(square <= h.bins.square(b) * (1 + 0x1p-8));
            CHECK(square >= h.bins.square(b) / (1 + 0x1p-8));
        }
    CHECK(h.counts == of<reference>(x).counts);
}

TEST_CASE("of floats and of the same doubles, and at any power of two, it is the same") {
    std::vector<float> x, huge, subnormal;
    std::vector<double> wide;
    for (int i = 1; i < 2000; ++i) {
        x.push_back(std::ldexp(float(i * i % 1009), i % 30));
        wide.push_back(x.back());
        huge.push_back(std::ldexp(x.back(), 80));
        subnormal.push_back(std::ldexp(x.back(), -149));
    }
    auto const counts = of(x).counts;
    CHECK(of(wide).counts == counts);
    CHECK(of(huge).counts == counts);
    CHECK(of(subnormal).counts == counts);
    for (double& v : wide) v = std::ldexp(v, -1074);
    CHECK(of(wide).counts == counts);
}
