// SPDX-License-Identifier: Apache-2.0
// Messages of one compressor for every kernel and kind of message are the same on the device as on the host.
#include "support/laws/some_messages.hpp"
#include "laconic/backend/device.hpp"
#include "support/test.hpp"

TEST_CASE("some compressors' messages on the device are those on the host, and add the same") {
    auto const here = laws::some_messages_on_the_host();
    auto there = laws::some_messages<laconic::device>();
    CHECK(here.size() == 23);
    for (auto const& [compressor, messages] : here) {
        auto const& name = compressor;  // as a reference, for CAPTURE
        CAPTURE(name);
        for (auto const& one : messages) CHECK_FALSE(one.encoded.empty());
        CHECK((there[name] == messages));
    }
}
