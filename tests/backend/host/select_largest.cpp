// SPDX-License-Identifier: Apache-2.0
// `select_largest` is right for every k and any numbers, also where its guess from a sample is misled, and so is its
// form for a sum as it is made.
#include "laconic/backend/host/select_largest.hpp"

#include "support/everything.hpp"

using coordinates = std::vector<coordinate>;

constexpr std::size_t length = 40007;  // long enough for a guess, and no multiple of a vector's width

template <class T>
void check_all(std::string const& name, std::vector<T> const& x) {
    CAPTURE(name);
    host on;
    reference plain;
    coordinates out{9, 9}, expected;
    for (std::size_t const k : {0u, 1u, 7u, 40u, 400u, 4000u, 15000u, 25000u, 40006u, 40007u}) {
        CAPTURE(k);
        select_largest(on, std::span<T const>(x), k, out);
        select_largest(plain, std::span<T const>(x), k, expected);
        CHECK(out == expected);
    }
}

TEST_CASE_TEMPLATE("the largest of long vectors, whatever a sample of them suggests", T, float, double) {
    key const from{5};
    auto const make = [](auto f) {
        std::vector<T> x(length);
        for (std::size_t i = 0; i < length; ++i) x[i] = static_cast<T>(f(i));
        return x;
    };
    auto const noise = [&](std::size_t i) { return std::tan(3 * (from.uniform(i) - 0.5)); };
    check_all("noise", make(noise));
    check_all("many ties", make([&](std::size_t i) { return std::floor(20 * from.uniform(i)) - 10; }));
    check_all("all equal", make([](std::size_t) { return -2; }));
    check_all("zeros", make([](std::size_t) { return 0; }));
    check_all("ascending", make([](std::size_t i) { return double(i); }));
    check_all("descending", make([](std::size_t i) { return -double(length - i); }));
    check_all("few numbers among zeros", make([&](std::size_t i) { return i % 100 == 37 ? noise(i) : 0; }));
    check_all("few numbers among equal ones", make([&](std::size_t i) {
                  return i % 100 == 37 ? 3 + noise(i) * noise(i) : i % 3 == 1 ? 2 : 1;
              }));
    check_all("subnormal", make([&](std::size_t i) { return noise(i) * 4 * std::numeric_limits<T>::denorm_min(); }));
    check_all("one large block", make([&](std::size_t i) { return (i / 3000 == 5 ? 1000 : 1) * noise(i); }));
    check_all("the last is the largest", make([](std::size_t i) { return i + 1 == length ? 1 : 0.5; }));
    check_all("infinite ones and NaN", make([&](std::size_t i) {
                  return i % 9000 == 1 ? NAN : i % 5000 == 2 ? -INFINITY : noise(i);
              }));
    check_all("NaN only", make([](std::size_t) { return NAN; }));
}

TEST_CASE_TEMPLATE("of a sum as it is made: the same sum, and its largest", T, float, double) {
    key const from{6};
    host on;
    reference plain;
    auto const largest = detail::bytes_past_caches / sizeof(T) + 77;  // written past the caches
    for (std::size_t const d : {length, length - 1, largest}) {
        std::vector<T> g(d + 16), h(d), e(d), out(d + 16), sum(d);
        for (std::size_t i = 0; i < d; ++i)
            g[i] = static_cast<T>(from.uniform(i) - 0.5), h[i] = static_cast<T>(i % 5) / 8,
            e[i] = static_cast<T>(i % 7) / 9;
        coordinates at{3}, expected;
        auto const check = [&](std::span<T const> x, std::span<T const> minus, std::span<T const> plus, std::size_t k,
                               std::size_t skip) {
            CAPTURE(d);
            CAPTURE(k);
            CAPTURE(skip);
            bool const finite = compensate(plain, T(1.5), x, minus, T(0.3), plus, std::span(sum));
            auto const to = std::span(out).subspan(skip, d);
            CHECK(finite == compensate_and_select_largest(on, T(1.5), x, minus, T(0.3), plus, to, k, at));
            CHECK(std::ranges::equal(std::as_bytes(std::span(sum)), std::as_bytes(to)));
            if (!finite) return;
            select_largest(on, std::span<T const>(sum), k, expected);  // right by the tests above
            CHECK(at == expected);
        };
        std::span<T const> const none, x = std::span<T const>(g).first(d);
        check(x, none, e, d / 100, 0);
        check(std::span<T const>(g).subspan(3, d), h, e, d / 9, 5);
        if (d < largest) {
            check(x, h, none, d / 10, 15);
            check(x, none, none, d / 7, 1);  // more than is guessed
            check(x, h, e, 0, 2);
        }
        e[d - 1] = std::numeric_limits<T>::infinity();
        check(x, none, e, d / 100, 3);
        g[2] = std::numeric_limits<T>::quiet_NaN();
        check(x, h, none, d / 100, 0);
    }
    // in place, and misled by its guess: all are equal
    std::vector<T> same(length, T(2)), zeros(length);
    coordinates at;
    CHECK(compensate_and_select_largest(on, T(1), std::span<T const>(same), {}, T(1), std::span<T const>(zeros),
                                        std::span(same), 400, at));
    REQUIRE(at.size() == 400);
    CHECK(at.back() == 399);
    CHECK(same.back() == T(2));
}

