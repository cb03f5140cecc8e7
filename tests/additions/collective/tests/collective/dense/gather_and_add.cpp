// SPDX-License-Identifier: Apache-2.0
// A collective that stands in the list is read from its text, and adds up.
#include "laconic/collective/dense/gather_and_add.hpp"

#include <doctest/doctest.h>

#include "laconic/any/parse_collective.hpp"
#include "laconic/comm/threads.hpp"

TEST_CASE("gather_and_add is known by its name, and gives the sum to all ranks") {
    laconic::threads::run(3, [](auto& comm) {
        auto sum = laconic::make_sum<double>(laconic::parse_collective("gather_and_add"), comm, 2);
        std::vector<double> x{1.0 * comm.rank(), 10};
        laconic::host on;
        sum(on, comm, std::span<double>(x), 0);
        CHECK(x == std::vector<double>{3, 30});
    });
}
