// SPDX-License-Identifier: Apache-2.0
// Sums of buckets on the device have the reference's bits, over several stretches and levels.
#include "laconic/backend/device/sum.hpp"

#include "laconic/backend/device/reduce.hpp"
#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;

TEST_CASE_TEMPLATE("sums of more than one stretch, of buckets of one and of several", T, float, double) {
    device on;
    reference plain;
    for (std::size_t const d : {4095u, 4096u, 4097u, 8200u, 3 * 4096u * 17u + 5u}) {
        CAPTURE(d);
        auto const x = both::numbers<T>(both::kind::noise, d);
        auto const a = both::there(on, x);
        CHECK(both::same_bits(sum_of_squares(on, both::in(a)), sum_of_squares(plain, both::in(x))));
        for (std::size_t const bucket : {1000u, 4096u, 4097u, 3 * 4096u, 70'000u, 100'000u}) {
            CAPTURE(bucket);
            std::vector<double> expected;
            for (std::size_t i = 0; i < d; i += bucket)
                expected.push_back(sum_of_magnitudes(plain, both::in(x).subspan(i, std::min(bucket, d - i))));
            device::array<double> sums(detail::on_device::buckets_of(d, bucket));
            detail::on_device::add_buckets_up(on, both::in(a), bucket, detail::on_device::magnitude{}, sums.data());
            CHECK(both::same_bits(both::here(on, sums), expected));
        }
    }
}

TEST_CASE("a sum of three levels, and buckets of two and of three") {
    device on;
    reference plain;
    std::size_t const most = 4096 * 4096;
    std::vector<float> x(most + 4097);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<std::uint32_t>(i) * 2654435761u);
    auto const a = both::there(on, x);
    for (std::size_t const bucket : {most - 1, most, most + 1, most + 4096, x.size()}) {
        CAPTURE(bucket);
        std::vector<double> expected;
        for (std::size_t i = 0; i < x.size(); i += bucket)
            expected.push_back(sum_of_squares(plain, both::in(x).subspan(i, std::min(bucket, x.size() - i))));
        device::array<double> sums(expected.size());
        detail::on_device::add_buckets_up(on, both::in(a), bucket, detail::on_device::square{}, sums.data());
        CHECK(both::same_bits(both::here(on, sums), expected));
    }
}
