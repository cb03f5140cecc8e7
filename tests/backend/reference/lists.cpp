// SPDX-License-Identifier: Apache-2.0
// The reference's kernels add, split, filter and sort lists of terms as a reader finds by hand.
#include "laconic/backend/reference/lists.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::kernels;

namespace {

using places = std::vector<coordinate>;
using numbers = std::vector<float>;

}  // namespace

TEST_CASE("lists are added, parted, and sorted") {
    reference on;
    places const a_at{1, 4, 9}, b_at{0, 4};
    numbers const a_values{1, 2, 3}, b_values{5, -2};
    listed_terms<float> const a{a_at, a_values}, b{b_at, b_values};
    places at, left_at;
    numbers values, left;
    add_lists(on, a, b, at, values);
    CHECK(at == places{0, 1, 4, 9});
    CHECK(values == numbers{5, 1, 0, 3});
    std::array<listed_terms<float>, 3> const three{a, b, a};
    sum_lists(on, std::span<listed_terms<float> const>(three), at, values, left_at, left);
    CHECK(at == places{0, 1, 4, 9});
    CHECK(values == numbers{5, 2, 2, 6});
    places const chosen{0, 2};
    part_list(on, a, std::span<coordinate const>(chosen), at, values, left_at, left);
    CHECK(at == places{1, 9});
    CHECK(values == numbers{1, 3});
    CHECK(left_at == places{4});
    CHECK(left == numbers{2});
    places const last_two{1, 2};
    take_list(on, a, std::span<coordinate const>(last_two), at, values);
    CHECK(at == places{4, 9});
    CHECK(values == numbers{2, 3});
    list_without(on, a, std::span<coordinate const>(b_at), at, values);
    CHECK(at == places{1, 9});
    CHECK(values == numbers{1, 3});
    places const mixed{7, 2, 7};
    at.resize(3);
    values.resize(3);
    sort_list(on, std::span<coordinate const>(mixed), std::span<float const>(a_values), 8, std::span(at),
              std::span(values));
    CHECK(at == places{2, 7, 7});
    CHECK(values == numbers{2, 1, 3});
}
