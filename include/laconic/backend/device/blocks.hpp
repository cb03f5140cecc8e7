// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "laconic/backend/device/select.hpp"

/// Blocks of consecutive coordinates, of which the last may be shorter; and how what is found at places is taken from
/// a vector and put back. Contracts stand at the host's forms.
namespace laconic::detail::on_device {

// Divided by the largest magnitude where that is finite, for with a NaN its block is to come first: not all shall be.
template <Scalar T>
struct square_in_range : of_all_buckets {
    bits_of<T> const* largest;
    LACONIC_HOST_DEVICE double operator()(double v, std::size_t) const {
        T scale = 1;
        if (*largest < infinite_bits<T>) {
            scale = std::bit_cast<T>(*largest);
            if (scale < std::numeric_limits<T>::min()) scale = std::numeric_limits<T>::min();
        }
        return rounded_product(v / scale, v / scale);
    }
};

// What is known of the k-th largest magnitude of each chunk: its leading bits, and how many numbers are above it.
template <Scalar T>
struct cutoffs {
    static constexpr int width = 3;  // of the bits that a pass finds
    static constexpr std::uint32_t digits = (1 << width) - 1;
    static constexpr int first_shift = (std::numeric_limits<bits_of<T>>::digits - 2) / width * width;
    std::size_t chunk, k, n;
    bits_of<T>* least;
    std::uint32_t *above, *counts;

