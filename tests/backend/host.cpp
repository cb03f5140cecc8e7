// SPDX-License-Identifier: Apache-2.0
// One host serves floats and doubles in turn, and goes on after it was moved.
#include "laconic/backend/host.hpp"

#include "support/everything.hpp"

static_assert(kernels::Backend<host, float> && kernels::Backend<host, double>);

TEST_CASE("one host serves floats and doubles in turn, and may be moved") {
    host on;
    std::vector<float> const f{1, -5, 2};
    std::vector<double> const d{1, -5, 2, 9};
    std::vector<coordinate> at;
    select_largest(on, std::span<float const>(f), 2, at);
    CHECK(at == std::vector<coordinate>{1, 2});
    select_largest(on, std::span<double const>(d), 2, at);
    CHECK(at == std::vector<coordinate>{1, 3});
    host moved = std::move(on);
    select_largest(moved, std::span<float const>(f), 1, at);
    CHECK(at == std::vector<coordinate>{1});
}
