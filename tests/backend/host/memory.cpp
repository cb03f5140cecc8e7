// SPDX-License-Identifier: Apache-2.0
// Scratch memory is apart for each use and kept once it has grown; copies and fills change what they name.
#include "laconic/backend/host/memory.hpp"

#include "support/everything.hpp"

static_assert(std::is_same_v<host::array<double>, std::vector<double>>);

TEST_CASE("scratch memory is as long as asked for, aligned, and different uses are apart") {
    host on;
    auto const a = on.scratch<double>(detail::scratch_for::numbers, 100);
    auto const b = on.scratch<std::uint8_t>(detail::scratch_for::marks, 7);
    REQUIRE(a.size() == 100);
    REQUIRE(b.size() == 7);
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % alignof(double) == 0);
    for (auto& v : a) v = 1.5;
    for (auto& v : b) v = 0xff;
    for (double const v : a) CHECK(v == 1.5);
    CHECK(on.scratch<float>(detail::scratch_for::numbers, 0).empty());
}

TEST_CASE("scratch memory grows and is then kept: no allocation for as much or less") {
    host on;
    auto const* const first = on.scratch<std::uint64_t>(detail::scratch_for::numbers, 1000).data();
    CHECK(static_cast<void const*>(on.scratch<std::uint32_t>(detail::scratch_for::numbers, 2000).data()) == first);
    CHECK(static_cast<void const*>(on.scratch<std::uint8_t>(detail::scratch_for::numbers, 3).data()) == first);
    CHECK(on.scratch<std::uint64_t>(detail::scratch_for::numbers, 1000).data() == first);
    auto const larger = on.scratch<std::uint64_t>(detail::scratch_for::numbers, 5000);
    larger[4999] = 1;  // for the address sanitizer
    CHECK(larger.size() == 5000);
}
