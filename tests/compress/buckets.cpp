// SPDX-License-Identifier: Apache-2.0
// Bucket lengths and counts are right for vectors of any length, also where a bucket is longer than the vector.
#include "laconic/compress/buckets.hpp"

#include "support/everything.hpp"

using namespace laconic::detail;

TEST_CASE("seven values make three buckets of three, one of all or of more than all; none make none") {
    CHECK(buckets_in(7, bucket_of(3, 7)) == 3);
    CHECK(buckets_in(6, bucket_of(3, 6)) == 2);
    for (std::size_t const bucket : {std::size_t{0}, std::size_t{7}, std::numeric_limits<std::size_t>::max()})
        CHECK(buckets_in(7, bucket_of(bucket, 7)) == 1);
    CHECK(buckets_in(0, bucket_of(0, 0)) == 0);
    CHECK(buckets_in(0, bucket_of(3, 0)) == 0);
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
}
