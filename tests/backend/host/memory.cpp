// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/host/memory.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace laconic;

static_assert(std::is_same_v<host::array<double>, std::vector<double>>);

TEST_CASE("scratch memory is as long as asked for, aligned, and the two slots are apart") {
    host on;
    auto const a = on.scratch<double>(0, 100);
    auto const b = on.scratch<std::uint8_t>(1, 7);
    REQUIRE(a.size() == 100);
    REQUIRE(b.size() == 7);
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % alignof(double) == 0);
    for (auto& v : a) v = 1.5;
    for (auto& v : b) v = 0xff;
    for (double const v : a) CHECK(v == 1.5);
    CHECK(on.scratch<float>(0, 0).empty());
}

TEST_CASE("scratch memory grows and is then kept: no allocation for as much or less") {
    host on;
    auto const* const first = on.scratch<std::uint64_t>(0, 1000).data();
    CHECK(static_cast<void const*>(on.scratch<std::uint32_t>(0, 2000).data()) == first);
    CHECK(static_cast<void const*>(on.scratch<std::uint8_t>(0, 3).data()) == first);
    CHECK(on.scratch<std::uint64_t>(0, 1000).data() == first);
    auto const larger = on.scratch<std::uint64_t>(0, 5000);
    larger[4999] = 1;  // for the address sanitizer
    CHECK(larger.size() == 5000);
}
