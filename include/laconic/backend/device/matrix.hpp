// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/backend/device/reduce.hpp"

/// Products of a matrix with a few columns. Contracts stand at the host's forms. None waits.
namespace laconic::detail::on_device {

// Partial sum j of a stretch of the sum that is number i of column c of a product. Neighbouring threads read
// neighbouring numbers of X: those of one sum where rows are summed up, and of one row where columns are.
template <Scalar T>
struct add_products {
    T const* x;
    bool transposed;
    T const* by;
    std::size_t length, summands;
    std::size_t stretches;  // of a sum
    double* sums;
    LACONIC_HOST_DEVICE void operator()(std::size_t t) const {
        std::size_t const of_column = length * stretches * lanes, c = t / of_column, place = t % of_column;
        std::size_t const i = transposed ? place % length : place / (stretches * lanes);
        std::size_t const lane = transposed ? place / length : place % (stretches * lanes);
        std::size_t const row = transposed ? length : 1, start = transposed ? i : i * summands;
        std::size_t const first = lane / lanes * stretch, end = summands - first < stretch ? summands : first + stretch;
        double s = 0;
        for (std::size_t n = first + lane % lanes; n < end; n += lanes)
            s += rounded_product(static_cast<double>(x[start + n * row]), static_cast<double>(by[c * summands + n]));
        sums[(c * length + i) * stretches * lanes + lane] = s;
    }
};
// Sums and differences of numbers h, 2 h, .. apart, n of them in a thread. Neighbouring threads have neighbouring
// numbers.
template <Scalar T, std::size_t n>
struct sums_and_differences {
    T* y;
    std::size_t h;
    LACONIC_HOST_DEVICE void operator()(std::size_t t) const {
        T* const at = y + t / h * n * h + t % h;
        T each[n];
        for (std::size_t i = 0; i < n; ++i) each[i] = at[i * h];
        for (std::size_t apart = 1; apart < n; apart *= 2)
            for (std::size_t i = 0; i < n; ++i)
                if ((i & apart) == 0) {
                    T const a = each[i], b = each[i + apart];
                    each[i] = a + b;
                    each[i + apart] = a - b;
                }
        for (std::size_t i = 0; i < n; ++i) at[i * h] = each[i];
    }
};
// What is known of a column while it is made orthogonal to those before it.
struct column_state {
    std::uint64_t largest;          // bits of its largest magnitude
    double before, overlap, after;  // before and after are squares
};
// out = X by, or X' by, in double.
template <Scalar T>
void multiply_into(device& on, std::span<T const> x, kernels::matrix_is how, std::span<T const> by, std::size_t columns,
                   std::span<double> out) {
    LACONIC_EXPECTS(columns >= 1 && by.size() % columns == 0 && out.size() % columns == 0);
    std::size_t const length = out.size() / columns, summands = by.size() / columns;
    LACONIC_EXPECTS(length * summands == x.size());
    bool const transposed = how == kernels::matrix_is::transposed;
    std::size_t const stretches = stretches_of(summands), all = out.size() * stretches;
    double* const room = room_for_sums(on, all);
    for_each_index(on, all * lanes,
                   add_products<T>{x.data(), transposed, by.data(), length, summands, stretches, room});
    add_stretches_up(on, all, stretches, room, out.data());
}

// Gram and Schmidt, modified, twice.
inline void orthonormalise(device& on, std::span<double> y, std::size_t columns) {
    std::size_t const length = y.size() / columns;
    if (length == 0) return;
    auto* const state = on.scratch<column_state>(scratch_for::result, 1).data();
    auto const dot = [&](double const* a, double const* b, double* out) {
        std::size_t const stretches = stretches_of(length);
        double* const room = room_for_sums(on, stretches);
        for_each_index(on, stretches * lanes, add_products<double>{a, false, b, 1, length, stretches, room});
        add_stretches_up(on, stretches, stretches, room, out);
    };
    for (std::size_t c = 0; c < columns; ++c) {
        double* const column = y.data() + c * length;
        for_each_index(on, 1, [=] LACONIC_DEVICE(std::size_t) { *state = {}; });
        find_largest(on, std::span<double const>(column, length), length, std::span(&state->largest, 1));
        // Squares shall neither vanish nor overflow.
        for_each_index(on, length, [=] LACONIC_DEVICE(std::size_t i) {
            column[i] *= kernels::unit_scale(std::bit_cast<double>(state->largest));
        });
        dot(column, column, &state->before);
        for (std::size_t b = 0; b < 2 * c; ++b) {
            double const* const earlier = y.data() + b % c * length;
            dot(earlier, column, &state->overlap);
            for_each_index(on, length, [=] LACONIC_DEVICE(std::size_t i) {
                column[i] -= rounded_product(state->overlap, earlier[i]);
            });
        }
        dot(column, column, &state->after);
        for_each_index(on, length, [=] LACONIC_DEVICE(std::size_t i) {
            double const before = std::sqrt(state->before), after = std::sqrt(state->after);
            column[i] = after > 0x1p-40 * before ? column[i] / after : 0;
        });
    }
}

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

template <Scalar T>
void draw_symmetric(device& on, key from, std::uint64_t first, std::span<T> out) {
    detail::on_device::for_each_index(
        on, out.size(), [=] LACONIC_DEVICE(std::size_t i) { out[i] = detail::symmetric_number<T>(from, first + i); });
}

/// Launches: one for the signs, one for each factor of 16 in the length of a block, and one for each factor of 2 left.
template <Scalar T>
void rotate_blocks(device& on, std::size_t block, matrix_is how, key from, std::uint64_t first, std::span<T> y) {
    using namespace detail::on_device;
    LACONIC_EXPECTS(std::has_single_bit(block) && y.size() % block == 0);
    auto const scale = static_cast<T>(1 / std::sqrt(static_cast<double>(block)));
    bool const there = how == matrix_is::as_it_stands;
    for_each_index(on, y.size(), [=] LACONIC_DEVICE(std::size_t i) {
        y[i] *= there && detail::negative_sign(from, first + i) ? -scale : scale;
    });
    std::size_t h = 1;
    for (; 16 * h <= block; h *= 16) for_each_index(on, y.size() / 16, sums_and_differences<T, 16>{y.data(), h});
    for (; 2 * h <= block; h *= 2) for_each_index(on, y.size() / 2, sums_and_differences<T, 2>{y.data(), h});
    if (!there)
        for_each_index(on, y.size(), [=] LACONIC_DEVICE(std::size_t i) {
            if (detail::negative_sign(from, first + i)) y[i] = -y[i];
        });
}

template <Scalar T>
void multiply_matrix(device& on, std::span<T const> x, matrix_is how, std::span<T const> by, std::size_t columns,
                     std::span<T> out) {
    using namespace detail::on_device;
    auto const y = on.scratch<double>(scratch_for::numbers, out.size());
    multiply_into(on, x, how, by, columns, y);
    for_each_index(on, out.size(), [=] LACONIC_DEVICE(std::size_t i) { out[i] = static_cast<T>(y[i]); });
}

template <Scalar T>
void multiply_to_orthonormal(device& on, std::span<T const> x, matrix_is how, std::span<T const> by,
                             std::size_t columns, std::span<T> out) {
    using namespace detail::on_device;
    auto const y = on.scratch<double>(scratch_for::numbers, out.size());
    multiply_into(on, x, how, by, columns, y);
    orthonormalise(on, y, columns);
    for_each_index(on, out.size(), [=] LACONIC_DEVICE(std::size_t i) { out[i] = static_cast<T>(y[i]); });
}

}  // namespace laconic::kernels
