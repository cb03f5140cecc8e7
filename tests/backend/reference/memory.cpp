// SPDX-License-Identifier: Apache-2.0
// The reference's arrays are vectors, and its copies and fills change what they name.
#include "laconic/backend/reference/memory.hpp"

#include "support/everything.hpp"

static_assert(std::same_as<laconic::reference::array<float>, std::vector<float>>);

TEST_CASE("copies of three numbers") {
    laconic::reference on;
    std::vector<float> const from{1, 2, 3};
    std::vector<float> to(3), back(3), there(3);
    copy(on, std::span<float const>(from), std::span(to));
    copy_to_host(on, std::span<float const>(from), std::span(back));
    copy_from_host(on, std::span<float const>(from), std::span(there));
    CHECK((to == from && back == from && there == from));
    fill(on, std::span(to).last(1), 9.0f);
    CHECK(to == std::vector<float>{1, 2, 9});
    CHECK(on_host(on, std::span<float const>(from))[1] == 2);
}
