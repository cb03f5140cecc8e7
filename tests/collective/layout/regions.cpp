// SPDX-License-Identifier: Apache-2.0
// `regions` start in equal parts, move to sorted starts, and refuse a saved state of other ranks or numbers.
#include "laconic/collective/layout/regions.hpp"

#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

namespace sv = sparse_vectors;
using detail::regions;

TEST_CASE("equal at first, then where they are moved to") {
    regions r{10};
    r.prepare(3);
    CHECK(r.starts == std::vector<std::uint64_t>{0, 3, 6, 10});
    CHECK(r.length(2) == 4);
    r.move({0, 7, 7, 10});
    r.prepare(3);
    CHECK(r.starts == std::vector<std::uint64_t>{0, 7, 7, 10});
    CHECK(r.length(1) == 0);
    r.move({5, 4, 2, 9});  // from ranks that send wrong quantiles
    CHECK(r.starts == std::vector<std::uint64_t>{0, 4, 4, 10});
    regions of_nothing{0};
    of_nothing.prepare(1);
    CHECK(of_nothing.starts == std::vector<std::uint64_t>{0, 0});
}

TEST_CASE("quantiles of a support") {
    regions const r{100};
    auto const v = sv::of<float>(100, {{3, 1}, {5, 1}, {50, 1}, {51, 1}, {99, 1}});
    for (std::size_t p = 0; p < 5; ++p) CHECK(r.quantile(v, p, 5) == v.support()[p]);
    CHECK(r.quantile(v, 1, 2) == 50);
    CHECK(r.quantile(v, 7, 10) == 51);
    CHECK(r.quantile(sparse_sum<float>(100), 3, 4) == 75);
}

TEST_CASE("uneven is more than four times a share") {
    regions r{100};
    r.prepare(10);
    sparse_sum<float> v(100);
    for (std::size_t i = 0; i < 4; ++i) v.append(i, 1);  // a share is less than one: four are not many
    CHECK_FALSE(r.uneven(v));
    v.append(4, 1);
    CHECK(r.uneven(v));
    v = sparse_sum<float>(100);
    for (std::size_t i = 0; i < 10; ++i) v.append(i, 1);
    CHECK(r.uneven(v));
    for (std::size_t i = 10; i < 30; ++i) v.append(i, 1);  // 10 of 30: a share is 3
    CHECK_FALSE(r.uneven(v));
}

TEST_CASE("what is not of so many ranks and numbers is refused") {
    auto const refused = [](std::vector<std::uint64_t> const& starts) {
        regions r{10, starts};
        CHECK_THROWS_WITH_AS(r.prepare(2), "this state is not of 2 ranks and 10 numbers", shape_error);
    };
    refused({0, 10});
    refused({0, 2, 3, 10});
    refused({1, 2, 10});
    refused({0, 2, 11});
    refused({0, 11, 10});
}
