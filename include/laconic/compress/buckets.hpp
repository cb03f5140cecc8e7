// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "laconic/message/message.hpp"

/// How the compressors with one scale per bucket cut a vector: into buckets of `bucket` consecutive values, the last of
/// which may be shorter; 0 means one bucket for all values.
namespace laconic::detail {

/// The length of a bucket for d values, as a message stores it: at least 1, and not limited to d.
inline std::size_t bucket_of(std::size_t bucket, std::size_t d) {
    return bucket != 0 ? bucket : std::max(d, std::size_t{1});
}

/// The number of values in the first of the buckets of d values, which no bucket exceeds; 1 where there are no values.
inline std::size_t longest_bucket(std::size_t bucket, std::size_t d) {
    return std::min(bucket_of(bucket, d), std::max(d, std::size_t{1}));
}

/// Makes m what the receiver of a message about d values in such buckets has before it reads: all else that sizes m is
/// set. Throws argument_error for more than 2^32 - 1 values.
void begin_buckets(auto& m, std::size_t bucket, std::size_t d) {
    m.bucket = bucket_of(bucket, d);
    messages::begin_message(m, d);
}

/// The largest value of |x|_p |x|_1 / |x|_2^2 for b numbers.
inline double norm_ratio(p_norm p, double b) {
    return p == p_norm::one ? b : p == p_norm::two ? std::sqrt(b) : (1 + std::sqrt(b)) / 2;
}

}  // namespace laconic::detail
