// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "support/steps.hpp"
#include "support/test.hpp"

/// Quadratics of four ranks whose numbers are exact in binary, for known answers of methods of training.
namespace bowls {

inline constexpr int ranks = 4;
inline constexpr std::size_t d = 8;

/// f_i(x) = sum_j a_ij (x_j - b_ij)^2 / 2, where L_i = 1.5 and mu_i = 0.5.
inline double a(int rank, std::size_t j) { return (2 + (static_cast<int>(j) * 2 + rank) % 5) / 4.0; }
inline double b(int rank, std::size_t j) {
    int const i = rank, c = static_cast<int>(j);
    return ((3 * i + 5 * c + i * c) % 11 - 5) / 2.0 + (i + 1) * (c + 1) / 64.0;
}
/// In place of every b, for functions with one optimum.
inline double common_b(std::size_t j) { return (static_cast<int>(5 * j % 7) - 3) / 2.0 + double(j + 1) / 32; }
inline double gradient(int rank, std::size_t j, double x) { return a(rank, j) * (x - b(rank, j)); }
inline void gradient(int rank, std::span<double const> x, std::span<double> g) {
    for (std::size_t j = 0; j < x.size(); ++j) g[j] = gradient(rank, j, x[j]);
}

/// The gradient of rank i's bowl of 4 x 4 matrices, A (W - T_i) entry by entry.
inline void matrix_gradient(int rank, std::span<double const> w, std::span<double> g) {
    steps::matrix_bowl{4, 4}(w, g);
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c)
            g[std::size_t(4 * r + c)] -= (1 + (r + c) % 3 / 2.) * (rank - 1.5) * ((r + 2 * c) % 3 - 1) / 4.;
}

/// What a known answer lists of x: its first and last number, and |x|^2; of 12 digits.
struct answer {
    double first, last, square;
};
inline void check(std::span<double const> x, answer const& known) {
    double square = 0;
    for (double const v : x) square += v * v;
    CHECK(x[0] == doctest::Approx(known.first).epsilon(1e-11));
    CHECK(x[x.size() - 1] == doctest::Approx(known.last).epsilon(1e-11));
    CHECK(square == doctest::Approx(known.square).epsilon(1e-11));
}

}  // namespace bowls
