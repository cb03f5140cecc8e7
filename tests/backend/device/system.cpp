// SPDX-License-Identifier: Apache-2.0
// Errors of Thrust become `device_error`, and device memory is readable only while a kernel runs.
#include "laconic/backend/device/system.hpp"

#include <thrust/system_error.h>
#include <unistd.h>

#include <new>

#include "laconic/backend/array.hpp"
#include "laconic/backend/device/memory.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::kernels;

TEST_CASE("what Thrust throws is the library's error, with its number; memory that is full is not") {
    using detail::on_device::with_own_errors;
    CHECK(with_own_errors([] { return 3; }) == 3);
    try {
        with_own_errors([] { throw thrust::system_error(700, thrust::generic_category(), "for_each"); });
        FAIL("nothing was thrown");
    } catch (error const& e) {
        auto const* const typed = dynamic_cast<device_error const*>(&e);
        REQUIRE(typed != nullptr);
        CHECK(typed->code == 700);
        CHECK(std::string(e.what()).find(':') != std::string::npos);
    }
    CHECK_THROWS_AS(with_own_errors([] { throw std::bad_alloc(); }), std::bad_alloc);
}

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

#if defined(LACONIC_DEVICE_MEMORY) && !defined(LACONIC_ON_CUDA)

TEST_CASE("memory of the device can be read while a kernel runs, and at no other time") {
    device on;
    device::array<int> x(3);
    auto const is_readable = [&] {  // whether it can be written to a pipe
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        bool const written = write(ends[1], x.data(), 1) == 1;
        close(ends[0]);
        close(ends[1]);
        return written;
    };
    CHECK_FALSE(is_readable());
    CHECK(on.call_thrust([&](auto const&) { return is_readable(); }));
    CHECK_FALSE(is_readable());
    fill(on, std::span<int>(x), 7);
    CHECK(element(on, std::span<int const>(x), 2) == 7);
    CHECK_FALSE(is_readable());
}

#endif
