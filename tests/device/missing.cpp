// SPDX-License-Identifier: Apache-2.0
// Without a GPU every use of the device throws what to do, and nothing is changed.
#include "laconic/backend/device.hpp"

#include "support/test.hpp"

using namespace laconic;

namespace {

// Whether a call throws that there is no GPU, and what to do.
template <class F>
bool misses_the_device(F call) {
    try {
        call();
    } catch (device_error const& e) {
        return e.code != 0 && std::string(e.what()).find("nvidia-smi") != std::string::npos;
    }
    return false;
}

}  // namespace

TEST_CASE("every use of a device that is not there throws what to do, and can be followed by others") {
    device on;
    if (device::is_there()) {
        CHECK(sum_of_squares(on, std::span<float const>(device::array<float>(3))) == 0);
        return;
    }
    float none = 1;
    std::span<float> const x(&none, 1);
    for (int again = 0; again < 2; ++again) {
        CHECK(misses_the_device([] { device::array<float>(3); }));
        CHECK(misses_the_device([&] { multiply(on, 2.0f, x); }));
        CHECK(misses_the_device([&] { fill(on, x, 2.0f); }));  // by Thrust
        CHECK(misses_the_device([&] { copy_to_host(on, std::span<float const>(x), x); }));
        CHECK(misses_the_device([&] { sum_of_squares(on, std::span<float const>(x)); }));
        CHECK(misses_the_device([&] { on.wait(); }));
    }
    CHECK(none == 1);
    CHECK(device::array<float>().empty());
}
