// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "laconic/backend/device/sum.hpp"

/// Numbers about a vector, or each bucket of one. Contracts stand at the host's forms; each waits for its result.
namespace laconic::detail::on_device {

// What is found out about the numbers of each bucket, piece by piece, in any order.
template <class Piece, class Take, class HandOver>
struct in_buckets {
    std::size_t bucket;
    Take take;
    HandOver hand_over;

    LACONIC_HOST_DEVICE void operator()(std::size_t first, std::size_t end) const {
        std::size_t b = first / bucket, last = (b + 1) * bucket;
        Piece found{};
        for (std::size_t i = first; i < end; i += neighbours) {
            if (i >= last) {
                hand_over(found, b);
                b = i / bucket;
                last = (b + 1) * bucket;
                found = {};
            }
            take(found, i);
        }
        if (first < end) hand_over(found, b);
    }
};
/// take(piece, i) adds number i to a piece, and hand_over(piece, b) gives that to bucket b.
template <class Piece, class Take, class HandOver>
void for_each_bucket(device& on, std::size_t n, std::size_t bucket, Take take, HandOver hand_over) {
    for_each_tile(on, n, in_buckets<Piece, Take, HandOver>{bucket, take, hand_over});
}

// largest_b = the bits of the largest magnitude.
template <Scalar T>
void find_largest(device& on, std::span<T const> x, std::size_t bucket, std::span<bits_of<T>> largest) {
    using bits = bits_of<T>;
    clear_bytes(on, largest.data(), largest.size_bytes());
    for_each_bucket<bits>(
        on, x.size(), bucket,
        [=] LACONIC_DEVICE(bits & found, std::size_t i) {
            auto const magnitude = magnitude_bits(x[i]);
            found = found < magnitude ? magnitude : found;
        },
        [=] LACONIC_DEVICE(bits found, std::size_t b) { raise_together(largest[b], found); });
}

/// Numbers as integers with the same order, zeros alike; 0 is below them all.
template <Scalar T>
LACONIC_HOST_DEVICE bits_of<T> ordered_bits(T x) {
    constexpr auto sign = bits_of<T>{1} << (std::numeric_limits<bits_of<T>>::digits - 1);
    auto const bits = std::bit_cast<bits_of<T>>(x + T(0));
    return (bits & sign) != 0 ? static_cast<bits_of<T>>(~bits) : static_cast<bits_of<T>>(bits | sign);
}
template <Scalar T>
LACONIC_HOST_DEVICE T from_ordered_bits(bits_of<T> bits) {
    constexpr auto sign = bits_of<T>{1} << (std::numeric_limits<bits_of<T>>::digits - 1);
    return std::bit_cast<T>(static_cast<bits_of<T>>((bits & sign) != 0 ? bits ^ sign : ~bits));
}

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
        return rounded_product(ratio, ratio);
    }
};

// The squares of a bucket of floats that floats do not hold.
struct square_out_of_floats {
    double const* squares;
    LACONIC_HOST_DEVICE bool wanted(std::size_t b) const { return !floats_hold(squares[b]); }
    LACONIC_HOST_DEVICE double operator()(double v, std::size_t) const { return rounded_product(v, v); }
};

