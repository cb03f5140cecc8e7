// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "laconic/backend/device/passes.hpp"

#if defined(LACONIC_ON_CUDA)
#    include <cub/block/block_scan.cuh>
#endif

/// The k-th largest magnitude without sorting: by the digits of the magnitudes' binary form, from the highest down. A
/// pass counts the values of a digit among the candidates, which agree with the digits that are known; then the one
/// that the k-th has is found. Only the first two passes read the numbers. The second lists the magnitudes of its
/// candidates, for which there is room however many they are, and the later passes, one for floats and four for
/// doubles, read these. Nothing waits.
namespace laconic::detail::on_device {

inline constexpr int digit_width = 11;
inline constexpr std::size_t digit_values = std::size_t{1} << digit_width;

/// Chosen is what has a larger magnitude, and of those that have the same the first `missing`; all of them where
/// `found` is 1. Then no more digits are looked at, and those that are not known are 0 in `magnitude`.
template <Scalar T>
struct cutoff {
    bits_of<T> magnitude = 0;
    coordinate missing = 0;
    std::uint32_t found = 0;

    LACONIC_HOST_DEVICE bool chooses(bits_of<T> bits) const {
        return bits > magnitude || (found != 0 && bits == magnitude);
    }
    LACONIC_HOST_DEVICE bool is_tie(bits_of<T> bits) const { return found == 0 && bits == magnitude; }
};

enum class list_is { not_there, made, read };

// The magnitudes of candidates in any order.
template <Scalar T>
struct candidates {
    bits_of<T>* bits;
    std::uint32_t* count;
};

// counts_v += how many candidates have v as the digit whose lowest bit stands at `shift`.
template <Scalar T, list_is List>
struct count_digits {
    static constexpr std::size_t no_candidate = digit_values;
    T const* x;
    cutoff<T> const* t;
    int shift, width;
    candidates<T> list;
    std::uint32_t* counts;

    LACONIC_HOST_DEVICE void operator()(std::size_t first, std::size_t end) const {
        auto const known = *t;
        if (known.found != 0) return;
        if (std::size_t const all = candidates_of(end); all < end) end = all;
        for (std::size_t p = first; p < end; p += neighbours) {
            auto const bits = bits_at(p);
            std::size_t const v = digit(known, bits);
            if (v == no_candidate) continue;
            add_together(counts[v], 1u);
            if constexpr (List == list_is::made) list.bits[add_together(*list.count, 1u)] = bits;
        }
    }

    /// How many there are to be looked at where x has n numbers.
    LACONIC_HOST_DEVICE std::size_t candidates_of(std::size_t n) const {
        return List == list_is::read ? *list.count : n;
    }
    LACONIC_HOST_DEVICE bits_of<T> bits_at(std::size_t p) const {
        if constexpr (List == list_is::read)
            return list.bits[p];
        else
            return magnitude_bits(x[p]);
    }
    LACONIC_HOST_DEVICE std::size_t digit(cutoff<T> const& known, bits_of<T> bits) const {
        auto const differ = static_cast<bits_of<T>>(bits ^ known.magnitude);
        auto const mask = static_cast<bits_of<T>>((bits_of<T>{1} << width) - 1);
        return differ >> shift >> width == 0 ? static_cast<std::size_t>(bits >> shift & mask) : no_candidate;
    }
};

// The k-th's digit, from how many candidates have which. Leaves the counts 0 for the next.
template <Scalar T>
struct find_digit {
    cutoff<T>* t;
    int shift, width;
    bool may_stop;  // before all digits are known
    std::uint32_t* counts;

    LACONIC_HOST_DEVICE void operator()(std::size_t) const {
        if (t->found != 0) return;
        std::uint32_t before = 0;
        for (std::size_t j = 0, missing = t->missing; j < values(); ++j) {
            std::uint32_t const count = counts[value(j)];
            counts[value(j)] = 0;
            if (before < missing && before + count >= missing) settle_on(value(j), before, count);
            before += count;
        }
    }

