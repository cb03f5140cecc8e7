// SPDX-License-Identifier: Apache-2.0
// The host can read the memory of `apart` only while a kernel runs, and compressors encode there as on the host.
#include <unistd.h>
#include <cerrno>

#include "support/apart.hpp"
#include "support/everything.hpp"
#include "support/laws/messages_on.hpp"

using laconic_test::apart;
using both::here;
using both::there;

// Whether the host may read what is at p: whether it can be written to a pipe.
bool is_readable(void const* p) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    bool const written = write(ends[1], p, 1) == 1;
    if (!written) CHECK(errno == EFAULT);
    close(ends[0]);
    close(ends[1]);
    return written;
}

TEST_CASE("an element can be read while a kernel runs, and at no other time") {
    apart on;
    auto const x = there(on, std::vector<float>{1, 2, 3});
    CHECK_FALSE(is_readable(x.data()));
    {
        laconic_test::opened const pages;
        CHECK(is_readable(x.data()));
        CHECK(x.data()[2] == 3);
    }
    CHECK_FALSE(is_readable(x.data()));
    CHECK(sum_of_squares(on, std::span<float const>(x)) == 14);
    CHECK_FALSE(is_readable(x.data()));
    CHECK(here(on, x) == std::vector<float>{1, 2, 3});
    CHECK(kernels::element(on, std::span<float const>(x), 1) == 2);
    CHECK(on_host(on, std::span<float const>(x))[2] == 3);
}

TEST_CASE("arrays grow with zeros, keep their room, and are equal by their elements") {
    apart on;
    apart::array<int> a(2), b;
    CHECK(here(on, a) == std::vector<int>{0, 0});
    a.assign(3, 7);
    int const* const place = a.data();
    a.resize(1);
    a.resize(3);
    CHECK(a.data() == place);
    CHECK(here(on, a) == std::vector<int>{7, 0, 0});
    CHECK_FALSE(a == b);
    b = a;
    CHECK(a == b);
    b.assign(3, 1);
    CHECK_FALSE(a == b);
    swap(a, b);
    CHECK(here(on, a) == std::vector<int>{1, 1, 1});
    kernels::assign(on, std::span<int const>(b), a);
    CHECK(a == b);
    apart::array<int> const c(std::move(b));
    CHECK(c == a);
}

TEST_CASE("every compressor works where the host cannot: it encodes and adds the same") {
    laws::encodes_as_on_the_host<apart>();
}
