// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/backend/device/system.hpp"  // first: it refuses compilers that Thrust would not

#include <thrust/functional.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "laconic/backend/device/kth_largest.hpp"
#include "laconic/backend/device/memory.hpp"
#include "laconic/backend/device/passes.hpp"
#include "laconic/backend/device/reduce.hpp"
#include "laconic/backend/magnitude_bins.hpp"
#include "laconic/backend/unit_scale.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

/// How large the numbers of a vector are, and how they are made smaller.
namespace laconic::detail::on_device {

template <Scalar T>
struct write_magnitude {
    T const* x;
    T* out;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const { out[i] = std::abs(x[i]); }
};
template <Scalar T>
struct count_in_bins {
    static constexpr int shift = std::numeric_limits<T>::digits - 1 - kernels::magnitude_bins::width;
    T const* x;
    T scale;
    bits_of<T> top;
    std::uint32_t* counts;
    std::size_t bins;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const {
        auto const bin = static_cast<bits_of<T>>(top - (magnitude_bits(x[i] * scale) >> shift));
        if (bin < bins) add_together(counts[bin], 1u);
    }
};
#if defined(LACONIC_ON_CUDA)

// As kth_largest.hpp counts digits: each block of threads by itself, as most numbers lie in few bins.
template <Scalar T>
__global__ void __launch_bounds__(counting_threads) count_bins_in_blocks(count_in_bins<T> pass, std::size_t n) {
    __shared__ std::uint32_t counts[kernels::magnitude_bins::count];
    auto const bins = static_cast<unsigned>(pass.bins);
    for (unsigned b = threadIdx.x; b < bins; b += counting_threads) counts[b] = 0;
    __syncthreads();
    auto* const all = pass.counts;
    pass.counts = counts;
    std::size_t const together = std::size_t{gridDim.x} * counting_threads;
    for (std::size_t i = std::size_t{blockIdx.x} * counting_threads + threadIdx.x; i < n; i += together) pass(i);
    __syncthreads();
    for (unsigned b = threadIdx.x; b < bins; b += counting_threads)
        if (counts[b] != 0) atomicAdd(&all[b], counts[b]);
}
template <Scalar T>
void run(device& on, std::size_t n, count_in_bins<T> pass) {
    LACONIC_EXPECTS(pass.bins <= kernels::magnitude_bins::count);
    if (n == 0) return;
    constexpr std::size_t numbers = counting_threads * each_of_thread;
    auto const blocks = std::min((n + numbers - 1) / numbers, 4 * multiprocessors());
    count_bins_in_blocks<<<static_cast<unsigned>(blocks), counting_threads, 0, on.stream()>>>(pass, n);
    check(cudaGetLastError());
}

#else

template <Scalar T>
void run(device& on, std::size_t n, count_in_bins<T> pass) {
    for_each_index(on, n, pass);
}

#endif

template <Scalar T>
struct shrink_by {
    T by;
    T* x;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const {
        T const v = x[i];
        x[i] = v > by ? v - by : v < -by ? v + by : T(0);
    }
};
template <Scalar T>
struct clip_at {
    T most;
    T* x;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const {
        T const v = x[i];
        if (std::abs(v) > most) x[i] = v < 0 ? -most : most;
    }
};
template <Scalar T>
struct raise_and_multiply {
    T least, factor;
    T* y;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const {
        T const size = std::abs(y[i]);
        y[i] = std::copysign(size < least ? least : size, y[i]) * factor;
    }
};

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

/// |x_i|, the largest first. All finite. Does not wait.
template <Scalar T>
void sort_magnitudes(device& on, std::span<T const> x, device_array<T>& out) {
    using namespace detail::on_device;
    out.resize_to_overwrite(0);
    out.reserve(x.size());
    out.resize_to_overwrite(x.size());
    for_each_index(on, x.size(), write_magnitude<T>{x.data(), out.data()});
    on.call_thrust([&](auto const& how) { thrust::sort(how, out.begin(), out.end(), thrust::greater<T>()); });
}

/// How many |x_i| fall into each of the magnitude_bins below that of the largest, which is `largest`. All finite, not
/// all 0. `counts` is the CPU's memory; waits for them.
template <Scalar T>
void count_by_magnitude(device& on, std::span<T const> x, T largest, std::span<std::uint32_t> counts) {
    LACONIC_EXPECTS(x.size() <= detail::largest_dimension);
    using namespace detail::on_device;
    T const scale = unit_scale(largest);  // so that none that counts is subnormal
    auto const top = static_cast<bits_of<T>>(magnitude_bits(largest * scale) >> count_in_bins<T>::shift);
    auto const there = on.scratch<std::uint32_t>(scratch_for::counts, counts.size());
    clear_bytes(on, there.data(), there.size_bytes());
    run(on, x.size(), count_in_bins<T>{x.data(), scale, top, there.data(), there.size()});
    copy_to_host(on, std::span<std::uint32_t const>(there), counts);
}

/// x_i comes nearer to 0 by `by` >= 0, and is 0 where it would pass it. A NaN becomes 0.
template <Scalar T>
void soft_threshold(device& on, T by, std::span<T> x) {
    detail::on_device::for_each_index(on, x.size(), detail::on_device::shrink_by<T>{by, x.data()});
}

/// |x_i| becomes `most` >= 0 where it is above; signs stay, and so does a NaN.
template <Scalar T>
void clip_magnitudes(device& on, T most, std::span<T> x) {
    detail::on_device::for_each_index(on, x.size(), detail::on_device::clip_at<T>{most, x.data()});
}

/// |y_i| <- max(|y_i|, least) x factor, the signs as they are. No y_i is NaN.
template <Scalar T>
void raise_magnitudes(device& on, T least, T factor, std::span<T> y) {
    detail::on_device::for_each_index(on, y.size(), detail::on_device::raise_and_multiply<T>{least, factor, y.data()});
}

}  // namespace laconic::kernels
