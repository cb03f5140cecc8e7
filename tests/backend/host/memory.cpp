// SPDX-License-Identifier: Apache-2.0
// Scratch memory is apart for each use and kept once it has grown; copies and fills change what they name.
#include "laconic/backend/host/memory.hpp"

#include "support/everything.hpp"

using namespace laconic;

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

TEST_CASE("copies and fills within the backend, to the host and from there; what the host can read stays where it is") {
    host on;
    std::vector<std::uint16_t> const from{1, 2, 3};
    std::span<std::uint16_t const> const source(from);
    std::vector<std::uint16_t> to(3), back(3), there(3);
    copy(on, source, std::span(to));
    copy_to_host(on, source, std::span(back));
    copy_from_host(on, source, std::span(there));
    CHECK(to == from);
    CHECK(back == from);
    CHECK(there == from);
    fill(on, std::span(to).first(2), std::uint16_t{7});
    CHECK(to == std::vector<std::uint16_t>{7, 7, 3});
    CHECK(on_host(on, source).data() == from.data());
    CHECK(on_host(on, source).size() == 3);
}
