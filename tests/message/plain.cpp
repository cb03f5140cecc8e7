// SPDX-License-Identifier: Apache-2.0
// Terms are the numbers that codes mean, views and never of a temporary; products are rounded once for each summand.
#include "laconic/message/plain.hpp"

#include "support/everything.hpp"

using numbers = full_vector<double, host>;

static_assert(Message<numbers, double, host> && TermMessage<numbers> && Terms<numbers::terms_type>);

template <class M>
concept ListsTerms = requires(M&& m) {
    std::forward<M>(m).terms();
};
static_assert(ListsTerms<numbers&> && ListsTerms<numbers const&>);
static_assert(!ListsTerms<numbers> && !ListsTerms<numbers const>);  // a view of a temporary would dangle

TEST_CASE("a full vector's terms are its numbers") {
    numbers const m{{4, 0, -2}};
    auto const t = m.terms();
    CHECK(m.dimension() == 3);
    REQUIRE(t.size() == 3);
    CHECK((t[2].at == 2 && t[2].value == -2));
    host on;
    std::vector<double> out{1, 1, 1};
    add_message(on, std::span<double>(out), 0.25, m);
    CHECK(out == std::vector<double>{2, 1, 0.5});
    CHECK(m == numbers{{4, 0, -2}});
    CHECK(m != numbers{{4, 0, -2, 0}});
    CHECK(numbers{}.dimension() == 0);
}

static_assert(Message<powers<float, host>, float, host> && TermMessage<powers<double, host>>);
static_assert(powers<float, host>::code_width == 9 && powers<double, host>::code_width == 12);

TEST_CASE("a code is the exponent field with the sign above it") {
    powers<float, host> const m{{127, 256 + 127, 128, 0, 256, 1, 254}};
    auto const t = m.terms();
    float const expected[] = {1, -1, 2, 0, 0, 0x1p-126f, 0x1p127f};
    REQUIRE(t.size() == 7);
    for (std::size_t j = 0; j < 7; ++j) {
        CHECK(t[j].value == expected[j]);
        CHECK(t[j].at == j);
    }
    CHECK(std::signbit(t[4].value));
    powers<double, host> const wide{{1023, 2048 + 1024, 2046, 1}};
    CHECK(wide.terms()[0].value == 1);
    CHECK(wide.terms()[1].value == -2);
    CHECK(wide.terms()[2].value == 0x1p1023);
    CHECK(wide.terms()[3].value == std::numeric_limits<double>::min());
}

TEST_CASE_TEMPLATE("every code up to the largest exponent is a finite power of two, the next is not", T, float,
                   double) {
    using these = powers<T, host>;
    these m;
    for (unsigned sign = 0; sign < 2; ++sign)
        for (unsigned e = 0; e < power_of_two::exponents<T>; ++e)
            m.codes.push_back(static_cast<std::uint16_t>(sign << (these::code_width - 1) | e));
    auto const t = m.terms();
    for (std::size_t j = 0; j < t.size(); ++j) {
        int e = 0;
        T const v = t[j].value;
        REQUIRE(std::isfinite(v));
        REQUIRE((v == 0 || std::abs(std::frexp(v, &e)) == T(0.5)));
    }
    m.codes = {static_cast<std::uint16_t>(power_of_two::exponents<T>)};
    CHECK_FALSE(std::isfinite(m.terms()[0].value));
}

using sixteen_bits = short_floats<kernels::short_format::binary16, float, host>;
using eights = short_floats<kernels::short_format::e4m3, double, host>;
static_assert(Message<sixteen_bits, float, host> && Message<eights, double, host> && TermMessage<sixteen_bits>);
static_assert(sixteen_bits::terms_type::in_order);

// 0x3c00 is 1 as a half and 0x38 as an e4m3 number; 0x4248 is 3.140625.
TEST_CASE("numbers are what their codes mean") {
    sixteen_bits const m{{0x3c00, 0xc000, 0x4248, 0x8000}};
    CHECK(m.dimension() == 4);
    host on;
    std::vector<float> out(4, 10);
    add_message(on, std::span<float>(out), 2.0f, m);
    CHECK(out == std::vector<float>{12, 6, 16.28125f, 10});
    CHECK(m.terms()[2].at == 2);

    eights const n{{0x38, 0xb8 + 8, 0x7e, 0x01}};
    std::vector<double> const expected{1, -2, 448, 0x1p-9};
    for (std::size_t j = 0; j < 4; ++j) CHECK(n.terms()[j].value == expected[j]);
}

TEST_CASE("a code that no reader takes is NaN, not some number") {
    eights const n{{0x7f, 0xff}};
    CHECK(std::isnan(n.terms()[0].value));
    CHECK(std::isnan(n.terms()[1].value));
    sixteen_bits const m{{0x7c00}};
    CHECK(std::isnan(m.terms()[0].value));
}

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
