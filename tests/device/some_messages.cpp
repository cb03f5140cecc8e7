// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "laconic/backend/device.hpp"
#include "laws/said_by_some.hpp"

TEST_CASE("some compressors say and add on the device what they do on the host") {
    auto const here = laws::said_by_some_on_the_host();
    auto there = laws::said_by_some<laconic::device>();
    CHECK(here.size() == 19);
    for (auto const& [compressor, messages] : here) {
        auto const& name = compressor;  // as a reference, for CAPTURE
        CAPTURE(name);
        for (auto const& one : messages) CHECK_FALSE(one.said.empty());
        CHECK((there[name] == messages));
    }
}
