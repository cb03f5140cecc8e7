// SPDX-License-Identifier: Apache-2.0
// The device sorts, counts, thresholds, clips and raises magnitudes as the reference does.
#include "laconic/backend/device/magnitudes.hpp"

#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::kernels;
using both::here;
using both::in;

TEST_CASE_TEMPLATE("magnitudes are sorted and counted as the reference does", T, float, double) {
    device on;
    reference plain;
    device::array<T> sorted(3);
    std::vector<T> expected;
    both::each_finite_vector<T>([&](std::vector<T> const& x) {
        if (x.size() > 2100) return;  // there the reference takes long
        auto const a = both::there(on, x);
        sort_magnitudes(on, in(a), sorted);
        sort_magnitudes(plain, in(x), expected);
        CHECK(both::same_bits(here(on, sorted), expected));
        T const largest = largest_magnitude(plain, in(x));
        if (!(largest > 0)) return;
        for (std::size_t const bins : {std::size_t{0}, std::size_t{257}, std::size_t{magnitude_bins::count}}) {
            std::vector<std::uint32_t> counts(bins, 9), wanted(bins, 8);
            count_by_magnitude(on, in(a), largest, std::span(counts));
            count_by_magnitude(plain, in(x), largest, std::span(wanted));
            CHECK(counts == wanted);
        }
    });
}

TEST_CASE_TEMPLATE("magnitudes are shrunk, clipped and raised as the reference does", T, float, double) {
    device on;
    reference plain;
    both::each_vector<T>([&](std::vector<T> const& x) {
        for (T const by : {T(0), T(0.5), std::numeric_limits<T>::max()}) {
            auto a = both::there(on, x), b = a, c = a;
            auto d = x, e = x, f = x;
            soft_threshold(on, by, std::span<T>(a));
            soft_threshold(plain, by, std::span<T>(d));
            CHECK(both::same_bits(here(on, a), d));
            clip_magnitudes(on, by, std::span<T>(b));
            clip_magnitudes(plain, by, std::span<T>(e));
            CHECK(both::same_bits(here(on, b), e));
            raise_magnitudes(on, by, T(0.3), std::span<T>(c));
            raise_magnitudes(plain, by, T(0.3), std::span<T>(f));
            if (std::ranges::none_of(f, [](T v) { return std::isnan(v); }))  // which it is not meant for
                CHECK(both::same_bits(here(on, c), f));
        }
    });
}
