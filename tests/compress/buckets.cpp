// SPDX-License-Identifier: Apache-2.0
#include "laconic/compress/buckets.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <tuple>
#include <vector>

using namespace laconic::detail;

namespace {

// (number, first coordinate, length) of each bucket of d values, which are their own coordinates.
std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> cut(std::size_t d, std::size_t bucket) {
    std::vector<double> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<double>(i);
    std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> all;
    each_bucket(std::span<double const>(x), bucket_of(bucket, d), [&](std::size_t b, std::size_t first, auto part) {
        CHECK(part.front() == static_cast<double>(first));
        all.emplace_back(b, first, part.size());
    });
    CHECK(all.size() == buckets_in(d, bucket_of(bucket, d)));
    for (auto const& [b, first, length] : all) CHECK(length <= longest_bucket(bucket, d));
    return all;
}

}  // namespace

TEST_CASE("seven values in buckets of three, of all, of more than all; none") {
    using list = std::vector<std::tuple<std::size_t, std::size_t, std::size_t>>;
    CHECK(cut(7, 3) == list{{0, 0, 3}, {1, 3, 3}, {2, 6, 1}});
    CHECK(cut(6, 3) == list{{0, 0, 3}, {1, 3, 3}});
    CHECK(cut(7, 0) == list{{0, 0, 7}});
    CHECK(cut(7, 7) == list{{0, 0, 7}});
    CHECK(cut(7, 100) == list{{0, 0, 7}});
    CHECK(cut(7, std::numeric_limits<std::size_t>::max()) == list{{0, 0, 7}});
    CHECK(cut(1, 0) == list{{0, 0, 1}});
    CHECK(cut(0, 0).empty());
    CHECK(cut(0, 3).empty());
}

TEST_CASE("lengths: as a message has it, and as values come") {
    CHECK(bucket_of(0, 7) == 7);
    CHECK(bucket_of(0, 0) == 1);
    CHECK(bucket_of(100, 7) == 100);
    CHECK(longest_bucket(100, 7) == 7);
    CHECK(longest_bucket(3, 7) == 3);
    CHECK(longest_bucket(0, 7) == 7);
    CHECK(longest_bucket(3, 0) == 1);
    CHECK(longest_bucket(0, 0) == 1);
    CHECK(spelled_bucket(0) == "");
    CHECK(spelled_bucket(512) == ", bucket=512");
}