    LACONIC_HOST_DEVICE std::uint32_t wanted(std::size_t b) const {
        std::size_t const numbers = n - b * chunk < chunk ? n - b * chunk : chunk;
        return static_cast<std::uint32_t>(k < numbers ? k : numbers);
    }
    // From how many numbers reach each value of the next digit; leaves these 0.
    LACONIC_HOST_DEVICE void add_digit(std::size_t b, int shift) const {
        std::uint32_t digit = 0;
        for (std::uint32_t v = 1; v <= digits; ++v) {
            auto& reach = counts[b * digits + v - 1];
            if (reach >= wanted(b))
                digit = v;
            else if (digit + 1 == v)
                above[b] = reach;
            reach = 0;
        }
        least[b] |= static_cast<bits_of<T>>(digit) << shift;
    }
};
template <Scalar T>
struct reaching {
    std::uint32_t of[cutoffs<T>::digits] = {};
    bits_of<T> least = 0;
    bool knows_least = false;
};
// Which of the numbers that are as large as the k-th are chosen: a bit for each number, how many there are in the words
// before.
struct ties_in_words {
    std::uint32_t* bits;
    std::uint64_t* before;
    LACONIC_HOST_DEVICE std::uint64_t operator()(std::size_t w) const { return ones_in(bits[w]); }
    LACONIC_HOST_DEVICE std::uint64_t before_number(std::size_t i) const {
        return before[i / 32] + ones_in(bits[i / 32] & ((std::uint32_t{1} << i % 32) - 1));
    }
};

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

/// Reads x in 13 passes, doubles in 23. Does not wait.
template <Scalar T>
void select_largest_of_each(device& on, std::span<T const> x, std::size_t chunk, std::size_t k,
                            device_array<coordinate>& out) {
    LACONIC_EXPECTS(chunk >= 1 && k <= chunk && x.size() <= detail::largest_dimension);
    using namespace detail::on_device;
    std::size_t const chunks = pieces_in(x.size(), chunk);
    if (chunks <= 1) return select_largest(on, x, std::min(k, x.size()), out);
    out.resize_anew(detail::numbers_of_each(x.size(), chunk, k));
    if (k == 0) return;
    constexpr auto digits = cutoffs<T>::digits;
    auto const least = on.scratch<bits_of<T>>(scratch_for::numbers, chunks);
    auto const counts = on.scratch<std::uint32_t>(scratch_for::counts, (digits + 1) * chunks);
    clear_bytes(on, least.data(), least.size_bytes());
    clear_bytes(on, counts.data(), counts.size_bytes());
    cutoffs<T> const all{chunk, k, x.size(), least.data(), counts.data() + digits * chunks, counts.data()};
    for (int shift = cutoffs<T>::first_shift; shift >= 0; shift -= cutoffs<T>::width) {
        for_each_bucket<reaching<T>>(
            on, x.size(), chunk,
            [=] LACONIC_DEVICE(reaching<T> & found, std::size_t i) {
                if (!found.knows_least) found.least = all.least[i / chunk], found.knows_least = true;
                auto const bits = magnitude_bits(x[i]) >> shift, low = found.least >> shift;
                for (std::uint32_t v = 0; v < digits; ++v) found.of[v] += bits > low + v;
            },
            [=] LACONIC_DEVICE(reaching<T> const& found, std::size_t b) {
                for (std::uint32_t v = 0; v < digits; ++v)
                    if (found.of[v] != 0) add_together(all.counts[b * digits + v], found.of[v]);
            });
        for_each_index(on, chunks, [=] LACONIC_DEVICE(std::size_t b) { all.add_digit(b, shift); });
    }
    std::size_t const words = pieces_in(x.size(), std::size_t{32});
    auto const before = on.scratch<std::uint64_t>(scratch_for::marks, words + (words + 1) / 2);
    ties_in_words const ties{reinterpret_cast<std::uint32_t*>(before.data() + words), before.data()};
    clear_bytes(on, ties.bits, words * sizeof *ties.bits);
    for_each_index(on, x.size(), [=] LACONIC_DEVICE(std::size_t i) {
        if (magnitude_bits(x[i]) == all.least[i / chunk]) set_together(ties.bits[i / 32], std::uint32_t{1} << i % 32);
    });
    sum_before(on, words, ties, ties.before);
    list_indices(
        on, x.size(),
        [=] LACONIC_DEVICE(coordinate i) {
            std::size_t const b = i / chunk;
            auto const bits = magnitude_bits(x[i]);
            if (bits != all.least[b]) return bits > all.least[b];
            return ties.before_number(i) - ties.before_number(b * chunk) < all.wanted(b) - all.above[b];
        },
        out.data(), scratch_for::sums);
}

/// Waits for how many they are.
template <Scalar T>
void select_nonzero_blocks(device& on, std::span<T const> x, std::size_t block, device_array<coordinate>& out) {
    LACONIC_EXPECTS(block >= 1 && x.size() <= detail::largest_dimension);
    using namespace detail::on_device;
    std::size_t const blocks = pieces_in(x.size(), block);
    auto const flags = on.scratch<std::uint32_t>(scratch_for::marks, blocks);
    clear_bytes(on, flags.data(), flags.size_bytes());
    for_each_bucket<std::uint32_t>(
        on, x.size(), block, [=] LACONIC_DEVICE(std::uint32_t & found, std::size_t i) { found |= x[i] != 0; },
        [=] LACONIC_DEVICE(std::uint32_t found, std::size_t b) {
            if (found != 0) raise_together(flags[b], 1u);
        });
    list_indices(
        on, blocks, [flags] LACONIC_DEVICE(coordinate b) { return flags[b] != 0; }, out);
}

template <Scalar T>
void select_largest_blocks(device& on, std::span<T const> x, std::size_t block, std::size_t k,
                           device_array<coordinate>& out) {
    LACONIC_EXPECTS(block >= 1 && x.size() <= detail::largest_dimension);
    using namespace detail::on_device;
    auto const energies = on.scratch<double>(scratch_for::numbers, pieces_in(x.size(), block));
    LACONIC_EXPECTS(k <= energies.size());
    if constexpr (sizeof(T) == 8) {
        auto const largest = on.scratch<bits_of<T>>(scratch_for::marks, 1);
        find_largest(on, x, std::max<std::size_t>(x.size(), 1), largest);
        add_buckets_up(on, x, block, square_in_range<T>{{}, largest.data()}, energies.data());
    } else {
        add_buckets_up(on, x, block, square{}, energies.data());
    }
    select_largest(on, std::span<double const>(energies), k, out);
}

/// The last place of x may be shorter, and then stands last in `at`: waits to learn whether it is there.
template <Scalar T>
void gather(device& on, std::span<T const> x, std::span<coordinate const> at, std::size_t unit, T scale,
            device_array<T>& out) {
    using namespace detail::on_device;
    std::size_t const last = x.size() / unit, over = x.size() % unit;
    std::size_t n = at.size() * unit;
    if (over != 0 && !at.empty() && fetched(on, &at.back()) == last) n -= unit - over;
    out.resize_anew(n, std::min(at.size() * unit, x.size()));  // once: the last place need not be there again
    for_each_index(on, n, [=, to = out.data()] LACONIC_DEVICE(std::size_t j) {
        to[j] = scale * x[at[j / unit] * unit + j % unit];
    });
}

template <Scalar T>
void scatter(device& on, std::span<T const> values, std::span<coordinate const> at, std::size_t unit,
             std::span<T> out) {
    LACONIC_EXPECTS(values.size() <= at.size() * unit);
    detail::on_device::for_each_index(
        on, values.size(), [=] LACONIC_DEVICE(std::size_t j) { out[at[j / unit] * unit + j % unit] = values[j]; });
}

}  // namespace laconic::kernels
