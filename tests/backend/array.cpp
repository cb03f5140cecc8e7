// SPDX-License-Identifier: Apache-2.0
// Elements and spans of every backend's arrays reach the host by copies, made only where the host cannot read them.
#include "laconic/backend/array.hpp"

#include "support/apart.hpp"
#include "support/everything.hpp"
#include "support/laws/kernels.hpp"

using namespace laconic::kernels;
using laconic_test::apart;

static_assert(OnHost<host> && OnHost<reference> && !OnHost<apart>);
static_assert(OutOfReach<apart::array<int>> && OutOfReach<apart::array<int> const>);
static_assert(!OutOfReach<host::array<int>> && !OutOfReach<std::span<int>> && !OutOfReach<int>);

TEST_CASE("copies are made where the host cannot reach a backend's numbers, without its type") {
    host in_reach;
    CHECK_FALSE(backend_copies().are_needed());
    CHECK_FALSE(backend_copies(in_reach).are_needed());
    apart on;
    backend_copies const copies(on);
    REQUIRE(copies.are_needed());
    std::vector<float> const here{1, -2, 0.5f};
    apart::array<float> there(3);
    copies.from_host(here, std::span<float>(there));
    CHECK(element(on, std::span<float const>(there), 2) == 0.5f);
    CHECK(copies.to_host(std::span<float const>(there)) == here);
    CHECK(copies.to_host(std::span<float const>()).empty());
}

TEST_CASE_TEMPLATE("numbers go there and back, and within", B, host, reference, apart) { kernel_laws::moves<B>(); }
