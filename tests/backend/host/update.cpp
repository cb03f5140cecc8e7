// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/host/update.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace laconic;

namespace {

template <class T>
std::vector<T> ramp(std::size_t d, double a, double b) {
    std::vector<T> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(a + b * static_cast<double>(i));
    return x;
}

struct scattered {
    static constexpr bool in_order = false;
    std::size_t size() const { return 3; }
    term<double> operator[](std::size_t j) const { return {static_cast<coordinate>(4 - 2 * j), double(j) + 1}; }
};
struct in_a_row {
    static constexpr bool in_order = true;
    std::size_t size() const { return 3; }
    term<float> operator[](std::size_t j) const { return {static_cast<coordinate>(j), float(j) + 1}; }
};

}  // namespace

// Whole numbers, so that every result is exact; every length, so that vectors and what is left over meet.
TEST_CASE_TEMPLATE("each pass is its formula", T, float, double) {
    host on;
    for (std::size_t d = 0; d <= 40; ++d) {
        CAPTURE(d);
        auto const x = ramp<T>(d, 1, 2), y = ramp<T>(d, -5, 3);
        using in = std::span<T const>;
        using out = std::span<T>;

        auto z = y;
        add_scaled(on, T(-2), in(x), out(z));
        CHECK(z == ramp<T>(d, -7, -1));

        z = y;
        multiply(on, T(3), out(z));
        CHECK(z == ramp<T>(d, -15, 9));

        auto g = ramp<T>(d, 100, 10);
        subtract_known_add_unsaid(on, out(g), in(), in());
        CHECK(g == ramp<T>(d, 100, 10));
        subtract_known_add_unsaid(on, out(g), in(x), in());
        CHECK(g == ramp<T>(d, 99, 8));
        subtract_known_add_unsaid(on, out(g), in(), in(y));
        CHECK(g == ramp<T>(d, 94, 11));
        subtract_known_add_unsaid(on, out(g), in(x), in(y));
        CHECK(g == ramp<T>(d, 88, 12));

        auto m = x, h = y;
        complete_and_remember(on, out(m), T(4), out(h));
        CHECK(m == ramp<T>(d, -4, 5));
        CHECK(h == ramp<T>(d, -1, 11));

        std::vector<T> bounds(d, T(-1));
        scaled_distances(on, T(2), in(x), in(y), out(bounds));
        for (std::size_t i = 0; i < d; ++i)
            CHECK(bounds[i] == static_cast<T>(i > 6 ? 2.0 * double(i) - 12 : 12 - 2.0 * double(i)));
    }
}

TEST_CASE("terms are added where they say, in the type of the sum") {
    host on;
    std::vector<float> narrow{10, 10, 10, 10, 10};
    add_terms(on, std::span<float>(narrow), 2.0f, scattered{});
    CHECK(narrow == std::vector<float>{16, 10, 14, 10, 12});
    std::vector<double> wide{10, 10, 10};
    add_terms(on, std::span<double>(wide), -1.0, in_a_row{});
    CHECK(wide == std::vector<double>{9, 8, 7});
}

TEST_CASE_TEMPLATE("magnitudes are raised to the least, then multiplied; signs stay", T, float, double) {
    host on;
    std::vector<T> y{3, -3, T(0.5), T(-0.5), 0, T(-0.0)};
    raise_magnitudes(on, T(1), T(2), std::span<T>(y));
    CHECK(y == std::vector<T>{6, -6, 2, -2, 2, -2});
    CHECK(std::signbit(y[5]));
}
