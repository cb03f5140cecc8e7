// SPDX-License-Identifier: Apache-2.0
// Draws, products and orthonormal columns of the device have the reference's bits.
#include "laconic/backend/device/matrix.hpp"

#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::kernels;
using both::here;
using both::in;

TEST_CASE_TEMPLATE("draws, products and orthonormal columns are the reference's", T, float, double) {
    device on;
    reference plain;
    for (std::size_t const rows : {1u, 2u, 16u, 33u})
        for (std::size_t const width : {1u, 15u, 48u, 200u})
            for (std::size_t const columns : {1u, 2u, 5u})
                for (auto const of : {both::kind::noise, both::kind::ties, both::kind::subnormal, both::kind::huge}) {
                    auto const x = both::numbers<T>(of, rows * width);
                    auto const a = both::there(on, x);
                    device::array<T> q(width * columns), y(rows * columns), back(width * columns);
                    std::vector<T> p(width * columns), z(rows * columns), there(width * columns);
                    draw_symmetric(on, key{rows}, 9, std::span<T>(q));
                    draw_symmetric(plain, key{rows}, 9, std::span<T>(p));
                    CHECK(both::same_bits(here(on, q), p));
                    auto const straight = matrix_is::as_it_stands, turned = matrix_is::transposed;
                    multiply_matrix(on, in(a), straight, in(q), columns, std::span<T>(y));
                    multiply_matrix(plain, in(x), straight, in(p), columns, std::span<T>(z));
                    CHECK(both::same_bits(here(on, y), z));
                    multiply_to_orthonormal(on, in(a), straight, in(q), columns, std::span<T>(y));
                    multiply_to_orthonormal(plain, in(x), straight, in(p), columns, std::span<T>(z));
                    CHECK(both::same_bits(here(on, y), z));
                    multiply_matrix(on, in(a), turned, in(y), columns, std::span<T>(back));
                    multiply_matrix(plain, in(x), turned, in(z), columns, std::span<T>(there));
                    CHECK(both::same_bits(here(on, back), there));
                    multiply_to_orthonormal(on, in(a), turned, in(y), columns, std::span<T>(back));
                    multiply_to_orthonormal(plain, in(x), turned, in(z), columns, std::span<T>(there));
                    CHECK(both::same_bits(here(on, back), there));
                }
}

TEST_CASE_TEMPLATE("sums of more than one stretch", T, float, double) {
    device on;
    reference plain;
    std::size_t const length = 3, summands = 2 * 4096 + 33, columns = 2;
    for (auto const how : {matrix_is::as_it_stands, matrix_is::transposed}) {
        auto const x = both::numbers<T>(both::kind::noise, length * summands);
        auto const by = both::numbers<T>(both::kind::last_kind_of_finite, summands * columns);
        auto const a = both::there(on, x), b = both::there(on, by);
        device::array<T> y(length * columns), q(summands * columns);
        std::vector<T> z(length * columns), p(summands * columns);
        multiply_matrix(on, in(a), how, in(b), columns, std::span<T>(y));
        multiply_matrix(plain, in(x), how, in(by), columns, std::span<T>(z));
        CHECK(both::same_bits(here(on, y), z));
        auto const other = how == matrix_is::transposed ? matrix_is::as_it_stands : matrix_is::transposed;
        multiply_to_orthonormal(on, in(a), other, in(y), columns, std::span<T>(q));
        multiply_to_orthonormal(plain, in(x), other, in(z), columns, std::span<T>(p));
        CHECK(both::same_bits(here(on, q), p));
    }
}
