// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/device.hpp"
#include "laws/said_on.hpp"

TEST_CASE("every compressor says and adds on the device what it does on the host") {
    laws::says_as_on_the_host<laconic::device>();
}
