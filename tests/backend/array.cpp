// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/array.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "backend/apart.hpp"
#include "laconic/backend/host.hpp"
#include "laconic/backend/reference.hpp"

using namespace laconic;
using laconic_test::apart;

static_assert(OnHost<host> && OnHost<reference> && !OnHost<apart>);

TEST_CASE_TEMPLATE("an array becomes what a span is, and gives single elements", B, host, reference, apart) {
    B on;
    std::vector<double> const here{1, -2, 0.5};
    typename B::template array<double> x(3), y;
    copy_from_host(on, std::span<double const>(here), std::span<double>(x));
    assign(on, std::span<double const>(x), y);
    CHECK(y == x);
    CHECK(element(on, std::span<double const>(y), 1) == -2);
    assign(on, std::span<double const>(x).last(1), y);
    CHECK(y.size() == 1);
    CHECK(element(on, std::span<double const>(y), 0) == 0.5);
    assign(on, std::span<double const>(), y);
    CHECK(y.empty());

    typename B::template array<std::uint16_t> codes(4);
    fill(on, std::span<std::uint16_t>(codes).first(3), std::uint16_t{9});
    CHECK(element(on, std::span<std::uint16_t const>(codes), 2) == 9);
    CHECK(element(on, std::span<std::uint16_t const>(codes), 3) == 0);
}
