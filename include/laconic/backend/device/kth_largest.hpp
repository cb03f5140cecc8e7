// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "laconic/backend/device/memory.hpp"
#include "laconic/backend/device/passes.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

#if defined(LACONIC_ON_CUDA)
#    include <cub/block/block_scan.cuh>
#endif

/// The k-th largest magnitude without sorting, and among equal ones the lowest coordinates: by the digits of the
/// magnitudes' binary form, from the highest down, then by those of the coordinates. A pass counts the values of a
/// digit among the candidates, which agree with the digits that are known; then the one that the k-th has is found. The
/// second pass lists its candidates, and later passes read only these, unless they are more than there is room for.
/// Nothing waits.
namespace laconic::detail::on_device {

inline constexpr int digit_width = 11;
inline constexpr std::size_t digit_values = std::size_t{1} << digit_width;

/// Chosen is what has a larger magnitude, or the same and a coordinate of at most `last`. The digits that are not
/// known are 0 in `magnitude`.
template <Scalar T>
struct cutoff {
    bits_of<T> magnitude = 0;
    coordinate last = std::numeric_limits<coordinate>::max();
    coordinate missing = 0;   // how many are to be taken of the candidates
    std::uint32_t found = 0;  // 1: all of them, and no more digits are looked at
};

template <Scalar T>
struct is_chosen {
    T const* x;
    cutoff<T> const* t;

    LACONIC_HOST_DEVICE bool operator()(coordinate i) const {
        auto const bits = magnitude_bits(x[i]);
        return bits > t->magnitude || (bits == t->magnitude && i <= t->last);
    }
};

// Of magnitudes the largest are wanted, of coordinates the lowest.
enum class digit_of { magnitude, coordinate };
enum class list_is { not_there, made, read };

// The coordinates of candidates in any order; `count` goes on where there is no room for more.
struct candidates {
    coordinate* at;
    std::uint32_t* count;
    std::uint32_t room;
};

// counts_v += how many candidates have v as the digit whose lowest bit stands at `shift`.
template <Scalar T, digit_of Kind, list_is List>
struct count_digits {
    static constexpr std::size_t no_candidate = digit_values;
    T const* x;
    cutoff<T> const* t;
    int shift, width;
    candidates list;
    std::uint32_t* counts;

    LACONIC_HOST_DEVICE void operator()(std::size_t first, std::size_t end) const {
        auto const known = *t;
        if (known.found != 0) return;
        bool const listed = has_list();
        if (listed && *list.count < end) end = *list.count;
        for (std::size_t p = first; p < end; p += neighbours) {
            coordinate const i = place(listed, p);
            std::size_t const v = digit(known, i);
            if (v == no_candidate) continue;
            add_together(counts[v], 1u);
            if constexpr (List == list_is::made)
                if (auto const to = add_together(*list.count, 1u); to < list.room) list.at[to] = i;
        }
    }

    LACONIC_HOST_DEVICE bool has_list() const {
        if constexpr (List == list_is::read)
            return *list.count <= list.room;
        else
            return false;
    }
    LACONIC_HOST_DEVICE coordinate place(bool listed, std::size_t p) const {
        return listed ? list.at[p] : static_cast<coordinate>(p);
    }
    LACONIC_HOST_DEVICE std::size_t digit(cutoff<T> const& known, coordinate i) const {
        auto const bits = magnitude_bits(x[i]), differ = static_cast<bits_of<T>>(bits ^ known.magnitude);
        std::uint64_t const mask = (std::uint64_t{1} << width) - 1;
        if constexpr (Kind == digit_of::magnitude)
            return differ >> shift >> width == 0 ? static_cast<std::size_t>(bits >> shift & mask) : no_candidate;
        else
            return differ == 0 && std::uint64_t{i ^ known.last} >> shift >> width == 0
                       ? static_cast<std::size_t>(i >> shift & mask)
                       : no_candidate;
    }
};

// The k-th's digit, from how many candidates have which. Leaves the counts 0 for the next.
template <Scalar T, digit_of Kind>
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
    /// The values in the order in which they are wanted.
    LACONIC_HOST_DEVICE std::size_t value(std::size_t j) const {
        return Kind == digit_of::magnitude ? values() - 1 - j : j;
    }
    /// v is the digit: `count` candidates have it, and `before` have one that is wanted more.
    LACONIC_HOST_DEVICE void settle_on(std::size_t v, std::uint32_t before, std::uint32_t count) const {
        t->missing -= before;
        t->found = may_stop && count == t->missing;
        if constexpr (Kind == digit_of::magnitude) {
            t->magnitude |= static_cast<bits_of<T>>(v) << shift;
        } else {
            auto const below = static_cast<coordinate>((std::uint64_t{1} << shift) - 1);
            auto const kept = ~static_cast<coordinate>((std::uint64_t{1} << (shift + width)) - 1);
            t->last = (t->last & kept) | static_cast<coordinate>(v << shift) | below;
        }
    }
};

template <Scalar T>
struct start_search {
    cutoff<T>* t;
    coordinate k;
    LACONIC_HOST_DEVICE void operator()(std::size_t) const {
        *t = {};
        t->missing = k;
    }
};

