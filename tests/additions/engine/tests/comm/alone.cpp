// SPDX-License-Identifier: Apache-2.0
// An engine carries what a reducer sends.
#include "laconic/comm/alone.hpp"

#include <doctest/doctest.h>

#include "laconic/compress/top_k.hpp"
#include "laconic/reducer.hpp"

static_assert(laconic::Communicator<laconic::alone>);

TEST_CASE("a reducer over one rank sends the largest number and keeps the rest") {
    laconic::alone comm;
    std::vector<float> x{1, -3, 2};
    laconic::reducer reduce(laconic::error_feedback{laconic::top_k{1}}, comm, x);
    reduce(x);
    CHECK(x == std::vector<float>{0, -3, 0});
}
