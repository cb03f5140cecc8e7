// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "laconic/backend/matrix_is.hpp"
#include "laconic/backend/short_format.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// Where arrays live and loops run. Satisfied iff B names an array type and the kernels below are found for it by
/// argument-dependent lookup; all above this folder is written once against them. Each kernel's contract stands at its
/// host form, in backend/host/. A backend object belongs to one rank and carries what its kernels need between calls.
template <class B, class T>
concept Backend = std::movable<B> && Scalar<T> &&
    requires(B& on, std::span<T const> x, std::span<T> y, T a, std::size_t k, key from, std::uint64_t first,
             typename B::template array<coordinate>& at, typename B::template array<T>& values,
             std::span<std::int16_t> levels, std::span<std::uint16_t> powers, std::span<std::uint8_t> bytes,
             std::span<std::uint64_t> words, std::span<std::uint32_t> counts) {
    // reduce
    { sum_of_magnitudes(on, x) } -> std::same_as<double>;
    { sum_of_squares(on, x) } -> std::same_as<double>;
    { sum_of_squares(on, std::span<double const>{}, 1.0) } -> std::same_as<double>;
    { largest_magnitude(on, x) } -> std::same_as<T>;
    { least_and_largest(on, x) } -> std::same_as<std::pair<T, T>>;
    { sums_by_sign(on, x) } -> std::same_as<std::pair<double, double>>;
    { count_negative(on, x) } -> std::same_as<std::size_t>;
    { first_non_finite(on, x) } -> std::same_as<std::size_t>;
    // select
    select_largest(on, x, k, at);
    select_above(on, x, a, at);
    select_above(on, x, x, at);
    sample(on, from, k, k, at);
    sample_each(on, from, k, 0.5, at);
    select_about(on, x, k, k, k, at);
    select_nonzero_blocks(on, x, k, at);
    select_largest_blocks(on, x, k, k, at);
    gather(on, x, std::span<coordinate const>{}, k, a, values);
    sort_magnitudes(on, x, values);
    count_by_magnitude(on, x, a, counts);
    sample_in_proportion(on, x, a, from, at);
    // round
    round_to_levels(on, x, a, 1, from, first, levels);
    { rounding_variance(on, x, a) } -> std::same_as<double>;
    round_to_powers(on, x, from, first, powers);
    round_to_halvings(on, x, a, 1, from, first, levels);
    round_to_short(on, x, short_layout{}, powers);
    round_to_range(on, x, a, a, 1, from, first, bytes);
    round_to_nearest_in_range(on, x, a, a, 1, bytes);
    pack_signs(on, x, words);
    { pack_signs_and_sum(on, x, words) } -> std::same_as<double>;
    // matrix
    draw_symmetric(on, from, first, y);
    multiply_matrix(on, x, matrix_is{}, x, k, y);
    multiply_to_orthonormal(on, x, matrix_is{}, x, k, y);
    // update
    add_scaled(on, a, x, y);
    multiply(on, a, y);
    raise_magnitudes(on, a, a, y);
    { subtract_known_add_unsaid(on, a, y, x, x) } -> std::same_as<bool>;
    subtract_last(on, y, x, y);
    gather_momentum(on, a, true, y, x, x, y);
    complete_and_remember(on, y, a, y);
    scaled_distances(on, a, x, x, y);
};

}  // namespace laconic
