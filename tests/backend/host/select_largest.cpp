// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/host/select_largest.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/core/key.hpp"

using namespace laconic;
using coordinates = std::vector<coordinate>;

namespace {

constexpr std::size_t d = 40007;  // long enough for a guess, and no multiple of a vector's width

// The definition: a NaN first, then by magnitude, equal ones by coordinate; the first k, ascending.
template <class T>
coordinates by_definition(std::vector<T> const& x, std::size_t k) {
    coordinates order(x.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return detail::magnitude_bits(x[a]) > detail::magnitude_bits(x[b]); });
    order.resize(k);
    std::sort(order.begin(), order.end());
    return order;
}

template <class T>
void check_all(std::string const& name, std::vector<T> const& x) {
    CAPTURE(name);
    host on;
    coordinates out{9, 9};
    for (std::size_t const k : {0u, 1u, 7u, 40u, 400u, 4000u, 15000u, 25000u, 40006u, 40007u}) {
        CAPTURE(k);
        select_largest(on, std::span<T const>(x), k, out);
        CHECK(out == by_definition(x, k));
    }
}

}  // namespace

TEST_CASE_TEMPLATE("long vectors, whatever a sample of them says", T, float, double) {
    key const from{5};
    auto const make = [](auto f) {
        std::vector<T> x(d);
        for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(f(i));
        return x;
    };
    auto const noise = [&](std::size_t i) { return std::tan(3 * (from.uniform(i) - 0.5)); };
    check_all("noise", make(noise));
    check_all("many ties", make([&](std::size_t i) { return std::floor(20 * from.uniform(i)) - 10; }));
    check_all("all equal", make([](std::size_t) { return -2; }));
    check_all("zeros", make([](std::size_t) { return 0; }));
    check_all("ascending", make([](std::size_t i) { return double(i); }));
    check_all("descending", make([](std::size_t i) { return -double(d - i); }));
    check_all("few numbers among zeros", make([&](std::size_t i) { return i % 100 == 37 ? noise(i) : 0; }));
    check_all("subnormal", make([&](std::size_t i) { return noise(i) * 4 * std::numeric_limits<T>::denorm_min(); }));
    check_all("one large block", make([&](std::size_t i) { return (i / 3000 == 5 ? 1000 : 1) * noise(i); }));
    check_all("the last is the largest", make([](std::size_t i) { return i + 1 == d ? 1 : 0.5; }));
    check_all("infinite ones and NaN", make([&](std::size_t i) {
                  return i % 9000 == 1 ? NAN : i % 5000 == 2 ? -INFINITY : noise(i);
              }));
    check_all("NaN only", make([](std::size_t) { return NAN; }));
}

TEST_CASE("a sample that sees only the largest, or none of them") {
    // Where the sample looks does not depend on the numbers: so it can be misled on purpose.
    std::size_t const samples = d / 16, stride = d / samples;
    std::vector<float> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<float>(1 + key{8}.uniform(i));
    for (std::size_t const seen : {10u, 0u}) {
        auto y = x;
        std::vector<bool> looked(d);
        for (std::size_t j = 0; j < samples; ++j) looked[j * stride + (j * 0x9E3779B9u >> 8) % stride] = true;
        for (std::size_t i = 0; i < d; ++i) y[i] += static_cast<float>(looked[i] ? seen : 10 - seen);
        check_all(seen != 0 ? "only" : "none", y);
    }
}

TEST_CASE("the few that are above a bound, or that they are too many") {
    std::vector<double> x(1000);
    for (std::size_t i = 0; i < x.size(); i += 10) x[i] = -1.0 - static_cast<double>(i);
    coordinates out;
    auto const above = [&](double bound, std::size_t most) {
        return detail::select_some_above<simd::arch>(std::span<double const>(x), bound, most, out);
    };
    CHECK(above(800.5, 20) == 20);  // 801, 811, .. 991
    for (std::size_t j = 0; j < 20; ++j) CHECK(out[j] == 800 + 10 * j);
    CHECK(above(800.5, 19) > 19);
    CHECK(above(0, 50) > 50);
    CHECK(above(991, 5) == 0);
}

TEST_CASE("a guess leaves a few more than asked for") {
    std::vector<float> x(1 << 20);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(std::log(key{3}.uniform(i) + 1e-9));
    std::vector<std::uint32_t> samples(1 << 15);
    for (std::size_t const k : {1000u, 10000u, 100000u}) {
        float const bound = detail::guess_threshold(std::span<float const>(x), k, std::span(samples));
        auto const n = std::count_if(x.begin(), x.end(), [&](float v) { return std::abs(v) > bound; });
        CHECK(n >= k);
        CHECK(n <= 2 * k + 64 * 32);
    }
    std::fill(x.begin(), x.end(), 0.0f);
    CHECK(std::isnan(detail::guess_threshold(std::span<float const>(x), 5, std::span(samples))));
}
