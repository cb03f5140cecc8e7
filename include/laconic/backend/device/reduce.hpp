// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "laconic/backend/device/memory.hpp"
#include "laconic/backend/device/passes.hpp"
#include "laconic/backend/device/sum.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/view.hpp"

/// Numbers about a whole vector. Each waits for its result.
namespace laconic::detail::on_device {

// What is found out about the numbers of each bucket, piece by piece, in any order: F::take adds number i to a piece,
// F::hand_over returns the bucket.
template <class F>
struct in_buckets {
    std::size_t bucket;
    F f;

    LACONIC_HOST_DEVICE void operator()(std::size_t first, std::size_t end) const {
        std::size_t b = first / bucket, last = (b + 1) * bucket;
        typename F::piece found{};
        for (std::size_t i = first; i < end; i += neighbours) {
            if (i >= last) {
                f.hand_over(found, b);
                b = i / bucket;
                last = (b + 1) * bucket;
                found = {};
            }
            f.take(found, i);
        }
        if (first < end) f.hand_over(found, b);
    }
};
template <class F>
void for_each_bucket(device& on, std::size_t n, std::size_t bucket, F f) {
    for_each_tile(on, n, in_buckets<F>{bucket, f});
}

// largest_b = the bits of the largest magnitude, 0 before.
template <Scalar T>
struct raise_to_largest {
    using piece = bits_of<T>;
    T const* x;
    bits_of<T>* largest;

    LACONIC_HOST_DEVICE void take(piece& found, std::size_t i) const {
        auto const bits = magnitude_bits(x[i]);
        found = found < bits ? bits : found;
    }
    LACONIC_HOST_DEVICE void hand_over(piece found, std::size_t b) const { raise_together(largest[b], found); }
};

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

// largest_b, and least_b with its bits inverted; both 0 before.
template <Scalar T>
struct raise_to_range {
    struct piece {
        bits_of<T> least = 0, largest = 0;
    };
    T const* x;
    bits_of<T>*least, *largest;

    LACONIC_HOST_DEVICE void take(piece& found, std::size_t i) const {
        auto const bits = ordered_bits(x[i]), inverted = static_cast<bits_of<T>>(~bits);
        found.largest = found.largest < bits ? bits : found.largest;
        found.least = found.least < inverted ? inverted : found.least;
    }
    LACONIC_HOST_DEVICE void hand_over(piece found, std::size_t b) const {
        raise_together(largest[b], found.largest);
        raise_together(least[b], found.least);
    }
};

template <Scalar T>
struct count_below_zero {
    using piece = std::uint32_t;
    T const* x;
    std::uint32_t* count;

    LACONIC_HOST_DEVICE void take(piece& found, std::size_t i) const { found += x[i] < 0; }
    LACONIC_HOST_DEVICE void hand_over(piece found, std::size_t b) const {
        if (found != 0) add_together(count[b], found);
    }
};

// How many magnitudes are above a bound, as integers.
template <Scalar T>
struct count_larger {
    using piece = std::uint32_t;
    T const* x;
    bits_of<T> bound;
    std::uint32_t* count;

    LACONIC_HOST_DEVICE void take(piece& found, std::size_t i) const { found += magnitude_bits(x[i]) > bound; }
    LACONIC_HOST_DEVICE void hand_over(piece found, std::size_t) const {
        if (found != 0) add_together(*count, found);
    }
};

// The first number that is not finite, as all bits of its coordinate inverted; 0 before.
template <Scalar T>
struct raise_to_first_non_finite {
    using piece = std::uint64_t;
    T const* x;
    std::uint64_t* inverted;

    LACONIC_HOST_DEVICE void take(piece& found, std::size_t i) const {
        if (found == 0 && magnitude_bits(x[i]) >= infinite_bits<T>) found = ~std::uint64_t{i};
    }
    LACONIC_HOST_DEVICE void hand_over(piece found, std::size_t) const {
        if (found != 0) raise_together(*inverted, found);
    }
};

struct sums_of_signs {
    double below, others;
};

// What f makes of all of x in one number, 0 before, at an address that the struct f gets from make.
template <class N, Scalar T, class Make>
N found_in(device& on, std::span<T const> x, Make make) {
    auto* const result = on.scratch<N>(scratch_for::result, 1).data();
    clear_bytes(on, result, sizeof(N));
    if (!x.empty()) for_each_bucket(on, x.size(), x.size(), make(result));
    return fetched(on, result);
}

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

/// sum |x_i|; 0 for an empty vector.
template <Scalar T>
double sum_of_magnitudes(device& on, std::span<T const> x) {
    return detail::on_device::ordered_sum(on, x, detail::on_device::magnitude{});
}

/// sum x_i^2; infinite where that is above the largest double.
template <Scalar T>
double sum_of_squares(device& on, std::span<T const> x) {
    return detail::on_device::ordered_sum(on, x, detail::on_device::square{});
}

/// sum x_i^2, in floats: of no use where squares leave their range.
inline double sum_of_squares_in_floats(device& on, std::span<float const> x) {
    return detail::on_device::ordered_sum<float>(on, x, detail::on_device::square_in_floats{});
}

/// sum (x_i / scale - centre)^2, for vectors whose squares are out of a double's range, and for deviations. scale > 0.
template <Scalar T>
double sum_of_squares(device& on, std::span<T const> x, double scale, double centre = 0) {
    return detail::on_device::ordered_sum(on, x, detail::on_device::square_about{{}, scale, centre});
}

/// sum (x_i / scale - centre). scale > 0.
template <Scalar T>
double sum_of_numbers(device& on, std::span<T const> x, double scale, double centre) {
    return detail::on_device::ordered_sum(on, x, detail::on_device::number_about{{}, scale, centre});
}

/// max |x_i|; 0 for an empty vector, NaN where a number of x is not finite.
template <Scalar T>
T largest_magnitude(device& on, std::span<T const> x) {
    using namespace detail::on_device;
    auto const bits = found_in<bits_of<T>>(on, x, [&](auto* out) { return raise_to_largest<T>{x.data(), out}; });
    return bits < infinite_bits<T> ? std::bit_cast<T>(bits) : std::numeric_limits<T>::quiet_NaN();
}

/// The sums of |x_i| over all x_i < 0, and over the others. Two passes, for which it waits once.
template <Scalar T>
std::pair<double, double> sums_by_sign(device& on, std::span<T const> x) {
    using namespace detail::on_device;
    if (x.empty()) return {0, 0};
    auto* const sums = on.scratch<sums_of_signs>(scratch_for::result, 1).data();
    add_buckets_up(on, x, x.size(), magnitude_below_zero{}, &sums->below);
    add_buckets_up(on, x, x.size(), number_not_below_zero{}, &sums->others);
    auto const found = fetched(on, sums);
    return {found.below, found.others};
}

/// The first coordinate that is NaN or infinite, x.size() where there is none.
template <Scalar T>
std::size_t first_non_finite(device& on, std::span<T const> x) {
    using namespace detail::on_device;
    auto const inverted = found_in<std::uint64_t>(on, x, [&](auto* out) {
        return raise_to_first_non_finite<T>{x.data(), out};
    });
    return inverted == 0 ? x.size() : static_cast<std::size_t>(~inverted);
}

}  // namespace laconic::kernels
