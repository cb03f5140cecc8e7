// SPDX-License-Identifier: Apache-2.0
// Every pass of the host is its formula, exact at all lengths, and has the reference's bits for all numbers.
#include "laconic/backend/host/update.hpp"

#include "support/everything.hpp"

template <class T>
std::vector<T> ramp(std::size_t d, double a, double b) {
    std::vector<T> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(a + b * static_cast<double>(i));
    return x;
}

struct scattered {
    static constexpr bool in_order = false;
    std::size_t size() const { return 3; }
    messages::term<double> operator[](std::size_t j) const { return {static_cast<coordinate>(4 - 2 * j), double(j) + 1}; }
};
struct in_a_row {
    static constexpr bool in_order = true;
    std::size_t size() const { return 3; }
    messages::term<float> operator[](std::size_t j) const { return {static_cast<coordinate>(j), float(j) + 1}; }
};

// Term j is values_j e_{at_j}.
struct term_row {
    coordinate const* at;
    double const* values;
    std::size_t count;
    [[maybe_unused]] static constexpr bool in_order = false;
    constexpr std::size_t size() const { return count; }
    constexpr messages::term<double> operator[](std::size_t j) const { return {at[j], values[j]}; }
};

// Buckets of `bucket` coordinates, whose number is the value: looked up in each term, or known from the bucket.
struct known {
    double value;
    std::size_t count;
    [[maybe_unused]] static constexpr bool in_order = true;
    constexpr std::size_t size() const { return count; }
    constexpr messages::term<double> operator[](std::size_t j) const { return {static_cast<coordinate>(j), value}; }
};
struct in_buckets {
    std::size_t bucket, count;
    [[maybe_unused]] static constexpr bool in_order = true;
    constexpr std::size_t size() const { return count; }
    constexpr messages::term<double> operator[](std::size_t j) const {
        return {static_cast<coordinate>(j), static_cast<double>(j / bucket)};
    }
    constexpr known from(std::size_t first) const {
        return {static_cast<double>(first / bucket), std::min(bucket - first % bucket, count - first)};
    }
};

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
        CHECK(compensate(on, T(1), in(g), in(), T(1), in(), out(g)));
        CHECK(g == ramp<T>(d, 100, 10));
        CHECK(compensate(on, T(1), in(g), in(x), T(1), in(), out(g)));
        CHECK(g == ramp<T>(d, 99, 8));
        CHECK(compensate(on, T(1), in(g), in(), T(1), in(y), out(g)));
        CHECK(g == ramp<T>(d, 94, 11));
        CHECK(compensate(on, T(1), in(g), in(x), T(1), in(y), out(g)));
        CHECK(g == ramp<T>(d, 88, 12));
        CHECK(compensate(on, T(2), in(g), in(x), T(1), in(y), out(g)));
        CHECK(g == ramp<T>(d, 170, 25));

        auto m = x, h = y;
        complete_and_remember(on, out(m), T(4), out(h));
        CHECK(m == ramp<T>(d, -4, 5));
        CHECK(h == ramp<T>(d, -1, 11));
    }
}

// Every length and place of a number that is not finite, and sums of finite ones that overflow.
TEST_CASE_TEMPLATE("a delta that is not finite is noticed", T, float, double) {
    host on;
    constexpr T infinite = std::numeric_limits<T>::infinity(), most = std::numeric_limits<T>::max();
    for (std::size_t d = 1; d <= 40; ++d)
        for (std::size_t i = 0; i < d; ++i)
            for (T const bad : {infinite, -infinite, std::numeric_limits<T>::quiet_NaN(), most}) {
                std::vector<T> g(d, -most), e(d, T(1));
                CHECK(compensate(on, T(1), std::span<T const>(g), {}, T(1), std::span<T const>(e), std::span<T>(g)));
                g[i] = bad;
                e[i] = most / 2;
                CHECK(!compensate(on, T(1), std::span<T const>(g), {}, T(1), std::span<T const>(e), std::span<T>(g)));
            }
}

TEST_CASE("terms are added at their coordinates, in the type of the sum") {
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

TEST_CASE("terms in buckets are added bucket by bucket, to the same sum") {
    host on;
    reference by_definition;
    for (std::size_t const d : {0u, 1u, 7u, 64u, 100u})
        for (std::size_t const bucket : {1u, 3u, 16u, 1000u}) {
            std::vector<double> sum(d, 0.5), wanted(sum);
            add_terms(on, std::span<double>(sum), 2.0, in_buckets{bucket, d});
            add_terms(by_definition, std::span<double>(wanted), 2.0, in_buckets{bucket, d});
            CHECK(sum == wanted);
            if (d > bucket) CHECK(sum[bucket] == 2.5);
        }
}

TEST_CASE("what terms name is cleared, except for those that are 0 as the vector's numbers") {
    std::vector<coordinate> const at{4, 0, 2, 1};
    std::vector<double> const values{1, -2, 0, 1e-300};
    auto const clear = [&](auto on, auto x) {
        using T = typename decltype(x)::value_type;
        clear_terms(on, std::span<T>(x), term_row{at.data(), values.data(), at.size()});
        return x;
    };
    CHECK(clear(host{}, std::vector<double>(6, 9)) == std::vector<double>{0, 0, 9, 9, 0, 9});
    CHECK(clear(host{}, std::vector<float>(6, 9)) == std::vector<float>{0, 9, 9, 9, 0, 9});
    CHECK(clear(reference{}, std::vector<float>(6, 9)) == std::vector<float>{0, 9, 9, 9, 0, 9});
}

TEST_CASE_TEMPLATE("what is gathered is scattered back, by units of which the last may be shorter", B, host,
                   reference) {
    B on;
    for (std::size_t const unit : {1u, 2u, 3u, 10u}) {
        std::vector<double> x(10), found;
        std::iota(x.begin(), x.end(), 1.0);
        std::size_t const units = (x.size() + unit - 1) / unit;
        std::vector<coordinate> const at{0, static_cast<coordinate>(units - 1)};
        auto const places = std::span<coordinate const>(at).last(units > 1 ? 2 : 1);
        gather(on, std::span<double const>(x), places, unit, 1.0, found);
        std::vector<double> y(10, -1.0);
        scatter(on, std::span<double const>(found), places, unit, std::span<double>(y));
        for (std::size_t i = 0; i < x.size(); ++i)
            CHECK(y[i] == (i / unit == 0 || i / unit == units - 1 ? x[i] : -1.0));
    }
}
