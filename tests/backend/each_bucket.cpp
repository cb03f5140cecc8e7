// SPDX-License-Identifier: Apache-2.0
// `each_bucket` visits every bucket once, in order, with its number and first coordinate; the last may be shorter.
#include "laconic/backend/each_bucket.hpp"

#include "support/everything.hpp"

namespace {

using list = std::vector<std::tuple<std::size_t, std::size_t, std::size_t>>;

// (number, first coordinate, length) of each bucket of d values, which are their own coordinates.
list cut(std::size_t d, std::size_t bucket) {
    std::vector<double> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<double>(i);
    list all;
    laconic::detail::each_bucket(std::span<double const>(x), bucket,
                                 [&](std::size_t b, std::size_t first, std::span<double const> part) {
                                     CHECK(part.front() == static_cast<double>(first));
                                     all.emplace_back(b, first, part.size());
                                 });
    return all;
}

}  // namespace

TEST_CASE("seven values in buckets of three, of all, of more than all; none") {
    CHECK(cut(7, 3) == list{{0, 0, 3}, {1, 3, 3}, {2, 6, 1}});
    CHECK(cut(6, 3) == list{{0, 0, 3}, {1, 3, 3}});
    CHECK(cut(7, 7) == list{{0, 0, 7}});
    CHECK(cut(7, 100) == list{{0, 0, 7}});
    CHECK(cut(7, std::numeric_limits<std::size_t>::max()) == list{{0, 0, 7}});
    CHECK(cut(2, 1) == list{{0, 0, 1}, {1, 1, 1}});
    CHECK(cut(1, 1) == list{{0, 0, 1}});
    CHECK(cut(0, 3).empty());
}
