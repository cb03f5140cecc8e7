// SPDX-License-Identifier: Apache-2.0
// A number is its code times its bucket's step, its bucket's norm halved, or so many steps from its least.
#include "laconic/message/bucketed.hpp"

#include "support/everything.hpp"

using on_grid = quantized<float, host>;

static_assert(Message<on_grid, float, host> && Message<on_grid, double, host> && TermMessage<on_grid>);

// Two buckets of two and one of one: steps 0.5, 10 and 0.
TEST_CASE("a number is its code times its bucket's step") {
    on_grid const m{4, 2, {0.5f, 10, 0}, {-3, 4, 1, 0, 2}};
    CHECK(m.dimension() == 5);
    float const expected[] = {-1.5f, 2, 10, 0, 0};
    auto const t = m.terms();
    REQUIRE(t.size() == 5);
    for (std::size_t j = 0; j < 5; ++j) CHECK((t[j].at == j && t[j].value == expected[j]));

    host on;
    std::vector<double> out(5, 1.0);
    add_message(on, std::span<double>(out), -2.0, m);
    CHECK(out == std::vector<double>{4, -3, -19, 1, 1});

    on_grid other = m;
    CHECK(other == m);
    other.codes[4] = 1;
    CHECK(other != m);  // sent differently, though it means the same
}

TEST_CASE("with more levels than a byte holds its codes are wide") {
    on_grid m{127, 2, {0.5f, 10}, {}};
    m.resize(3);
    CHECK((m.codes.size() == 3 && m.wide_codes.empty()));
    m.levels = 128;
    m.resize(3);
    CHECK((m.codes.empty() && m.wide_codes.size() == 3));
    CHECK(m.dimension() == 3);
    m.wide_codes = {128, -127, 1};
    for (std::size_t j = 0; j < 3; ++j) CHECK(m.terms()[j].value == std::vector<float>{64, -63.5f, 10}[j]);
    host on;
    std::vector<double> out(3);
    add_message(on, std::span<double>(out), 2.0, m);
    CHECK(out == std::vector<double>{128, -127, 20});
}

static_assert(Message<dithered<double, host>, double, host> && Message<dithered<float, host>, float, host>);
static_assert(dithered<float, host>::terms_type::in_order);

TEST_CASE_TEMPLATE("a thousand levels reach where T does", T, float, double) {
    T const top = std::ldexp(T(1), std::numeric_limits<T>::max_exponent - 1), least = std::numeric_limits<T>::min();
    // The least normal number, that many halvings below the largest power of two.
    int const halvings = std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::min_exponent;
    auto const code = static_cast<std::int16_t>(1000 - std::min(halvings, 999));
    dithered<T, host> const m{1000, 3, {top}, {code, static_cast<std::int16_t>(-code), 1000}};
    CHECK(m.terms()[0].value == std::max(least, std::ldexp(top, -999)));
    CHECK(m.terms()[1].value == -m.terms()[0].value);
    CHECK(m.terms()[2].value == top);
}

static_assert(Message<stepped<double, host>, double, host> && Message<stepped<float, host>, float, host>);
static_assert(stepped<float, host>::terms_type::in_order);

// 3 x 0.1f is above 0.3f; rounded before the sum, -0.3f would be added to 0.3f's neighbour, 2^-25 above it.
TEST_CASE("a stepped number is rounded once") {
    float const least = -0.3f, step = 0.1f;
    double const exact = static_cast<double>(least) + 3 * static_cast<double>(step);  // fits a double
    CHECK(stepped_value(least, step, 3) == static_cast<float>(exact));
    float volatile product = 3 * step;
    CHECK(stepped_value(least, step, 3) != least + product);
    CHECK(stepped_value(5.0, 0.0, 255) == 5);
}
