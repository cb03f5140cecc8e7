// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "laconic/backend/host.hpp"
#include "support/states.hpp"
#include "support/test.hpp"

/// Quadratic bowls for steps, whose numbers are exact in binary, and how far steps come on them.
namespace steps {

/// The mean gradient of four bowls sum_j a_ij (x_j - b_ij)^2 / 2 in eight dimensions.
inline void bowls_gradient(std::span<double const> x, std::span<double> d) {
    for (int j = 0; j < 8; ++j) {
        double sum = 0;
        for (int i = 0; i < 4; ++i) {
            double const a = (2 + (i + 2 * j) % 5) / 4.;
            double const b = ((3 * i + 5 * j + i * j) % 11 - 5) / 2. + (i + 1) * (j + 1) / 64.;
            sum += a * (x[std::size_t(j)] - b);
        }
        d[std::size_t(j)] = sum / 4;
    }
}

/// The gradient A (W - T), entry by entry, of a bowl of matrices.
struct matrix_bowl {
    int rows, columns;

    void operator()(std::span<double const> w, std::span<double> d) const {
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) {
                double const a = 1 + (r + c) % 3 / 2., t = ((3 * r + 5 * c) % 7 - 3) / 2. + (r + 1) * (c + 1) / 16.;
                auto const at = std::size_t(r * columns + c);
                d[at] = a * (w[at] - t);
            }
    }
};

/// The iterate after so many steps on B.
template <class B = laconic::host, class S, class Gradient>
std::vector<double> after(int count, S step, Gradient gradient, std::vector<double> x) {
    B on;
    std::vector<double> d(x.size());
    typename B::template array<double> there(x.size()), along(x.size());
    copy_from_host(on, std::span<double const>(x), std::span<double>(there));
    for (int t = 0; t < count; ++t) {
        gradient(std::span<double const>(x), std::span<double>(d));
        copy_from_host(on, std::span<double const>(d), std::span<double>(along));
        step(on, std::span<double>(there), std::span<double>(along));
        copy_to_host(on, std::span<double const>(there), std::span<double>(x));
    }
    return x;
}

/// x_0, the last of x, and |x|^2 after `count` steps, to twelve digits.
struct known {
    int count;
    double first, last, square;
};
template <class B = laconic::host, class S, class Gradient>
void comes_to(S const& step, Gradient gradient, std::vector<double> const& start, std::initializer_list<known> all) {
    CAPTURE(to_string(step));
    for (auto const& k : all) {
        CAPTURE(k.count);
        auto const x = after<B>(k.count, step, gradient, start);
        double square = 0;
        for (double const v : x) square += v * v;
        CHECK(x.front() == doctest::Approx(k.first).epsilon(1e-11));
        CHECK(x.back() == doctest::Approx(k.last).epsilon(1e-11));
        CHECK(square == doctest::Approx(k.square).epsilon(1e-11));
    }
}

/// A step of `size` numbers goes on bit for bit from what another has saved, also before its first step.
template <class T = double, class S>
void goes_on(S one, std::size_t size = 2) {
    CAPTURE(to_string(one));
    laconic::host on;
    S other = one, fresh = one;
    std::vector<T> x(size), d(size);
    for (std::size_t j = 0; j < size; ++j) x[j] = T(j + 1);
    auto const move = [&](S& step, std::vector<T>& at, int k) {
        for (std::size_t j = 0; j < size; ++j) d[j] = j % 2 == 0 ? T(k) + T(j) / 4 + T(.5) : T(-1.5) + T(j) / 8;
        step(on, std::span<T>(at), std::span<T>(d));
    };
    auto y = x, z = x;
    for (int k = 0; k < 3; ++k) move(one, x, k);
    restore_from(fresh, other);
    for (int k = 0; k < 3; ++k) move(other, y, k);
    CHECK(x == y);
    other = fresh;
    restore_from(one, other);
    for (int k = 0; k < 3; ++k) move(one, x, k), move(other, y, k);
    CHECK(x == y);
    move(fresh, z, 3);  // what was saved matters
    CHECK(saved(fresh) != saved(other));
}

}  // namespace steps
