// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/backend/device/passes.hpp"  // first: it refuses compilers that Thrust would not

#include <thrust/sort.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

/// Coordinates drawn by chance. Contracts stand at the host's forms.
namespace laconic::detail::on_device {

// A set of coordinates that many threads add to: a bit for each.
struct bitmap {
    static constexpr int rarity = 1;  // one in 2^rarity of the draws was there before, at most, on average
    std::uint32_t* words;

    /// False where it was there before.
    LACONIC_HOST_DEVICE bool add(coordinate i) const {
        auto const bit = std::uint32_t{1} << i % 32;
        return (set_together(words[i / 32], bit) & bit) == 0;
    }
};
// The same for a few of many: a table with `mask` + 1 slots, a power of two, more than are added. Where one's own slot
// is taken the next is tried. No coordinate is as large as what stands in empty slots.
struct hash_table {
    static constexpr int rarity = 6;
    static constexpr auto empty = std::numeric_limits<coordinate>::max();
    coordinate* entries;
    std::size_t mask;

    LACONIC_HOST_DEVICE bool add(coordinate i) const {
        for (std::size_t slot = i & mask;; slot = (slot + 1) & mask) {  // what is drawn needs no other hash
            auto const before = replace_together(entries[slot], empty, i);
            if (before == empty) return true;
            if (before == i) return false;
        }
    }
};

// Adds the first n different numbers of the stream. Each round draws as many as are missing, even if all are new: so
// what is drawn is never too much, and the set is the same whatever the order in a round. Nothing waits: a round learns
// from the counts, of which added_r is what round r has added, and has as many threads as it needs if all goes as it
// does on average.
template <class Set>
void add_different(device& on, Set set, key from, std::size_t d, std::size_t n) {
    int const rounds = static_cast<int>(std::bit_width(n)) / Set::rarity + 2;
    auto const added = on.scratch<std::uint32_t>(scratch_for::counts, static_cast<std::size_t>(rounds));
    clear_bytes(on, added.data(), added.size_bytes());
    for (int round = 0; round < rounds; ++round) {
        std::size_t const threads = round + 1 == rounds ? 1 : std::max<std::size_t>(n >> round * Set::rarity, 2);
        for_each_index(on, threads, [=, added = added.data()] LACONIC_DEVICE(std::size_t t) {
            std::uint64_t drawn = 0, missing = n;
            for (int r = 0; r < round; ++r) {
                drawn += missing;
                missing -= added[r];
            }
            auto const add = [&](std::uint64_t i) { return set.add(static_cast<coordinate>(from.below(i, d))); };
            std::uint32_t fresh = 0;
            if (threads > 1)
                for (std::uint64_t i = t; i < missing; i += threads) fresh += add(drawn + i);
            else  // the last round goes on until none is missing
                for (; missing > 0; ++drawn) missing -= add(drawn);
            if (fresh > 0) add_together(added[round], fresh);
        });
    }
}

struct is_marked {
    std::uint32_t const* words;
    bool wanted;
    LACONIC_HOST_DEVICE bool operator()(coordinate i) const { return ((words[i / 32] >> i % 32 & 1) != 0) == wanted; }
};
// From one in so many on, a bitmap is smaller than a table.
inline constexpr std::size_t worth_a_bitmap = 100;

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

inline void sample(device& on, key from, std::size_t d, std::size_t k, device_array<coordinate>& out) {
    LACONIC_EXPECTS(k <= d && d <= detail::largest_dimension);
    using namespace detail::on_device;
    out.resize_anew(k);
    if (k == 0) return;
    if (k < d / worth_a_bitmap) {
        std::size_t const entries = std::bit_ceil(2 * k);
        auto* const table = on.scratch<coordinate>(scratch_for::marks, entries).data();
        for_each_index(on, entries, [=] LACONIC_DEVICE(std::size_t i) { table[i] = hash_table::empty; });
        add_different(on, hash_table{table, entries - 1}, from, d, k);
        list_indices(
            on, entries, [=] LACONIC_DEVICE(coordinate slot) { return table[slot] != hash_table::empty; }, out.data());
        for_each_index(on, k, [=, at = out.data()] LACONIC_DEVICE(std::size_t j) { at[j] = table[at[j]]; });
        on.call_thrust([&](auto const& how) { thrust::sort(how, out.begin(), out.end()); });
        return;
    }
    std::size_t const words = (d + 31) / 32;
    auto* const marks = on.scratch<std::uint32_t>(scratch_for::marks, words).data();
    clear_bytes(on, marks, words * sizeof *marks);
    add_different(on, bitmap{marks}, from, d, std::min(k, d - k));
    list_indices(on, d, is_marked{marks, k <= d / 2}, out.data());
}

/// Waits for how many are drawn.
inline void sample_each(device& on, key from, std::size_t d, double p, device_array<coordinate>& out) {
    LACONIC_EXPECTS(d <= detail::largest_dimension && p >= 0 && p <= 1);
    using namespace detail::on_device;
    auto const marks = on.scratch<std::uint32_t>(scratch_for::marks, (d + 31) / 32);
    auto const bound = static_cast<std::uint64_t>(p * 0x1p32);
    // A word of marks: 32 coordinates, each drawn by a word of the key, of which four come together.
    for_each_index(on, marks.size(), [=] LACONIC_DEVICE(std::size_t w) {
        std::uint32_t drawn = 0;
        for (std::uint32_t q = 0; q < 8; ++q) {
            auto const four = from.words(8 * w + q);
            for (std::uint32_t j = 0; j < 4; ++j) drawn |= std::uint32_t{four[j] < bound} << (4 * q + j);
        }
        marks[w] = drawn;
    });
    list_indices(on, d, is_marked{marks.data(), true}, out);
}

/// Waits for how many are drawn.
template <Scalar T>
void sample_in_proportion(device& on, std::span<T const> x, T bound, key from, device_array<coordinate>& out) {
    LACONIC_EXPECTS(bound >= 0 && x.size() <= detail::largest_dimension);
    using namespace detail::on_device;
    auto const marks = on.scratch<std::uint32_t>(scratch_for::marks, (x.size() + 31) / 32);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(marks.data());
    // A byte of marks: eight coordinates, so that neighbouring threads read neighbouring numbers.
    for_each_index(on, marks.size_bytes(), [=] LACONIC_DEVICE(std::size_t t) {
        std::uint32_t drawn = 0;
        for (std::uint32_t q = 0; q < 4; ++q) {
            auto const four = from.words(4 * t + q);
            for (std::uint32_t j = 0; j < 2; ++j) {
                std::size_t const i = 8 * t + 2 * q + j;
                auto const bits = (four[2 * j] | std::uint64_t{four[2 * j + 1]} << 32) >> 11;  // as key::uniform
                double const share = static_cast<double>(bits) * 0x1p-53 * static_cast<double>(bound);
                drawn |= std::uint32_t{i < x.size() && share < static_cast<double>(std::abs(x[i]))} << (2 * q + j);
            }
        }
        bytes[place_of_byte<std::uint32_t>(t)] = static_cast<std::uint8_t>(drawn);
    });
    list_indices(on, x.size(), is_marked{marks.data(), true}, out);
}

}  // namespace laconic::kernels
