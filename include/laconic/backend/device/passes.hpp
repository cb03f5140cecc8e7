// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/backend/device/memory.hpp"  // first: it refuses compilers that Thrust would not

#include <thrust/copy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "laconic/backend/scales.hpp"
#include "laconic/backend/settle.hpp"

#if defined(LACONIC_ON_CUDA)
#    include <cub/device/device_scan.cuh>
#    include <cub/device/device_select.cuh>
#endif

/// What all kernels of the device are made of: a pass over indices, and a list of those that are chosen. None waits but
/// where that is stated.
namespace laconic::detail::on_device {

using detail::bits_of, detail::infinite_bits, detail::magnitude_bits, detail::pieces_in;
using simd::rounded_product;

LACONIC_HOST_DEVICE inline std::uint32_t ones_in(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
    return static_cast<std::uint32_t>(__popc(word));
#else
    return static_cast<std::uint32_t>(std::popcount(word));
#endif
}

/// Where the t-th byte, from the lowest, of a list of words stands.
template <std::unsigned_integral Word>
constexpr std::size_t place_of_byte(std::size_t t) {
    return std::endian::native == std::endian::little ? t : t ^ (sizeof(Word) - 1);
}

// Whole numbers that many threads change at a time, in any order. They return what was there before.

LACONIC_HOST_DEVICE inline std::uint32_t add_together(std::uint32_t& to, std::uint32_t n) {
#if defined(__CUDA_ARCH__)
    return atomicAdd(&to, n);
#else
    return std::atomic_ref(to).fetch_add(n, std::memory_order_relaxed);
#endif
}
LACONIC_HOST_DEVICE inline std::uint32_t set_together(std::uint32_t& to, std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return atomicOr(&to, bits);
#else
    return std::atomic_ref(to).fetch_or(bits, std::memory_order_relaxed);
#endif
}
/// to = n where it is `expected`.
LACONIC_HOST_DEVICE inline std::uint32_t replace_together(std::uint32_t& to, std::uint32_t expected, std::uint32_t n) {
#if defined(__CUDA_ARCH__)
    return atomicCAS(&to, expected, n);
#else
    std::atomic_ref(to).compare_exchange_strong(expected, n, std::memory_order_relaxed);
    return expected;
#endif
}
/// Raises it to n; most calls find it large enough and change nothing.
template <std::unsigned_integral N>
LACONIC_HOST_DEVICE void raise_together(N& to, N n) {
#if defined(__CUDA_ARCH__)
    using native = std::conditional_t<sizeof(N) == 4, unsigned, unsigned long long>;
    auto* const target = reinterpret_cast<native*>(&to);
    if (*static_cast<native volatile*>(target) < n) atomicMax(target, static_cast<native>(n));
#else
    std::atomic_ref target(to);
    for (N before = target.load(std::memory_order_relaxed); before < n;)
        if (target.compare_exchange_weak(before, n, std::memory_order_relaxed)) return;
#endif
}

#if defined(LACONIC_ON_CUDA)
inline constexpr unsigned threads_of_block = 256;

template <class F>
__global__ void __launch_bounds__(threads_of_block) call_each(std::size_t n, F f) {
    std::size_t const together = std::size_t{gridDim.x} * threads_of_block;
    for (std::size_t i = std::size_t{blockIdx.x} * threads_of_block + threadIdx.x; i < n; i += together) f(i);
}
#endif

/// f(i) for all i < n, in any order.
template <class F>
void for_each_index(device& on, std::size_t n, F f) {
#if defined(LACONIC_ON_CUDA)  // the pass that Thrust's for_each_n makes, with less for nvcc to compile
    if (n == 0) return;
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();  // blocks of a grid
    std::size_t const blocks = (n + threads_of_block - 1) / threads_of_block;
    call_each<<<static_cast<unsigned>(std::min(blocks, most)), threads_of_block, 0, on.stream()>>>(n, f);
    check(cudaGetLastError());
#else
    on.call_thrust([&](auto const& how) { thrust::for_each_n(how, thrust::counting_iterator<std::size_t>(0), n, f); });
#endif
}

/// How many indices one call handles where a call is worth more than one, and how many such calls share a stretch of
/// them: neighbours read neighbours, which is how a GPU reads memory in whole lines.
inline constexpr std::size_t each_of_tile = 64, neighbours = 32, tile = each_of_tile * neighbours;

template <class F>
struct tiled {
    std::size_t n;
    F f;
    LACONIC_HOST_DEVICE void operator()(std::size_t t) const {
        std::size_t const first = t / neighbours * tile + t % neighbours;
        std::size_t const end = n < first + tile ? n : first + tile;
        f(first, end);
    }
};

/// Calls f(first, end), one call for each first, first + neighbours, first + 2 neighbours, .. < end of all i < n.
template <class F>
void for_each_tile(device& on, std::size_t n, F f) {
    for_each_index(on, (n + tile - 1) / tile * neighbours, tiled<F>{n, f});
}

// Lambdas of the device do not tell the CPU what they return.
template <class F>
struct predicate {
    F f;
    LACONIC_DEVICE bool operator()(coordinate i) const { return f(i); }
};

/// Writes all i < n with chosen(i), ascending, to `to`, and returns where on the device how many they are will stand:
/// in scratch memory for that use.
template <class F>
coordinate* list_indices(device& on, std::size_t n, F f, coordinate* to, scratch_for use = scratch_for::result) {
    auto* const count = on.scratch<coordinate>(use, 1).data();
    predicate<F> const chosen{f};
    thrust::counting_iterator<coordinate> const first(0);
#if defined(LACONIC_ON_CUDA)
#    if CUB_VERSION >= 200800
    using length = std::int64_t;
#    else
    using length = int;
    if (n > std::numeric_limits<length>::max())
        throw argument_error({"CUB ", CUB_VERSION, " lists what is chosen of fewer than 2^31 numbers, not of ", n,
                              ": compile this with CUDA 12.9 or newer"});
#    endif
    std::size_t bytes = 0;
    auto const select = [&](void* room) {
        check(cub::DeviceSelect::If(room, bytes, first, to, count, static_cast<length>(n), chosen, on.stream()));
    };
    select(nullptr);
    select(on.scratch<std::byte>(scratch_for::temporary, bytes).data());
#else
    on.call_thrust([&](auto const& how) {
        auto* const end = thrust::copy_if(how, first, first + static_cast<std::ptrdiff_t>(n), to, chosen);
        *count = static_cast<coordinate>(end - to);
    });
#endif
    return count;
}

/// sums_i = number(0) + .. + number(i - 1) for i < n <= 2^27.
template <class F>
void sum_before(device& on, std::size_t n, F number, std::uint64_t* sums) {
    auto const first = thrust::make_transform_iterator(thrust::counting_iterator<std::size_t>(0), number);
#if defined(LACONIC_ON_CUDA)
    std::size_t bytes = 0;
    auto const add_up = [&](void* room) {
        check(cub::DeviceScan::ExclusiveSum(room, bytes, first, sums, static_cast<int>(n), on.stream()));
    };
    add_up(nullptr);
    add_up(on.scratch<std::byte>(scratch_for::temporary, bytes).data());
#else
    on.call_thrust([&](auto const& how) {
        thrust::exclusive_scan(how, first, first + static_cast<std::ptrdiff_t>(n), sums, std::uint64_t{0});
    });
#endif
}

/// list_indices() to an array that is as long as the list. Waits for its length.
template <class F>
void list_indices(device& on, std::size_t n, F chosen, kernels::device_array<coordinate>& to) {
    to.resize_to_overwrite(0);
    to.reserve(n);  // once: a later list may be longer
    to.resize_to_overwrite(fetched(on, list_indices(on, n, chosen, to.data())));
}

}  // namespace laconic::detail::on_device