/// out_b = |bucket b of x|_p. One pass over x; for a 2-norm of doubles two. For a 2-norm one more, which skips all
/// buckets whose squares have not left the range.
template <Scalar T>
void find_norms(device& on, std::span<T const> x, std::size_t bucket, p_norm p, T* out) {
    std::size_t const buckets = pieces_in(x.size(), bucket);
    bool const by_largest = p == p_norm::largest || (p == p_norm::two && sizeof(T) == 8);
    auto const largest = on.scratch<bits_of<T>>(scratch_for::marks, buckets);
    auto const sums = on.scratch<double>(scratch_for::numbers, 2 * buckets), again = sums.subspan(buckets);
    if (by_largest) find_largest(on, x, bucket, largest);
    if (p == p_norm::one) add_buckets_up(on, x, bucket, magnitude{}, sums.data());
    if (p == p_norm::two) {
        if constexpr (sizeof(T) == 4) {
            add_buckets_up<float>(on, x, bucket, square{}, sums.data());
            add_buckets_up(on, x, bucket, square_out_of_floats{sums.data()}, again.data());
        } else {
            add_buckets_up(on, x, bucket, square{}, sums.data());
            add_buckets_up(on, x, bucket, square_by_largest<T>{largest.data(), sums.data()}, again.data());
        }
    }
    for_each_index(on, buckets, [=] LACONIC_DEVICE(std::size_t b) {  // as norm_of() does
        T const most = std::bit_cast<T>(largest[b]), root = static_cast<T>(std::sqrt(sums[b]));
        T& norm = out[b];
        if (p == p_norm::one)
            norm = static_cast<T>(sums[b]);
        else if (sizeof(T) == 4 && p == p_norm::two)
            norm = floats_hold(sums[b]) ? std::sqrt(static_cast<T>(sums[b])) : static_cast<T>(std::sqrt(again[b]));
        else if (largest[b] >= infinite_bits<T>)
            norm = std::numeric_limits<T>::quiet_NaN();
        else if (p == p_norm::largest)
            norm = most;
        else if (leaves_range<T>(largest[b], sums[b]))
            norm = most * static_cast<T>(std::sqrt(again[b]));
        else
            norm = most < root ? root : most;
    });
}

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

template <Scalar T>
double sum_of_magnitudes(device& on, std::span<T const> x) {
    return detail::on_device::ordered_sum(on, x, detail::on_device::magnitude{});
}

template <Scalar T>
double sum_of_squares(device& on, std::span<T const> x) {
    return detail::on_device::ordered_sum(on, x, detail::on_device::square{});
}

inline double sum_of_squares_in_floats(device& on, std::span<float const> x) {
    return detail::on_device::ordered_sum<float>(on, x, detail::on_device::square{});
}

template <Scalar T>
double sum_of_squares(device& on, std::span<T const> x, double scale, double centre = 0) {
    return detail::on_device::ordered_sum(on, x, detail::on_device::number_about<true>{{}, scale, centre});
}

template <Scalar T>
double sum_of_numbers(device& on, std::span<T const> x, double scale, double centre) {
    return detail::on_device::ordered_sum(on, x, detail::on_device::number_about<false>{{}, scale, centre});
}

template <Scalar T>
T largest_magnitude(device& on, std::span<T const> x) {
    using namespace detail::on_device;
    if (x.empty()) return 0;
    auto const result = on.scratch<bits_of<T>>(scratch_for::result, 1);
    find_largest(on, x, x.size(), result);
    auto const bits = fetched(on, result.data());
    return bits < infinite_bits<T> ? std::bit_cast<T>(bits) : std::numeric_limits<T>::quiet_NaN();
}

template <Scalar T>
std::size_t first_non_finite(device& on, std::span<T const> x) {
    using namespace detail::on_device;
    if (x.empty()) return 0;
    auto* const result = on.scratch<std::uint64_t>(scratch_for::result, 1).data();
    clear_bytes(on, result, sizeof *result);
    // All bits of the coordinate, inverted: the first is the largest.
    for_each_bucket<std::uint64_t>(
        on, x.size(), x.size(),
        [=] LACONIC_DEVICE(std::uint64_t & found, std::size_t i) {
            if (found == 0 && magnitude_bits(x[i]) >= infinite_bits<T>) found = ~std::uint64_t{i};
        },
        [=] LACONIC_DEVICE(std::uint64_t found, std::size_t) {
            if (found != 0) raise_together(*result, found);
        });
    auto const inverted = fetched(on, result);
    return inverted == 0 ? x.size() : detail::as_size(~inverted);
}

}  // namespace laconic::kernels
