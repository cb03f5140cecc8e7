// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/device/system.hpp"

#include <doctest/doctest.h>

using namespace laconic;

TEST_CASE("memory of the device: cleared, copied there and back") {
    namespace here = detail::on_device;
    auto* const p = static_cast<int*>(here::allocate(3 * sizeof(int)));
    int const from[] = {1, 2, 3};
    int to[] = {7, 7, 7};
    here::copy_and_wait(from, p, sizeof from);
    here::clear_and_wait(p + 1, sizeof(int));
    here::copy_and_wait(p, to, sizeof to);
    here::release(p);
    CHECK(to[0] == 1);
    CHECK(to[1] == 0);
    CHECK(to[2] == 3);
    here::release(nullptr);
}
