// SPDX-License-Identifier: Apache-2.0
// Draws, products and orthonormal columns are the same bits on host and reference, degenerate columns included.
#include "laconic/backend/reference/matrix.hpp"

#include "support/everything.hpp"
#include "support/laws/messages.hpp"

using namespace laconic;
using namespace laconic::kernels;

TEST_CASE_TEMPLATE("draws, products and orthonormal columns agree to the last bit", T, float, double) {
    host fast;
    reference plain;
    for (std::size_t const rows : {1u, 2u, 7u, 16u, 33u, 100u})
        for (std::size_t const width : {1u, 4u, 15u, 48u, 600u})
            for (std::size_t const columns : {1u, 2u, 5u}) {
                auto const x = laws::noise<T>(rows * width, rows + 40 * width, 6);
                std::span<T const> const v(x);
                auto const run = [&](auto& on) {
                    std::vector<T> q(width * columns), y(rows * columns), back(width * columns);
                    draw_symmetric(on, key{rows}, 9, std::span<T>(q));
                    auto all = q;
                    auto const add = [&](std::vector<T> const& more) {
                        all.insert(all.end(), more.begin(), more.end());
                    };
                    auto const as_it_stands = matrix_is::as_it_stands;
                    multiply_matrix(on, v, as_it_stands, std::span<T const>(q), columns, std::span<T>(y));
                    add(y);
                    multiply_to_orthonormal(on, v, as_it_stands, std::span<T const>(q), columns, std::span<T>(y));
                    add(y);
                    multiply_matrix(on, v, matrix_is::transposed, std::span<T const>(y), columns, std::span<T>(back));
                    add(back);
                    multiply_to_orthonormal(on, v, matrix_is::transposed, std::span<T const>(y), columns,
                                            std::span<T>(back));
                    add(back);
                    return all;
                };
                CHECK(run(fast) == run(plain));
            }
}

TEST_CASE_TEMPLATE("so do columns that depend on each other, vanish or overflow", T, float, double) {
    host fast;
    reference plain;
    T const huge = std::numeric_limits<T>::max(), tiny = std::numeric_limits<T>::denorm_min();
    std::vector<std::vector<T>> const all{{1, 2, 3, 4, 2, 4, 6, 8, 1, 1, 1, 1},
                                          {0, 0, 0, 0, 1, 0, 0, 1, 3, 0, 0, 3},
                                          std::vector<T>(12, huge),
                                          std::vector<T>(12, tiny),
                                          {huge, tiny, 1, -huge, tiny, -tiny, 0, tiny, 1, -1, 1, huge}};
    for (auto const& y : all)
        for (std::size_t const columns : {1u, 3u, 4u, 12u}) {
            std::vector<T> identity(columns * columns, T(0)), a(12), b(12);
            for (std::size_t c = 0; c < columns; ++c) identity[c * (columns + 1)] = 1;
            std::span<T const> const v(y), by(identity);
            multiply_to_orthonormal(fast, v, matrix_is::transposed, by, columns, std::span<T>(a));
            multiply_to_orthonormal(plain, v, matrix_is::transposed, by, columns, std::span<T>(b));
            CHECK(a == b);
            double energy = 0;
            for (T const p : a) energy += static_cast<double>(p) * static_cast<double>(p);
            CHECK(energy > 0.999);
        }
}
