// SPDX-License-Identifier: Apache-2.0
// The host adds numbers in the documented order of stretches and partial sums, to the bit, at any length.
#include "laconic/backend/sum_order.hpp"

#include "support/everything.hpp"

using namespace laconic::kernels;

// The words of sum_order.hpp, level by level.
template <class Sum>
Sum sum_of_partial_sums(std::span<Sum const> summands) {
    std::vector<Sum> sums(32, Sum(0));
    for (std::size_t i = 0; i < summands.size(); ++i) sums[i % 32] += summands[i];
    while (sums.size() > 1) {
        std::size_t const half = sums.size() / 2;
        for (std::size_t i = 0; i < half; ++i) sums[i] += sums[half + i];
        sums.resize(half);
    }
    return sums[0];
}
double by_definition(std::vector<double> summands) {
    while (summands.size() > 4096) {
        std::vector<double> sums;
        for (std::size_t i = 0; i < summands.size(); i += 4096)
            sums.push_back(sum_of_partial_sums<double>(
                std::span(summands).subspan(i, std::min<std::size_t>(4096, summands.size() - i))));
        summands = sums;
    }
    return sum_of_partial_sums<double>(summands);
}
// Of squares, the stretches in floats.
double by_definition_in_floats(std::vector<float> const& x) {
    std::vector<float> squares(x);
    for (float& v : squares) v *= v;
    std::vector<double> sums;
    for (std::size_t i = 0; i < squares.size(); i += 4096)
        sums.push_back(
            sum_of_partial_sums<float>(std::span(squares).subspan(i, std::min<std::size_t>(4096, squares.size() - i))));
    return by_definition(sums);
}

// Of many sizes, so that nearly every other order gives another sum.
template <class T>
std::vector<T> random_numbers(std::size_t n) {
    std::vector<T> x(n);
    for (std::size_t i = 0; i < n; ++i) {
        auto const drawn = static_cast<T>(key{7}.uniform(i) - 0.4);
        x[i] = i % 5 == 0 ? drawn / 3 : drawn * 100;
    }
    return x;
}
template <class T, class F>
std::vector<double> each(std::vector<T> const& x, F summand) {
    std::vector<double> s(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) s[i] = summand(static_cast<double>(x[i]));
    return s;
}
double square(double v) { return v * v; }
double magnitude_of(double v) { return std::abs(v); }

TEST_CASE_TEMPLATE("sums of the host are those of the definition, of all lengths", T, float, double) {
    host fast;
    for (std::size_t const n : {0, 1, 17, 4095, 4096, 4097, 8191, 8192, 8200, 16 * 4096, 17 * 4096 + 1, 300'000}) {
        CAPTURE(n);
        auto const x = random_numbers<T>(n);
        std::span<T const> const v(x);
        double const squares = by_definition(each(x, square)), magnitudes = by_definition(each(x, magnitude_of));
        CHECK(sum_of_squares(fast, v) == squares);
        CHECK(sum_of_magnitudes(fast, v) == magnitudes);
        if constexpr (sizeof(T) == 4) {
            double const in_floats = by_definition_in_floats(x);
            CHECK(sum_of_squares_in_floats(fast, v) == in_floats);
            double const error = std::min(132.0, static_cast<double>(n) / 32 + 5) + 2;
            CHECK(std::abs(in_floats - squares) <= error * 0x1p-24 * squares);
        }
        std::pair const by_sign(by_definition(each(x, [](double s) { return s < 0 ? -s : 0; })),
                                by_definition(each(x, [](double s) { return s < 0 ? 0 : s; })));
        double const variance = by_definition(each(x, [](double s) {
            double const r = std::abs(s / 2 - std::nearbyint(s / 2));
            return r * (1 - r);
        }));
        CHECK(rounding_variance(fast, v, T(2)) == variance);
        std::vector<std::uint64_t> words((n + 63) / 64);
        if (n == 0) continue;
        T mean = 0, below = 0, above = 0;
        auto const one = [](T& to) { return std::span(&to, 1); };
        CHECK(pack_signs_and_means(fast, v, n, one(mean), std::span(words)));
        CHECK(mean == static_cast<T>(magnitudes / static_cast<double>(n)));
        auto const negative = std::count_if(x.begin(), x.end(), [](T s) { return s < 0; });
        CHECK(pack_signs_and_two_means(fast, v, n, one(below), one(above), std::span(words)));
        if (negative > 0) CHECK(below == static_cast<T>(by_sign.first / static_cast<double>(negative)));
        CHECK(above == static_cast<T>(by_sign.second / (static_cast<double>(n) - static_cast<double>(negative))));
    }
}

TEST_CASE("products of a matrix are summed in the same order, either way") {
    host fast;
    std::size_t const n = 4096 + 33, columns = 2, length = 3;
    auto const x = random_numbers<double>(length * n), by = random_numbers<double>(columns * n);
    for (auto const how : {matrix_is::as_it_stands, matrix_is::transposed}) {
        std::vector<double> expected, p(columns * length);
        for (std::size_t c = 0; c < columns; ++c)
            for (std::size_t r = 0; r < length; ++r) {
                std::vector<double> products(n);
                for (std::size_t i = 0; i < n; ++i)
                    products[i] = x[how == matrix_is::transposed ? i * length + r : r * n + i] * by[c * n + i];
                expected.push_back(by_definition(products));
            }
        multiply_matrix(fast, std::span<double const>(x), how, std::span<double const>(by), columns, std::span(p));
        CHECK(p == expected);
    }
}

// Three levels, and whole numbers, whose sum is known: its upper and lower halves are added apart.
TEST_CASE("the sum of more than 4096^2 numbers, and its error") {
    host fast;
    std::vector<float> x(4096 * 4096 + 5);
    std::uint64_t upper = 0, lower = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::uint64_t const v = static_cast<std::uint32_t>(i * 2654435761u) >> 8, squared = v * v;
        x[i] = static_cast<float>(v);
        upper += squared >> 32;
        lower += squared & 0xffffffff;
    }
    std::span<float const> const v(x);
    double const sum = by_definition(each(x, square)), exact = std::ldexp(upper, 32) + static_cast<double>(lower);
    CHECK(sum_of_squares(fast, v) == sum);
    CHECK(sum != exact);
    CHECK(std::abs(sum - exact) <= 3 * 132 * 0x1p-53 * exact);
}

TEST_CASE("stretches are asked for in their order, none is left out, and none is longer than 4096") {
    for (std::size_t const n : {0, 1, 4096, 4097, 4096 * 4096, 4096 * 4096 + 1, 4096 * 4096 * 2 + 4097}) {
        CAPTURE(n);
        std::size_t next = 3;
        int wrong = 0;
        double const sum = detail::sum_in_order(3, n, [&](std::size_t first, std::size_t length) {
            wrong += first != next || length > 4096 || (length == 0 && n > 0);
            next += length;
            return static_cast<double>(length);
        });
        CHECK(wrong == 0);
        CHECK(next == n + 3);
        CHECK(sum == static_cast<double>(n));
    }
}

// 2^53 + 1 is no double. Were the last of 4097 sums added with the first, a two would arrive.
TEST_CASE("more than 4096 sums of stretches make a level of their own") {
    auto const sum_of = [](std::size_t n) {
        return detail::sum_in_order(0, n, [](std::size_t first, std::size_t) {
            std::size_t const at = first / 4096;
            return at == 1 ? 0x1p53 : at == 0 || at == 4096 ? 1.0 : 0.0;
        });
    };
    CHECK(sum_of(4096 * 4096) == 0x1p53);
    CHECK(sum_of(4096 * 4096 + 1) == 0x1p53);
}
