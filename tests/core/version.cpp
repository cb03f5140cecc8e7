// SPDX-License-Identifier: Apache-2.0
// The version that the build read is that of the header's constants.
#include "laconic/core/version.hpp"

#include "support/everything.hpp"

#ifndef LACONIC_BUILT_VERSION
#    define LACONIC_BUILT_VERSION ""  // where no build says what it read
#endif

// CMake reads it from the header's text, and packages carry what it read.
TEST_CASE("the build's version is that of the constants") {
    std::string const built = LACONIC_BUILT_VERSION;
    if (built.empty()) {
        MESSAGE("skipped: LACONIC_BUILT_VERSION has no version");
        return;
    }
    using laconic::version;
    CHECK(std::to_string(version[0]) + "." + std::to_string(version[1]) + "." + std::to_string(version[2]) == built);
}
