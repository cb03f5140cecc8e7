// SPDX-License-Identifier: Apache-2.0
// A `device_array` grows with zeros, keeps its memory and copies, moves and compares like a vector.
#include "laconic/backend/device/array.hpp"

#include <new>

#include "laconic/backend/device/memory.hpp"
#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::kernels;

static_assert(std::semiregular<device_array<double>>);
static_assert(std::convertible_to<device_array<double>&, std::span<double>>);
static_assert(std::convertible_to<device_array<double> const&, std::span<double const>>);

TEST_CASE("an array grows with zeros, keeps its memory, and is what a vector would be") {
    device on;
    device_array<std::int16_t> a;
    CHECK(a.empty());
    CHECK(a.size() == 0);
    a.resize(3);
    CHECK(both::here(on, a) == std::vector<std::int16_t>{0, 0, 0});
    a.assign(4, 7);
    CHECK(both::here(on, a) == std::vector<std::int16_t>{7, 7, 7, 7});
    auto const* const memory = a.data();
    a.resize(2);
    auto const waits = detail::on_device::interrupted.waits;
    a.resize(4);  // as it was left, and nobody waits
    CHECK(detail::on_device::interrupted.waits == waits);
    CHECK(a.data() == memory);
    CHECK(both::here(on, a) == std::vector<std::int16_t>{7, 7, 7, 7});
    a.resize(5);
    CHECK(both::here(on, a) == std::vector<std::int16_t>{7, 7, 7, 7, 0});
    CHECK(a.end() - a.begin() == 5);
    a.resize(2);
    a.reserve(9);
    a.resize(9);
    CHECK(both::here(on, a) == std::vector<std::int16_t>{7, 7, 0, 0, 0, 0, 0, 0, 0});
    CHECK(both::here(on, device_array<std::int16_t>(2)) == std::vector<std::int16_t>{0, 0});
}

TEST_CASE("arrays are copied, moved, swapped and compared") {
    device on;
    auto a = both::there(on, std::vector<float>{1, 2, 3}), b = a;
    CHECK(a == b);
    b.resize(2);
    CHECK(a != b);
    a = b;
    CHECK(both::here(on, a) == std::vector<float>{1, 2});
    auto const* const memory = a.data();
    device_array<float> c = std::move(a);
    CHECK(c.data() == memory);
    swap(b, c);
    CHECK(b.data() == memory);
    CHECK(b == c);
    b.assign(2, -0.0f);
    c.assign(2, 0.0f);
    CHECK(b == c);  // as numbers
    c = std::move(b);
    CHECK(c.data() == memory);
    CHECK(device_array<float>() == device_array<float>());
}

TEST_CASE("more numbers than there are addresses are refused, and the array is as it was") {
    device on;
    auto a = both::there(on, std::vector<double>{1, 2});
    for (auto const n : {std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max() / 8 + 1})
        CHECK_THROWS_AS(a.resize(n), std::bad_alloc);
    CHECK(both::here(on, a) == std::vector<double>{1, 2});
}
