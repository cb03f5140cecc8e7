// SPDX-License-Identifier: Apache-2.0
// Factors are sums of products row after row, each rounded once, and products that may overflow are known.
#include "laconic/message/factors.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

static_assert(Message<factors<double, host>, double, host> && Message<factors<float, host>, float, host>);
static_assert(TermMessage<factors<double, host>> && factors<float, host>::terms_type::in_order);

// 2 x 3 of rank 2: columns (1, 2) and (0, 1) times (3, 4, 5) and (10, 0, -10).
TEST_CASE("numbers are sums of products, row after row") {
    factors<double, host> const m{6, 2, 2, {1, 2, 0, 1}, {3, 4, 5, 10, 0, -10}};
    CHECK(m.dimension() == 6);
    CHECK(m.cols() == 3);
    CHECK(!m.tall());
    CHECK(&m.shorter() == &m.left);
    host on;
    std::vector<double> out(6, 1);
    add_message(on, std::span<double>(out), 2.0, m);
    CHECK(out == std::vector<double>{7, 9, 11, 33, 17, 1});
    CHECK(m.terms()[5].at == 5);
    auto other = m;
    CHECK(other == m);
    CHECK(&other.longer() == &other.right);
    other.right[0] = 0;
    CHECK(other != m);
}

TEST_CASE("factors of rank 0 are all zeros, even without a column") {
    CHECK((factors<float, host>{3, 1, 0, {}, {}}.cols()) == 3);
    for (auto const& m : {factors<float, host>{3, 1, 0, {}, {}}, factors<float, host>{3, 5, 0, {}, {}},
                          factors<float, host>{3, 0, 0, {}, {}}, factors<float, host>{0, 4, 0, {}, {}}}) {
        host on;
        std::vector<float> out(m.dimension(), 4);
        add_message(on, std::span<float>(out), 1.0f, m);
        CHECK(out == std::vector<float>(m.dimension(), 4));
    }
}

// (1 + 2^-52)^2 - (1 + 2^-51) is 2^-104; a product rounded first would give 0.
TEST_CASE("each summand is added with one rounding, floats in double") {
    double const x = 1 + 0x1p-52;
    factors<double, host> const m{1, 1, 2, {1 + 0x1p-51, x}, {-1, x}};
    CHECK(m.terms()[0].value == 0x1p-104);
    factors<float, host> const f{1, 1, 3, {0x1p60f, 1, 0x1p60f}, {0x1p-10f, 3, -0x1p-10f}};
    CHECK(f.terms()[0].value == 3);  // in float the 3 would be lost
}

TEST_CASE_TEMPLATE("products that may not be finite are found", T, float, double) {
    using limits = std::numeric_limits<T>;
    T const max = limits::max(), inf = limits::infinity(), nan = limits::quiet_NaN();
    CHECK(product_is_finite<T>(1, max / 2, 1));
    CHECK(product_is_finite<T>(T(0.5), max, 1));
    CHECK(product_is_finite<T>(max, 0, 7));
    CHECK(product_is_finite<T>(0, 0, 0));
    CHECK(!product_is_finite<T>(1, max, 1));
    CHECK(!product_is_finite<T>(1, max / 2, 2));
    CHECK(!product_is_finite<T>(max, max, 1));
    CHECK(!product_is_finite<T>(inf, 0, 1));
    CHECK(!product_is_finite<T>(nan, 1, 1));
    CHECK(!product_is_finite<T>(1, nan, 1));
}