    LACONIC_HOST_DEVICE std::size_t values() const { return std::size_t{1} << width; }
    /// The values from the largest down.
    LACONIC_HOST_DEVICE std::size_t value(std::size_t j) const { return values() - 1 - j; }
    /// v is the digit: `count` candidates have it, and `before` have a larger one.
    LACONIC_HOST_DEVICE void settle_on(std::size_t v, std::uint32_t before, std::uint32_t count) const {
        t->missing -= before;
        t->found = may_stop && count == t->missing;
        t->magnitude |= static_cast<bits_of<T>>(v) << shift;
    }
};

#if defined(LACONIC_ON_CUDA)

// The same passes by blocks of threads: what a block counts and lists it puts together in its own memory first.
inline constexpr unsigned counting_threads = 512, each_of_thread = 8, finding_threads = 1024;

template <Scalar T, list_is List>
__global__ void __launch_bounds__(counting_threads) count_in_blocks(count_digits<T, List> pass, std::size_t n) {
    __shared__ std::uint32_t counts[digit_values], total, start;
    auto const known = *pass.t;
    if (known.found != 0) return;
    for (unsigned v = threadIdx.x; v < digit_values; v += counting_threads) counts[v] = 0;
    __syncthreads();
    std::size_t const end = pass.candidates_of(n);
    constexpr std::size_t together = counting_threads * each_of_thread;
    for (std::size_t first = blockIdx.x * together; first < end; first += gridDim.x * together) {
        bits_of<T> bits[each_of_thread];
        std::size_t digits[each_of_thread];
        std::uint32_t mine = 0;
        for (unsigned j = 0; j < each_of_thread; ++j) {
            std::size_t const p = first + j * counting_threads + threadIdx.x;
            bits[j] = p < end ? pass.bits_at(p) : 0;
            digits[j] = p < end ? pass.digit(known, bits[j]) : pass.no_candidate;
            mine += digits[j] != pass.no_candidate;
        }
        for (unsigned j = 0; j < each_of_thread; ++j)
            if (digits[j] != pass.no_candidate) atomicAdd(&counts[digits[j]], 1u);
        if constexpr (List == list_is::made) {
            if (threadIdx.x == 0) total = 0;
            __syncthreads();
            std::uint32_t to = mine == 0 ? 0 : atomicAdd(&total, mine);
            __syncthreads();
            if (threadIdx.x == 0) start = total == 0 ? 0 : atomicAdd(pass.list.count, total);
            __syncthreads();
            to += start;
            for (unsigned j = 0; j < each_of_thread; ++j)
                if (digits[j] != pass.no_candidate) pass.list.bits[to++] = bits[j];
            __syncthreads();
        }
    }
    __syncthreads();
    for (unsigned v = threadIdx.x; v < digit_values; v += counting_threads)
        if (counts[v] != 0) atomicAdd(&pass.counts[v], counts[v]);
}

template <Scalar T>
__global__ void __launch_bounds__(finding_threads) find_in_block(find_digit<T> pass) {
    using scan = cub::BlockScan<std::uint32_t, finding_threads>;
    __shared__ typename scan::TempStorage room;
    constexpr unsigned each = digit_values / finding_threads;
    std::uint32_t const missing = pass.t->missing, found = pass.t->found;
    __syncthreads();  // all have read before one writes
    if (found != 0) return;
    std::uint32_t counts[each], before[each];
    for (unsigned j = 0; j < each; ++j) {
        std::size_t const place = threadIdx.x * each + j;
        counts[j] = place < pass.values() ? pass.counts[pass.value(place)] : 0;
    }
    scan(room).ExclusiveSum(counts, before);
    for (unsigned j = 0; j < each; ++j) {
        std::size_t const place = threadIdx.x * each + j;
        if (place < pass.values()) pass.counts[pass.value(place)] = 0;
        if (before[j] < missing && before[j] + counts[j] >= missing)
            pass.settle_on(pass.value(place), before[j], counts[j]);
    }
}

inline std::size_t multiprocessors() {
    int where = 0, count = 0;
    check(cudaGetDevice(&where));
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, where));
    return static_cast<std::size_t>(count);
}

template <Scalar T, list_is List>
void run(device& on, std::size_t n, count_digits<T, List> pass) {
    constexpr std::size_t together = counting_threads * each_of_thread;
    auto const blocks = std::min((n + together - 1) / together, 4 * multiprocessors());
    count_in_blocks<<<static_cast<unsigned>(blocks), counting_threads, 0, on.stream()>>>(pass, n);
    check(cudaGetLastError());
}
template <Scalar T>
void run(device& on, find_digit<T> pass) {
    find_in_block<<<1, finding_threads, 0, on.stream()>>>(pass);
    check(cudaGetLastError());
}

#else

template <Scalar T, list_is List>
void run(device& on, std::size_t n, count_digits<T, List> pass) {
    for_each_tile(on, n, pass);
}
template <Scalar T>
void run(device& on, find_digit<T> pass) {
    for_each_index(on, 1, pass);
}

#endif

/// The cutoff that chooses exactly k >= 1 of x, at an address on the device; or only the k-th largest magnitude, to its
/// last digit. Its scratch memory has as many bytes as x, and 8 KiB.
template <Scalar T>
cutoff<T> const* find_cutoff(device& on, std::span<T const> x, std::size_t k, bool only_magnitude = false) {
    auto* const t = on.scratch<cutoff<T>>(scratch_for::result, 1).data();
    auto const counts = on.scratch<std::uint32_t>(scratch_for::counts, digit_values + 1);
    candidates<T> const list{on.scratch<bits_of<T>>(scratch_for::marks, x.size()).data(), counts.data() + digit_values};
    for_each_index(on, 1, [=] LACONIC_DEVICE(std::size_t) {
        *t = {};
        t->missing = static_cast<coordinate>(k);
    });
    clear_bytes(on, counts.data(), counts.size_bytes());
    int shift = std::numeric_limits<bits_of<T>>::digits - 1;
    auto const pass = [&]<list_is List>(std::integral_constant<list_is, List>) {
        int const width = shift < digit_width ? shift : digit_width;
        shift -= width;
        run(on, x.size(), count_digits<T, List>{x.data(), t, shift, width, list, counts.data()});
        run(on, find_digit<T>{t, shift, width, !only_magnitude, counts.data()});
    };
    pass(std::integral_constant<list_is, list_is::not_there>{});
    pass(std::integral_constant<list_is, list_is::made>{});
    while (shift > 0) pass(std::integral_constant<list_is, list_is::read>{});
    return t;
}

}  // namespace laconic::detail::on_device
