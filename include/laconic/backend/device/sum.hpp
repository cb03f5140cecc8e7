// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "laconic/backend/device/passes.hpp"
#include "laconic/backend/sum_order.hpp"

/// Sums in the order of sum_order.hpp. A stretch is added up by as many threads as it has partial sums, all stretches
/// of a level at the same time.
namespace laconic::detail::on_device {

inline constexpr std::size_t lanes = partial_sums;

/// How many stretches a sum of n summands has; one where there are none.
constexpr std::size_t stretches_of(std::size_t n) { return n <= stretch ? 1 : pieces_in(n, stretch); }

// Buckets of `bucket` >= 1 of n numbers, of which the last may be shorter, and their stretches, one after another.
struct bucket_stretches {
    std::size_t n, bucket;
    std::size_t of_each = stretches_of(bucket);
    std::size_t all = n / bucket * of_each + (n % bucket == 0 ? 0 : stretches_of(n % bucket));
};

// One of the partial sums of one stretch. summand(v, bucket) is asked for where summand.wanted(bucket).
template <Scalar T, class F, Scalar Sum = double>
struct add_lane {
    T const* x;
    bucket_stretches in;
    F summand;
    double* sums;

    LACONIC_HOST_DEVICE void operator()(std::size_t t) const {
        std::size_t const which = t / lanes, b = in.of_each == 1 ? which : which / in.of_each;
        std::size_t const bucket_end = in.n - b * in.bucket < in.bucket ? in.n : (b + 1) * in.bucket;
        std::size_t const first = b * in.bucket + (which - b * in.of_each) * stretch;
        std::size_t const end = bucket_end - first < stretch ? bucket_end : first + stretch;
        constexpr std::size_t ahead = 8;  // loaded together: what is loaded does not wait for what is added
        Sum s = 0;
        if (summand.wanted(b)) {
            std::size_t i = first + t % lanes;
            for (; i + (ahead - 1) * lanes < end; i += ahead * lanes) {
                T v[ahead];
                for (std::size_t j = 0; j < ahead; ++j) v[j] = x[i + j * lanes];
                for (std::size_t j = 0; j < ahead; ++j) s += summand(static_cast<Sum>(v[j]), b);
            }
            for (; i < end; i += lanes) s += summand(static_cast<Sum>(x[i]), b);
        }
        sums[t] = static_cast<double>(s);
    }
};

template <Scalar Sum = double>
struct add_lanes_in_halves {
    double const* sums;
    double* out;

    LACONIC_HOST_DEVICE void operator()(std::size_t b) const {
        Sum s[lanes];
        for (std::size_t j = 0; j < lanes; ++j) s[j] = static_cast<Sum>(sums[b * lanes + j]);
        for (std::size_t n = lanes / 2; n > 0; n /= 2)
            for (std::size_t j = 0; j < n; ++j) s[j] += s[j + n];
        out[b] = static_cast<double>(s[0]);
    }
};

// Summands.

struct of_all_buckets {
    LACONIC_HOST_DEVICE bool wanted(std::size_t) const { return true; }
};
struct number : of_all_buckets {
    LACONIC_HOST_DEVICE double operator()(double v, std::size_t) const { return v; }
};
struct magnitude : of_all_buckets {
    LACONIC_HOST_DEVICE double operator()(double v, std::size_t) const { return std::abs(v); }
};
template <bool below_zero>
struct magnitude_of_sign : of_all_buckets {
    LACONIC_HOST_DEVICE double operator()(double v, std::size_t) const {
        return (v < 0) == below_zero ? std::abs(v) : 0;
    }
};
struct square : of_all_buckets {
    template <Scalar Sum>
    LACONIC_HOST_DEVICE Sum operator()(Sum v, std::size_t) const {
        return rounded_product(v, v);
    }
};
template <bool squared>
struct number_about : of_all_buckets {
    double scale, centre;
    LACONIC_HOST_DEVICE double operator()(double v, std::size_t) const {
        double const away = v / scale - centre;
        return squared ? rounded_product(away, away) : away;
    }
};

/// Room for the partial sums of that many stretches, and for their sums behind.
inline double* room_for_sums(device& on, std::size_t stretches) {
    return on.scratch<double>(scratch_for::sums, stretches * (lanes + 1)).data();
}

/// out_b = the sum of what is left to add when room_for_sums() holds the partial sums of all stretches, `of_each` for a
/// sum, of which the last may have fewer.
template <Scalar Sum = double>
void add_stretches_up(device& on, std::size_t all, std::size_t of_each, double* room, double* out) {
    double* const sums = room + all * lanes;
    for_each_index(on, all, add_lanes_in_halves<Sum>{room, of_each == 1 ? out : sums});
    while (of_each > 1) {  // the sums of the stretches are in buckets of their own
        bucket_stretches const in{all, of_each};
        for_each_index(on, in.all * lanes, add_lane<double, number>{sums, in, {}, room});
        all = in.all;
        of_each = in.of_each;
        for_each_index(on, all, add_lanes_in_halves<>{room, of_each == 1 ? out : sums});
    }
}

/// out_b = the sum over bucket b of x; out has room for all buckets of `bucket` >= 1 numbers, of which the last may be
/// shorter.
template <Scalar Sum = double, Scalar T, class F>
void add_buckets_up(device& on, std::span<T const> x, std::size_t bucket, F summand, double* out) {
    bucket_stretches const in{x.size(), bucket};
    double* const room = room_for_sums(on, in.all);
    for_each_index(on, in.all * lanes, add_lane<T, F, Sum>{x.data(), in, summand, room});
    add_stretches_up<Sum>(on, in.all, in.of_each, room, out);
}

/// The sum over all of x. Waits.
template <Scalar Sum = double, Scalar T, class F>
double ordered_sum(device& on, std::span<T const> x, F summand) {
    if (x.empty()) return 0;
    auto* const out = on.scratch<double>(scratch_for::result, 1).data();
    add_buckets_up<Sum>(on, x, x.size(), summand, out);
    return fetched(on, out);
}

}  // namespace laconic::detail::on_device
