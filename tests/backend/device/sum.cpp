// SPDX-License-Identifier: Apache-2.0
// Sums of buckets on the device have the reference's bits, over several stretches and levels.
#include "laconic/backend/device/sum.hpp"

#include "laconic/backend/scales.hpp"
#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace {

template <class T>
void sums_are_the_references(device& on, std::vector<T> const& x, device::array<T> const& there, std::size_t bucket) {
    CAPTURE(x.size());
    CAPTURE(bucket);
    reference plain;
    std::vector<double> expected;
    detail::each_bucket(both::in(x), bucket, [&](std::size_t, std::size_t, std::span<T const> part) {
        expected.push_back(sum_of_squares(plain, part));
    });
    device::array<double> sums(expected.size());
    detail::on_device::add_buckets_up(on, both::in(there), bucket, detail::on_device::square{}, sums.data());
    CHECK(both::same_bits(both::here(on, sums), expected));
}

}  // namespace

TEST_CASE_TEMPLATE("sums of more than one stretch, of buckets of one and of several", T, float, double) {
    device on;
    for (std::size_t const d : {4095u, 4096u, 4097u, 8200u, 3 * 4096u * 17u + 5u}) {
        auto const x = both::numbers<T>(both::kind::noise, d);
        auto const a = both::there(on, x);
        for (std::size_t const bucket : {std::size_t{1000}, std::size_t{4096}, std::size_t{4097}, std::size_t{3 * 4096},
                                         std::size_t{70'000}, std::size_t{100'000}, d})
            sums_are_the_references(on, x, a, bucket);
    }
}

TEST_CASE("a sum of three levels, and buckets of two and of three") {
    device on;
    std::size_t const most = 4096 * 4096;
    std::vector<float> x(most + 4097);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<std::uint32_t>(i) * 2654435761u);
    auto const a = both::there(on, x);
    for (std::size_t const bucket : {most - 1, most, most + 1, most + 4096, x.size()})
        sums_are_the_references(on, x, a, bucket);
}
