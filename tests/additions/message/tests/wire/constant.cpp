// SPDX-License-Identifier: Apache-2.0
// A constant takes the bits of one number, and comes back from the self-describing form.
#include "laconic/wire/constant.hpp"

#include <doctest/doctest.h>

#include "laconic/backend/host.hpp"
#include "laconic/wire/described.hpp"
#include "laconic/wire/message.hpp"

TEST_CASE("a constant of 1000 numbers takes 64 bits") {
    laconic::messages::constant<double, laconic::host> const m{1000, 5};
    CHECK(laconic::wire::bits(m) == 64);
}
