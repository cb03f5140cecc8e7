// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/backend/device/kth_largest.hpp"  // first: it refuses compilers that Thrust would not

#include <thrust/functional.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "laconic/backend/device/reduce.hpp"
#include "laconic/backend/device/update.hpp"

/// Which coordinates of a vector travel. All write ascending coordinates; those whose number is not known before wait
/// for it. Contracts stand at the host's form.
namespace laconic::detail::on_device {

// Word w has a bit for each of 32 coordinates: those that are chosen, and those of which the first are chosen, the
// ties. before_w, below, is how many there are in the words before, of the ties in its upper half.
struct choice {
    std::uint32_t *chosen, *ties;
};
struct count_choice {
    choice marks;
    LACONIC_HOST_DEVICE std::uint64_t operator()(std::size_t w) const {
        return std::uint64_t{ones_in(marks.ties[w])} << 32 | ones_in(marks.chosen[w]);
    }
};
/// Writes what `t` chooses of x to `out`, ascending: x is read once.
template <Scalar T>
void list_choice(device& on, std::span<T const> x, cutoff<T> const* t, coordinate* out) {
    std::size_t const words = (x.size() + 31) / 32;
    auto* const before = on.scratch<std::uint64_t>(scratch_for::marks, 2 * words).data();
    auto* const bits = reinterpret_cast<std::uint32_t*>(before + words);
    choice const marks{bits, bits + words};
    // A byte of both: eight coordinates, so that neighbouring threads read neighbouring numbers.
    for_each_index(on, 4 * words, [=] LACONIC_DEVICE(std::size_t byte) {
        auto const known = *t;
        std::uint32_t chosen = 0, ties = 0;
        for (std::uint32_t j = 0; j < 8 && 8 * byte + j < x.size(); ++j) {
            auto const magnitude = magnitude_bits(x[8 * byte + j]);
            chosen |= std::uint32_t{known.chooses(magnitude)} << j;
            ties |= std::uint32_t{known.is_tie(magnitude)} << j;
        }
        std::size_t const place = place_of_byte<std::uint32_t>(byte);
        reinterpret_cast<std::uint8_t*>(marks.chosen)[place] = static_cast<std::uint8_t>(chosen);
        reinterpret_cast<std::uint8_t*>(marks.ties)[place] = static_cast<std::uint8_t>(ties);
    });
    sum_before(on, words, count_choice{marks}, before);
    for_each_index(on, words, [=] LACONIC_DEVICE(std::size_t w) {
        std::uint32_t const chosen = marks.chosen[w], ties = marks.ties[w], wanted = t->missing;
        auto const ties_before = static_cast<std::uint32_t>(before[w] >> 32);
        std::uint32_t left = ties_before < wanted ? wanted - ties_before : 0;
        auto* to = out + static_cast<std::uint32_t>(before[w]) + (wanted - left);
        if ((chosen | ties) == 0) return;
        for (std::uint32_t j = 0; j < 32; ++j) {
            std::uint32_t const tie = left > 0 ? ties >> j & 1 : 0;
            left -= tie;
            if ((chosen >> j & 1) != 0 || tie != 0) *to++ = static_cast<coordinate>(32 * w + j);
        }
    });
}

// The thresholds of select_about(): magnitudes with so many lowest bits set.
template <Scalar T>
inline constexpr int thresholds = sizeof(T) == 4 ? 3 : 6;
template <Scalar T>
LACONIC_HOST_DEVICE constexpr bits_of<T> free_bits(int threshold) {
    int const free = std::numeric_limits<bits_of<T>>::digits - 12 - 11 * threshold;
    return free > 0 ? static_cast<bits_of<T>>((bits_of<T>{1} << free) - 1) : 0;
}
template <Scalar T>
struct counts_above {
    std::uint32_t of[thresholds<T>] = {};
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

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

/// Reads x in three passes, whatever is in it; scratch memory has as many bytes as x (kth_largest.hpp). Does not wait.
template <Scalar T>
void select_largest(device& on, std::span<T const> x, std::size_t k, device_array<coordinate>& out) {
    LACONIC_EXPECTS(k <= x.size() && x.size() <= detail::largest_dimension);
    using namespace detail::on_device;
    out.resize_anew(k);
    if (k > 0) list_choice(on, x, find_cutoff(on, x, k), out.data());
}

template <Scalar T>
void select_above(device& on, std::span<T const> x, T bound, device_array<coordinate>& out) {
    LACONIC_EXPECTS(x.size() <= detail::largest_dimension);
    detail::on_device::list_indices(
        on, x.size(), [=] LACONIC_DEVICE(coordinate i) { return !(std::abs(x[i]) <= bound); }, out);
}

template <Scalar T>
void select_above(device& on, std::span<T const> x, std::span<T const> bounds, device_array<coordinate>& out) {
    LACONIC_EXPECTS(bounds.size() == x.size() && x.size() <= detail::largest_dimension);
    detail::on_device::list_indices(
        on, x.size(), [=] LACONIC_DEVICE(coordinate i) { return !(std::abs(x[i]) <= bounds[i]); }, out);
}

template <Scalar T>
bool compensate_and_select_largest(device& on, T a, std::span<T const> g, std::span<T const> h, T b,
                                   std::span<T const> e, std::span<T> out, std::size_t k,
                                   device_array<coordinate>& at) {
    if (!compensate(on, a, g, h, b, e, out)) return false;
    select_largest(on, std::span<T const>(out), k, at);
    return true;
}

/// Reads x in four passes; where no threshold leaves enough, in six at most. Waits once, for the number of coordinates.
template <Scalar T>
void select_about(device& on, std::span<T const> x, std::size_t least, std::size_t k, std::size_t most,
                  device_array<coordinate>& out) {
    LACONIC_EXPECTS(least <= k && k <= most && most <= x.size() && x.size() <= detail::largest_dimension);
    using namespace detail::on_device;
    out.resize_anew(most);
    if (most == x.size())
        return for_each_index(on, most,
                              [to = out.data()] LACONIC_DEVICE(std::size_t i) { to[i] = static_cast<coordinate>(i); });
    // The lowest threshold that leaves no more than `most` is the grid's next one above the magnitude after these.
    auto const* const t = find_cutoff(on, x, most + 1, true);
    auto* const counts = on.scratch<counts_above<T>>(scratch_for::counts, 1).data();
    on.scratch<coordinate>(scratch_for::sums, 1);  // where no threshold leaves enough, too: a later list needs it
    clear_bytes(on, counts, sizeof *counts);
    for_each_bucket<counts_above<T>>(
        on, x.size(), x.size(),
        [=] LACONIC_DEVICE(counts_above<T> & found, std::size_t i) {
            auto const bits = magnitude_bits(x[i]), lowest = t->magnitude;
            for (int j = 0; j < thresholds<T>; ++j) found.of[j] += bits > (lowest | free_bits<T>(j));
        },
        [=] LACONIC_DEVICE(counts_above<T> const& found, std::size_t) {
            for (int j = 0; j < thresholds<T>; ++j)
                if (found.of[j] != 0) add_together(counts->of[j], found.of[j]);
        });
    auto const above = fetched(on, counts);
    int const first = static_cast<int>(
        std::find_if(above.of, above.of + thresholds<T>, [&](auto n) { return n >= least; }) - above.of);
    if (first == thresholds<T>) return select_largest(on, x, k, out);
    out.resize_to_overwrite(above.of[first]);
    auto const free = free_bits<T>(first);
    list_indices(
        on, x.size(), [=] LACONIC_DEVICE(coordinate i) { return magnitude_bits(x[i]) > (t->magnitude | free); },
        out.data(), scratch_for::sums);
}

template <Scalar T>
void sort_magnitudes(device& on, std::span<T const> x, device_array<T>& out) {
    using namespace detail::on_device;
    out.resize_anew(x.size());
    for_each_index(on, x.size(), [x, to = out.data()] LACONIC_DEVICE(std::size_t i) { to[i] = std::abs(x[i]); });
    on.call_thrust([&](auto const& how) { thrust::sort(how, out.begin(), out.end(), thrust::greater<T>()); });
}

/// `counts` is the CPU's memory; waits for them.
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

}  // namespace laconic::kernels