TEST_CASE("samples that see only the largest, or none of them") {
    // Where they look does not depend on the numbers: so one or both can be misled on purpose.
    std::size_t const samples = std::min(detail::most_samples, length / 16), stride = length / samples;
    auto const looked = [&](std::uint32_t spread) {
        std::vector<bool> at(length);
        for (std::uint32_t j = 0; j < samples; ++j) at[j * stride + (std::uint64_t{j * spread} * stride >> 32)] = true;
        return at;
    };
    auto const first = looked(detail::first_spread), second = looked(detail::second_spread);
    for (bool const both : {false, true})
        for (std::size_t const seen : {10u, 0u}) {
            std::vector<float> x(length);
            for (std::size_t i = 0; i < length; ++i)
                x[i] = static_cast<float>(1 + key{8}.uniform(i)) +
                       static_cast<float>(first[i] || (both && second[i]) ? seen : 10 - seen);
            check_all(seen != 0 ? "only" : "none", x);
        }
}

TEST_CASE_TEMPLATE("candidates: what is above a bound, and where, unless it is too much", T, float, double) {
    std::vector<T> x(length, T(0.5));
    for (std::size_t i = 0; i < length; i += 10) x[i] = static_cast<T>(i) * T(i % 20 == 0 ? 1 : -1);
    x[length - 1] = std::numeric_limits<T>::quiet_NaN();
    std::vector<T> room(detail::room_for(length));
    for (bool const few : {true, false}) {
        auto const found = detail::collect_above<simd::arch>(std::span<T const>(x), T(30000), few, std::span(room));
        REQUIRE(found.count == 1001);  // 30010, 30020, .. 40000, NaN
        for (std::size_t j = 0; j < 1000; ++j) {
            CHECK(found.at[j] == 30010 + 10 * j);
            CHECK(found.values[j] == x[30010 + 10 * j]);
        }
        CHECK(found.at[1000] == length - 1);
        CHECK(std::isnan(found.values[1000]));
        CHECK(detail::collect_above<simd::arch>(std::span<T const>(x), T(0), few, std::span(room)).count > length / 4);
    }
}

TEST_CASE_TEMPLATE("candidates, however many of 64 numbers are above", T, float, double) {
    std::vector<T> x(length, T(0.5)), values, room(detail::room_for(length));
    coordinates at;
    for (std::size_t i = 0; i < length; ++i) {
        if (i % 640 >= i / 640) continue;  // in the n-th 640 the first n
        x[i] = static_cast<T>(i) + T(1);
        values.push_back(x[i]);
        at.push_back(static_cast<coordinate>(i));
    }
    REQUIRE(values.size() > 1900);
    for (bool const few : {true, false}) {
        std::fill(room.begin(), room.end(), T(-1));
        auto const found = detail::collect_above<simd::arch>(std::span<T const>(x), T(0.5), few, std::span(room));
        REQUIRE(found.count == values.size());
        CHECK(std::equal(values.begin(), values.end(), found.values.begin()));
        CHECK(std::equal(at.begin(), at.end(), found.at.begin()));
    }
}

TEST_CASE("magnitudes above a bound are counted, NaNs above NaNs, too") {
    float const nan = std::numeric_limits<float>::quiet_NaN();
    float const larger_nan = std::bit_cast<float>(detail::magnitude_bits(nan) + 1);
    std::vector<float> const x{0, -1, 2, INFINITY, nan, larger_nan};
    auto const above = [&](float bound) { return detail::count_above<simd::arch>(std::span<float const>(x), bound); };
    CHECK(above(-1) == 6);
    CHECK(above(1) == 4);
    CHECK(above(INFINITY) == 2);
    CHECK(above(nan) == 1);
    CHECK(above(larger_nan) == 0);
}
