// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "laconic/core/key.hpp"

// Vectors, one for each rank, whose zeros come in blocks.
namespace block_vectors {

template <class T>
using vectors = std::vector<std::vector<T>>;

/// About a `share` of the blocks are not zero; almost all of their numbers are fractions that sums round.
template <class T>
vectors<T> fractions(std::size_t d, std::size_t block, int ranks, double share, std::uint64_t seed = 1) {
    vectors<T> all(static_cast<std::size_t>(ranks), std::vector<T>(d));
    for (std::size_t r = 0; r < all.size(); ++r) {
        auto const own = laconic::key{seed}.child(r), which = own.child(1);
        for (std::size_t b = 0; b * block < d; ++b)
            if (which.uniform(b) < share)
                for (std::size_t i = b * block; i < d && i < (b + 1) * block; ++i)
                    all[r][i] = (T(own.below(i, 2001)) - T(1000)) / T(7);
    }
    return all;
}

/// ((0 + x_0) + x_1) + .. in every coordinate.
template <class T>
std::vector<T> sum_in_order(vectors<T> const& all) {
    std::vector<T> sum(all[0].size());
    for (auto const& x : all)
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += x[i];
    return sum;
}

/// Whether a vector's block has a number other than 0.
template <class T>
bool has_block(std::vector<T> const& x, std::size_t block, std::size_t b) {
    for (std::size_t i = b * block; i < x.size() && i < (b + 1) * block; ++i)
        if (x[i] != 0) return true;
    return false;
}

}  // namespace block_vectors
