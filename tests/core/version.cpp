// SPDX-License-Identifier: Apache-2.0
#include "laconic/core/version.hpp"

#include <doctest/doctest.h>

TEST_CASE("the version is made of constants, none negative") {
    static_assert(laconic::version_major >= 0 && laconic::version_minor >= 0 && laconic::version_patch >= 0);
    CHECK(laconic::version_major + laconic::version_minor + laconic::version_patch > 0);
}