#if defined(LACONIC_ON_CUDA)

// The same passes by blocks of threads: what a block counts and lists it puts together in its own memory first.
inline constexpr unsigned counting_threads = 512, each_of_thread = 8, finding_threads = 1024;

template <Scalar T, digit_of Kind, list_is List>
__global__ void __launch_bounds__(counting_threads) count_in_blocks(count_digits<T, Kind, List> pass, std::size_t n) {
    __shared__ std::uint32_t counts[digit_values], total, start;
    auto const known = *pass.t;
    if (known.found != 0) return;
    for (unsigned v = threadIdx.x; v < digit_values; v += counting_threads) counts[v] = 0;
    __syncthreads();
    bool const listed = pass.has_list();
    std::size_t const end = listed ? *pass.list.count : n;
    constexpr std::size_t together = counting_threads * each_of_thread;
    for (std::size_t first = blockIdx.x * together; first < end; first += gridDim.x * together) {
        coordinate at[each_of_thread];
        std::size_t digits[each_of_thread];
        std::uint32_t mine = 0;
        for (unsigned j = 0; j < each_of_thread; ++j) {
            std::size_t const p = first + j * counting_threads + threadIdx.x;
            at[j] = p < end ? pass.place(listed, p) : 0;
            digits[j] = p < end ? pass.digit(known, at[j]) : pass.no_candidate;
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
                if (digits[j] != pass.no_candidate && to++ < pass.list.room) pass.list.at[to - 1] = at[j];
            __syncthreads();
        }
    }
    __syncthreads();
    for (unsigned v = threadIdx.x; v < digit_values; v += counting_threads)
        if (counts[v] != 0) atomicAdd(&pass.counts[v], counts[v]);
}

template <Scalar T, digit_of Kind>
__global__ void __launch_bounds__(finding_threads) find_in_block(find_digit<T, Kind> pass) {
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

template <Scalar T, digit_of Kind, list_is List>
void run(device& on, std::size_t n, count_digits<T, Kind, List> pass) {
    int where = 0, processors = 0;
    check(cudaGetDevice(&where));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, where));
    constexpr std::size_t together = counting_threads * each_of_thread;
    auto const blocks = std::min<std::size_t>((n + together - 1) / together, static_cast<std::size_t>(4 * processors));
    count_in_blocks<<<static_cast<unsigned>(blocks), counting_threads, 0, on.stream()>>>(pass, n);
    check(cudaGetLastError());
}
template <Scalar T, digit_of Kind>
void run(device& on, find_digit<T, Kind> pass) {
    find_in_block<<<1, finding_threads, 0, on.stream()>>>(pass);
    check(cudaGetLastError());
}

#else

template <Scalar T, digit_of Kind, list_is List>
void run(device& on, std::size_t n, count_digits<T, Kind, List> pass) {
    for_each_tile(on, n, pass);
}
template <Scalar T, digit_of Kind>
void run(device& on, find_digit<T, Kind> pass) {
    for_each_index(on, 1, pass);
}

#endif

/// The cutoff that chooses exactly k >= 1 of x, at an address on the device; or only the k-th largest magnitude, to its
/// last digit.
template <Scalar T>
cutoff<T> const* find_cutoff(device& on, std::span<T const> x, std::size_t k, bool only_magnitude = false) {
    std::size_t const n = x.size(), room = n < 4096 ? n : n / 8;
    auto* const t = on.scratch<cutoff<T>>(scratch_for::result, 1).data();
    auto const counts = on.scratch<std::uint32_t>(scratch_for::counts, digit_values + 1);
    candidates const list{on.scratch<coordinate>(scratch_for::marks, room).data(), counts.data() + digit_values,
                          static_cast<std::uint32_t>(room)};
    for_each_index(on, 1, start_search<T>{t, static_cast<coordinate>(k)});
    clear_bytes(on, counts.data(), counts.size_bytes());
    int shift = std::numeric_limits<bits_of<T>>::digits - 1;
    auto const pass = [&]<digit_of Kind, list_is List>(std::integral_constant<digit_of, Kind>,
                                                       std::integral_constant<list_is, List>) {
        int const width = shift < digit_width ? shift : digit_width;
        shift -= width;
        run(on, n, count_digits<T, Kind, List>{x.data(), t, shift, width, list, counts.data()});
        run(on, find_digit<T, Kind>{t, shift, width, !only_magnitude, counts.data()});
    };
    std::integral_constant<digit_of, digit_of::magnitude> const by_magnitude;
    std::integral_constant<list_is, list_is::read> const from_list;
    pass(by_magnitude, std::integral_constant<list_is, list_is::not_there>{});
    pass(by_magnitude, std::integral_constant<list_is, list_is::made>{});
    while (shift > 0) pass(by_magnitude, from_list);
    if (only_magnitude) return t;
    shift = std::numeric_limits<coordinate>::digits;
    while (shift > 0) pass(std::integral_constant<digit_of, digit_of::coordinate>{}, from_list);
    return t;
}

}  // namespace laconic::detail::on_device
