// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/backend/block_format.hpp"

namespace laconic::kernels {

/// Where arrays live and loops run. Satisfied iff B names an array type and the kernels below are found for it by
/// argument-dependent lookup; all above this folder is written once against them, and touches no element itself but in
/// an object that at_each_index calls: the memory need not be the host's (backend/array.hpp). Each kernel's contract
/// stands at its host form, in backend/host/. Besides these there are, of any terms (message/message.hpp),
/// add_terms(on, y, a, terms), clear_terms(on, y, terms) and list_terms(on, terms, at, y), and the copies for all that
/// arrays hold; at_each_index(on, n, f), of any f; and pack_codes and unpack_codes, and codes into streams, where
/// arrays are the host's. A backend object belongs to one rank and carries what its kernels need between calls.
template <class B, class T>
concept Backend = std::movable<B> && Scalar<T> &&
    requires(B& on, std::span<T const> x, std::span<T> y, T a, std::size_t k, key from, std::uint64_t first,
             typename B::template array<coordinate>& at, typename B::template array<T>& values,
             std::span<std::int8_t> few_levels, std::span<std::int16_t> levels, std::span<std::uint16_t> powers,
             std::span<std::uint8_t> bytes, std::span<std::uint64_t> words, std::span<std::uint32_t> counts,
             listed_terms<T> list, std::span<coordinate> some_at) {
    // memory
    values.resize(k);
    values.assign(k, a);
    { values.size() } -> std::same_as<std::size_t>;
    { values == values } -> std::same_as<bool>;
    {std::span<T>(values)};
    copy(on, x, y);
    fill(on, y, a);
    copy_to_host(on, x, y);
    copy_from_host(on, x, y);
    { on_host(on, x) } -> std::same_as<std::span<T const>>;
    // reduce
    { sum_of_magnitudes(on, x) } -> std::same_as<double>;
    { sum_of_squares(on, x) } -> std::same_as<double>;
    { sum_of_squares(on, x, 1.0, 0.0) } -> std::same_as<double>;
    { sum_of_numbers(on, x, 1.0, 0.0) } -> std::same_as<double>;
    { sum_of_squares_in_floats(on, std::span<float const>{}) } -> std::same_as<double>;
    { largest_magnitude(on, x) } -> std::same_as<T>;
    { first_non_finite(on, x) } -> std::same_as<std::size_t>;
    // select
    select_largest(on, x, k, at);
    select_largest_of_each(on, x, k, k, at);
    { compensate_and_select_largest(on, a, x, x, a, x, y, k, at) } -> std::same_as<bool>;
    select_above(on, x, a, at);
    select_above(on, x, x, at);
    sample(on, from, k, k, at);
    sample_each(on, from, k, 0.5, at);
    select_about(on, x, k, k, k, at);
    select_nonzero_blocks(on, x, k, at);
    select_largest_blocks(on, x, k, k, at);
    gather(on, x, std::span<coordinate const>{}, k, a, values);
    sort_magnitudes(on, x, values);
    count_by_magnitude(on, x, a, counts);  // the counts are the host's
    sample_in_proportion(on, x, a, from, at);
    // lists of terms
    add_lists(on, list, list, at, values);
    sum_lists(on, std::span<listed_terms<T> const>(&list, 1), at, values, at, values);
    part_list(on, list, std::span<coordinate const>{}, at, values, at, values);
    take_list(on, list, std::span<coordinate const>{}, at, values);
    list_without(on, list, std::span<coordinate const>{}, at, values);
    sort_list(on, std::span<coordinate const>{}, x, k, some_at, y);
    reserve_for_lists<T>(on, k);
    reserve_to_sum<T>(on, k, k);
    reserve_to_sort<T>(on, k, k);
    // round
    { rounding_variance(on, x, a) } -> std::same_as<double>;
    round_to_powers(on, x, from, first, powers);
    round_to_short(on, x, short_layout{}, powers);
    round_to_short(on, x, short_layout{}, from, first, powers);
    pack_signs(on, x, words);
    // buckets
    { round_buckets_to_levels(on, x, k, p_norm::two, 1, from, y, few_levels) } -> std::same_as<bool>;
    { round_buckets_to_levels(on, x, k, p_norm::two, 1, from, y, levels) } -> std::same_as<bool>;
    { round_buckets_to_halvings(on, x, k, p_norm::two, 1, from, y, levels) } -> std::same_as<bool>;
    { round_buckets_to_range(on, x, k, rounding::random, 1, from, y, y, bytes) } -> std::same_as<bool>;
    { round_blocks_to_short(on, x, block_layout{}, rounding::random, a, from, y, powers) } -> std::same_as<bool>;
    { pack_signs_and_means(on, x, k, y, words) } -> std::same_as<bool>;
    { pack_signs_and_two_means(on, x, k, y, y, words) } -> std::same_as<bool>;
    damp_steps(on, x, k, y);
    // matrix
    draw_symmetric(on, from, first, y);
    rotate_blocks(on, k, matrix_is{}, from, first, y);
    multiply_matrix(on, x, matrix_is{}, x, k, y);
    multiply_to_orthonormal(on, x, matrix_is{}, x, k, y);
    // update
    add_scaled(on, a, x, y);
    multiply(on, a, y);
    raise_magnitudes(on, a, a, y);
    soft_threshold(on, a, y);
    scatter(on, x, std::span<coordinate const>{}, k, y);
    { compensate(on, a, x, x, a, x, y) } -> std::same_as<bool>;
    complete_and_remember(on, y, a, y);
};

}  // namespace laconic::kernels
