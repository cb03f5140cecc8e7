// SPDX-License-Identifier: Apache-2.0
// A settled product is rounded before anything is added to it: the compiler cannot fuse the two.
#include "laconic/backend/settle.hpp"

#include "support/everything.hpp"

// (1 + e)^2 = 1 + 2 e + e^2, of which a rounded product loses the last summand and a fused sum does not.
TEST_CASE_TEMPLATE("a settled product is rounded before anything is added to it", T, float, double) {
    T const volatile e = sizeof(T) == 4 ? T(0x1p-23) : T(0x1p-52);
    T const a = 1 + e, c = -(1 + 2 * e);
    T product = a * a;
    laconic::simd::settle(product);
    CHECK(product + c == 0);
    CHECK(laconic::simd::rounded_product(a, a) + c == 0);
    CHECK(std::fma(a, a, c) == e * e);
}
