// SPDX-License-Identifier: Apache-2.0
// Device memory is reused piece by piece, apart for each use, and copies and fills change what they name.
#include "laconic/backend/device/memory.hpp"

#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;

static_assert(std::movable<device>);

TEST_CASE("scratch memory grows, is then kept, and is apart for different uses") {
    device on;
    using detail::on_device::scratch_for;
    auto const first = on.scratch<std::uint64_t>(scratch_for::sums, 1000);
    REQUIRE(first.size() == 1000);
    CHECK(static_cast<void*>(on.scratch<float>(scratch_for::sums, 2000).data()) == first.data());
    CHECK(on.scratch<std::uint64_t>(scratch_for::marks, 1000).data() != first.data());
    CHECK(on.scratch<std::uint64_t>(scratch_for::sums, 5000).size() == 5000);
    device moved = std::move(on);
    CHECK(moved.scratch<std::uint64_t>(scratch_for::sums, 5000).size() == 5000);
}

TEST_CASE("memory that algorithms ask for is given again, the smallest piece that is enough") {
    detail::on_device::arena some;
    char* const small = some.allocate(10);
    char* const large = some.allocate(1000);
    some.deallocate(large, 1000);
    some.deallocate(small, 10);
    CHECK(some.allocate(5) == small);
    CHECK(some.allocate(5) == large);
    CHECK(some.allocate(5) != small);
}

TEST_CASE("where no free piece is enough, the largest of them grows") {
    detail::on_device::arena some;
    char* const small = some.allocate(10);
    char* const taken = some.allocate(100);
    char* const larger = some.allocate(20);
    some.deallocate(small, 10);
    some.deallocate(larger, 20);
    char* const grown = some.allocate(50);
    CHECK(grown != taken);
    CHECK(some.allocate(10) == small);
    some.deallocate(grown, 50);
    CHECK(some.allocate(15) == grown);  // there is no piece of 20 left over
}
