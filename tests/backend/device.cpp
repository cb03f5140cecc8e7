// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/device.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "backend/device/both.hpp"

using namespace laconic;

TEST_CASE("one device serves floats and doubles in turn, and may be moved") {
    device on;
    auto const f = both::there(on, std::vector<float>{1, -5, 2});
    auto const d = both::there(on, std::vector<double>{1, -5, 2, 9});
    device::array<coordinate> at;
    select_largest(on, both::in(f), 2, at);
    CHECK(both::here(on, at) == both::coordinates{1, 2});
    select_largest(on, both::in(d), 2, at);
    CHECK(both::here(on, at) == both::coordinates{1, 3});
    device moved = std::move(on);
    select_largest(moved, both::in(f), 1, at);
    CHECK(both::here(moved, at) == both::coordinates{1});
}
