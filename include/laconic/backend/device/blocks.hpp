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
        return product(v / scale, v / scale);
    }
};

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

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
