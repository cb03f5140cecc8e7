// SPDX-License-Identifier: Apache-2.0
// The device draws the coordinates that the reference draws, whatever the dimension and the count.
#include "laconic/backend/device/sample.hpp"

#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;

TEST_CASE("the first different numbers of the stream, or all but these, on both sides of every border") {
    device on;
    reference plain;
    device::array<coordinate> out(3);
    both::coordinates expected;
    constexpr auto few = detail::on_device::worth_a_bitmap;
    auto const check = [&](std::size_t d, std::size_t k) {
        CAPTURE(d);
        CAPTURE(k);
        sample(on, key{d}.child(k), d, k, out);
        sample(plain, key{d}.child(k), d, k, expected);
        CHECK(both::here(on, out) == expected);
    };
    for (std::size_t const d : {0u, 1u, 2u, 5u, 64u, 100u})
        for (std::size_t k = 0; k <= d; ++k) check(d, k);
    for (std::size_t const d : {few, 2 * few - 1, 2 * few, 10 * few, 10 * few + 1, 1000 * few})
        for (std::size_t const k : {std::size_t{1}, d / few - 1, d / few, d / few + 1, d / 2, d / 2 + 1, d - 1})
            check(d, k);
}

TEST_CASE("the largest dimension costs nothing for a few coordinates") {
    device on;
    device::array<coordinate> out;
    std::set<coordinate> first;
    for (std::uint64_t n = 0; first.size() < 1000; ++n)
        first.insert(static_cast<coordinate>(key{3}.below(n, detail::largest_dimension)));
    sample(on, key{3}, detail::largest_dimension, 1000, out);
    CHECK(both::here(on, out) == both::coordinates(first.begin(), first.end()));
}

TEST_CASE("each coordinate by its own word") {
    device on;
    reference plain;
    device::array<coordinate> out;
    both::coordinates expected;
    for (std::size_t const d : both::lengths)
        for (double const p : {0.0, 0.3, 1.0}) {
            sample_each(on, key{d}, d, p, out);
            sample_each(plain, key{d}, d, p, expected);
            CHECK(both::here(on, out) == expected);
        }
}

TEST_CASE_TEMPLATE("drawn in proportion to their magnitude, as the reference draws", T, float, double) {
    device on;
    reference plain;
    device::array<coordinate> out;
    both::coordinates expected;
    both::each_finite_vector<T>([&](std::vector<T> const& x) {
        auto const a = both::there(on, x);
        for (T const bound : {T(0), T(0.5), T(4)}) {
            sample_in_proportion(on, both::in(a), bound, key{5}, out);
            sample_in_proportion(plain, both::in(x), bound, key{5}, expected);
            CHECK(both::here(on, out) == expected);
        }
    });
}
