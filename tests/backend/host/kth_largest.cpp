// SPDX-License-Identifier: Apache-2.0
// The k-th largest magnitude is that of sorting, and a guessed bracket holds it between near ends.
#include "laconic/backend/host/kth_largest.hpp"

#include "support/everything.hpp"

using namespace laconic::detail;

template <class T, class F>
std::vector<T> make(std::size_t d, F f) {
    std::vector<T> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(f(i));
    return x;
}

// Against sorted magnitudes, with no more room than is asked for.
template <class T>
void check(std::vector<T> const& x) {
    auto sorted = x;
    std::sort(sorted.begin(), sorted.end(), [](T a, T b) { return magnitude_bits(a) > magnitude_bits(b); });
    auto const d = x.size();
    for (std::size_t const k : {std::size_t{1}, d / 1000 + 1, d / 10 + 1, d / 2 + 1, d - d / 10, d}) {
        CAPTURE(k);
        std::vector<T> room(room_for(d));
        auto const found = kth_largest<simd::arch>(std::span<T const>(x), k, std::span<T>(room));
        auto const bits = magnitude_bits(sorted[k - 1]);
        CHECK(magnitude_bits(found.value) == bits);
        CHECK(!std::signbit(found.value));
        CHECK(found.equal == std::count_if(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(k),
                                           [&](T v) { return magnitude_bits(v) == bits; }));
    }
}

TEST_CASE_TEMPLATE("the k-th largest of any numbers, few and many", T, float, double) {
    T const tiny = std::numeric_limits<T>::denorm_min();
    key const from{3};
    auto const noise = [&](std::size_t i) { return std::tan(3 * (from.uniform(i) - 0.5)); };
    for (std::size_t const d : {1u, 2u, 100u, 2047u, 2048u, 2049u, 9001u, 70001u}) {
        CAPTURE(d);
        check(make<T>(d, noise));
        check(make<T>(d, [&](std::size_t i) { return i; }));
        check(make<T>(d, [](std::size_t) { return -3; }));
        check(make<T>(d, [](std::size_t i) { return i % 2 != 0 ? 0.0 : -0.0; }));
        check(make<T>(d, [&](std::size_t i) { return from.below(i, 2); }));
        check(make<T>(d, [&](std::size_t i) { return from.below(i, 10) == 0 ? noise(i) : 0; }));
        check(make<T>(
            d, [&](std::size_t i) { return static_cast<double>(tiny) * static_cast<double>(from.below(i, 9)); }));
        check(make<T>(d, [&](std::size_t i) { return i % 3 == 0 ? INFINITY : noise(i); }));
        check(make<T>(d, [&](std::size_t i) { return i % 3 == 0 ? -NAN : noise(i); }));
    }
}

TEST_CASE("below a magnitude comes the next one, below 0 none") {
    CHECK(next_below(1.0f) == std::nextafter(1.0f, 0.0f));
    CHECK(next_below(std::numeric_limits<double>::infinity()) == std::numeric_limits<double>::max());
    CHECK(next_below(std::numeric_limits<double>::denorm_min()) == 0);
    CHECK(next_below(0.0) == -1);
    CHECK(next_below(-0.0f) == -1);
}

TEST_CASE("a guess has the k-th between its ends, and not much else") {
    auto const x = make<float>(std::size_t{1} << 20, [](std::size_t i) { return std::log(key{3}.uniform(i) + 1e-9); });
    std::vector<float> room(room_for(x.size()));
    for (std::size_t const k : {1000u, 10000u, 100000u, 900000u, 1048576u})
        for (auto const spread : {first_spread, second_spread}) {
            samples<simd::arch, float> const some(x, k, spread, room);
            bracket<float> const b{some.low(), some.high()};
            auto const from = [&](float v) {
                return static_cast<std::size_t>(std::count_if(x.begin(), x.end(), [v](float u) { return -u >= v; }));
            };
            auto const high = from(b.high), low = from(b.low);
            CHECK(high <= k);
            CHECK(low >= k);
            CHECK(low - high <= 64 * (8 + std::sqrt(static_cast<double>(k) / 4)) * 6);
        }
}

TEST_CASE_TEMPLATE("the k-th of a few, with equal ones and NaN among them", T, float, double) {
    for (std::size_t const n : {1u, 63u, 64u, 65u, 200u, 1000u, 2047u})
        for (int const kinds : {1, 3, 1000000}) {
            auto x = make<T>(n, [&](std::size_t i) { return std::floor(kinds * key{4}.uniform(i)) - kinds / 2; });
            check(x);
            x[n / 2] = x[n / 3] = std::numeric_limits<T>::quiet_NaN();
            check(x);
        }
}

TEST_CASE("what is outside a bracket is not found in it") {
    auto const x = make<double>(5000, [](std::size_t i) { return i; });
    std::vector<double> room(room_for(x.size()));
    auto const inside = [&](double low, double high, std::size_t k) {
        return find_inside<simd::arch>(std::span<double const>(x), k, {low, high}, std::span(room));
    };
    CHECK_FALSE(inside(100, 4900, 99));  // 4901
    CHECK(inside(100, 4900, 100)->value == 4900);
    CHECK_FALSE(inside(100, 4900, 1000));  // too many are between
    CHECK(inside(3000, 4000, 1500)->value == 3500);
    CHECK(inside(3000, 4000, 2000)->value == 3000);
    CHECK_FALSE(inside(3000, 4000, 2001));
    CHECK(inside(7, 7, 4993)->value == 7);
}
