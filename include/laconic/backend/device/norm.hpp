// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "laconic/backend/device/memory.hpp"
#include "laconic/backend/device/passes.hpp"
#include "laconic/backend/device/reduce.hpp"
#include "laconic/backend/device/sum.hpp"
#include "laconic/backend/norm.hpp"
#include "laconic/core/view.hpp"

/// norm_of() of many buckets at the same time, without waiting.
namespace laconic::detail::on_device {

// Doubles' squares that leave their range.
template <Scalar T>
LACONIC_HOST_DEVICE bool leaves_range(bits_of<T> largest, double squares) {
    return sizeof(T) == 8 && largest > 0 && largest < infinite_bits<T> && !(squares > 1e-280 && squares < 1e300);
}

// The squares of a bucket whose own have left the range, in units of its largest number.
template <Scalar T>
struct square_by_largest {
    bits_of<T> const* largest;
    double const* squares;
    LACONIC_HOST_DEVICE bool wanted(std::size_t b) const { return leaves_range<T>(largest[b], squares[b]); }
    LACONIC_HOST_DEVICE double operator()(double v, std::size_t b) const {
        double const ratio = v / static_cast<double>(std::bit_cast<T>(largest[b]));
        return product(ratio, ratio);
    }
};

// The squares of a bucket of floats that floats do not hold.
struct square_out_of_floats {
    double const* squares;
    LACONIC_HOST_DEVICE bool wanted(std::size_t b) const { return !floats_hold(squares[b]); }
    LACONIC_HOST_DEVICE double operator()(double v, std::size_t) const { return product(v, v); }
};

// What norm_of() makes of what was found out about a bucket.
template <Scalar T>
struct norm_of_bucket {
    p_norm p;
    bits_of<T> const* largest;
    double const *sums, *again;  // of magnitudes or squares, and of squares in units of the largest, or in doubles
    T* out;

    LACONIC_HOST_DEVICE void operator()(std::size_t b) const { out[b] = value(b); }
    LACONIC_HOST_DEVICE T value(std::size_t b) const {
        if (p == p_norm::one) return static_cast<T>(sums[b]);
        if (sizeof(T) == 4 && p == p_norm::two)
            return floats_hold(sums[b]) ? std::sqrt(static_cast<T>(sums[b])) : static_cast<T>(std::sqrt(again[b]));
        if (largest[b] >= infinite_bits<T>) return std::numeric_limits<T>::quiet_NaN();
        T const most = std::bit_cast<T>(largest[b]);
        if (p == p_norm::largest) return most;
        if (leaves_range<T>(largest[b], sums[b])) return most * static_cast<T>(std::sqrt(again[b]));
        T const root = static_cast<T>(std::sqrt(sums[b]));
        return most < root ? root : most;
    }
};

/// out_b = |bucket b of x|_p. One pass over x; for a 2-norm of doubles two. For a 2-norm one more, which skips all
/// buckets whose squares have not left the range.
template <Scalar T>
void find_norms(device& on, std::span<T const> x, std::size_t bucket, p_norm p, T* out) {
    std::size_t const buckets = buckets_of(x.size(), bucket);
    bool const by_largest = p == p_norm::largest || (p == p_norm::two && sizeof(T) == 8);
    auto const largest = on.scratch<bits_of<T>>(scratch_for::marks, buckets);
    auto const sums = on.scratch<double>(scratch_for::numbers, 2 * buckets), again = sums.subspan(buckets);
    if (by_largest) {
        clear_bytes(on, largest.data(), largest.size_bytes());
        for_each_bucket(on, x.size(), bucket, raise_to_largest<T>{x.data(), largest.data()});
    }
    if (p == p_norm::one) add_buckets_up(on, x, bucket, magnitude{}, sums.data());
    if (p == p_norm::two) {
        if constexpr (sizeof(T) == 4) {
            add_buckets_up<float>(on, x, bucket, square_in_floats{}, sums.data());
            add_buckets_up(on, x, bucket, square_out_of_floats{sums.data()}, again.data());
        } else {
            add_buckets_up(on, x, bucket, square{}, sums.data());
            add_buckets_up(on, x, bucket, square_by_largest<T>{largest.data(), sums.data()}, again.data());
        }
    }
    for_each_index(on, buckets, norm_of_bucket<T>{p, largest.data(), sums.data(), again.data(), out});
}

}  // namespace laconic::detail::on_device
