// SPDX-License-Identifier: Apache-2.0
// The device selects what the reference selects, and finds the k largest in at most three passes over the numbers.
#include "laconic/backend/device/select.hpp"

#include "support/both.hpp"
#include "support/test.hpp"

#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CPP && !defined(LACONIC_DEVICE_MEMORY)
#    define LACONIC_COUNTS_PASSES
#    include <algorithm>

#    include "laconic/backend/host.hpp"
#    include "support/stand_ins/watched_numbers.hpp"
#endif

using namespace laconic;
using both::here;
using both::in;

TEST_CASE_TEMPLATE("the k largest are the reference's", T, float, double) {
    device on;
    reference plain;
    device::array<coordinate> out(2);
    both::coordinates expected;
    both::each_vector<T>([&](std::vector<T> const& x) {
        auto const a = both::there(on, x);
        for (std::size_t const k : {std::size_t{0}, std::size_t{1}, std::size_t{2}, x.size() / 100, x.size() / 8,
                                    x.size() / 2, x.size() - 1, x.size()}) {
            if (k > x.size()) continue;
            CAPTURE(k);
            select_largest(on, in(a), k, out);
            select_largest(plain, in(x), k, expected);
            CHECK(here(on, out) == expected);
        }
    });
    for (std::size_t d = 1; d <= 40; ++d) {  // every k, many ties
        auto const x = both::numbers<T>(both::kind::ties, d);
        auto const a = both::there(on, x);
        for (std::size_t k = 0; k <= d; ++k) {
            select_largest(on, in(a), k, out);
            select_largest(plain, in(x), k, expected);
            REQUIRE(here(on, out) == expected);
        }
    }
}

TEST_CASE_TEMPLATE("what is above a bound, or each above its own", T, float, double) {
    device on;
    reference plain;
    device::array<coordinate> out;
    both::coordinates expected;
    both::each_vector<T>([&](std::vector<T> const& x) {
        auto bounds = both::numbers<T>(both::kind::noise, x.size());
        for (std::size_t i = 0; i < x.size(); i += 7) bounds[i] = std::abs(x[i]);
        auto const a = both::there(on, x), b = both::there(on, bounds);
        for (T const bound : {T(-1), T(0), T(0.5), T(3), std::numeric_limits<T>::infinity()}) {
            select_above(on, in(a), bound, out);
            select_above(plain, in(x), bound, expected);
            CHECK(here(on, out) == expected);
        }
        select_above(on, in(a), in(b), out);
        select_above(plain, in(x), in(bounds), expected);
        CHECK(here(on, out) == expected);
    });
}

TEST_CASE_TEMPLATE("about k of them, as many as the reference takes", T, float, double) {
    device on;
    reference plain;
    device::array<coordinate> out;
    both::coordinates expected;
    both::each_vector<T>([&](std::vector<T> const& x) {
        std::size_t const d = x.size();
        if (d > 1000) return;  // there the reference takes long
        auto const a = both::there(on, x);
        for (std::size_t const k : {d / 100, d / 8, d / 2, d})
            for (std::size_t const slack : {std::size_t{0}, k / 8, k / 2}) {
                std::size_t const most = k + slack < d ? k + slack : d;
                select_about(on, in(a), k - slack, k, most, out);
                select_about(plain, in(x), k - slack, k, most, expected);
                if (most == d)
                    CHECK(out.size() == d);
                else
                    CHECK(here(on, out) == expected);
            }
    });
}

#if defined(LACONIC_COUNTS_PASSES)  // where one thread runs the device's kernels, in memory that can be watched

namespace {

// What is hard for a choice by digits, and what is not. Of a number's magnitude the first digit is eleven bits.
template <class T>
std::vector<std::vector<T>> hard_vectors(std::size_t n) {
    using limits = std::numeric_limits<T>;
    key const from{9};
    auto const made = [n](auto number) {
        std::vector<T> x(n);
        for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<T>(number(i));
        return x;
    };
    auto const bell = [&](std::size_t i) {
        double sum = -2;
        for (std::uint64_t j = 0; j < 4; ++j) sum += from.uniform(4 * i + j);
        return sum;
    };
    auto const with = [&](T odd) {
        auto x = made(bell);
        for (std::size_t i = 5; i < n; i += 1000) x[i] = odd;
        return x;
    };
    auto ascending = made(bell);
    std::sort(ascending.begin(), ascending.end());
    auto by_magnitude = made(bell);
    std::sort(by_magnitude.begin(), by_magnitude.end(), [](T a, T b) { return std::abs(a) > std::abs(b); });
    return {
        made(bell),
        made([](std::size_t i) { return i % 2 == 0 ? 0.3 : -0.3; }),
        made([&](std::size_t i) { return from.uniform(i) < 0.5 ? 1 : 1.03; }),
        // An eighth of them, and one more, have the first digit of the largest.
        made([n, &from](std::size_t i) { return i < n / 8 + 1 ? 1 + from.uniform(i) / 8 : from.uniform(i) / 2; }),
        made([&from](std::size_t i) { return 1 + from.uniform(i) / 8; }),  // all of them do
        made([](std::size_t) { return 0; }),
        with(limits::quiet_NaN()),
        with(limits::infinity()),
        made([&from](std::size_t i) { return limits::denorm_min() * T(from.below(i, 1000)); }),
        ascending,
        by_magnitude,
    };
}

}  // namespace

TEST_CASE_TEMPLATE("three passes over the numbers choose the largest of any", T, float, double) {
    std::size_t const n = 300001;
    device on;
    host cpu;
    device::array<coordinate> out;
    std::vector<coordinate> expected;
    auto const vectors = hard_vectors<T>(n);
    for (std::size_t which = 0; which < vectors.size(); ++which) {
        CAPTURE(which);
        watched_numbers<T> x(vectors[which]);
        for (std::size_t const k : {std::size_t{1}, n / 1000, n / 10, n - 1}) {
            CAPTURE(k);
            x.start();
            select_largest(on, x.numbers(), k, out);
            double const passes = x.passes();
            select_largest(cpu, in(vectors[which]), k, expected);
            REQUIRE(here(on, out) == expected);
            CHECK(passes >= 2);  // two where no number shares the digits of the last that is chosen
            CHECK(passes <= 3);
            if (k + k / 8 >= n) continue;  // all
            x.start();
            select_about(on, x.numbers(), k - k / 8, k, k + k / 8, out);
            double const passes_about = x.passes();
            CHECK((passes_about == 4 || passes_about == 5 || passes_about == 6));
        }
    }
    std::vector<T> const equal(3000001, T(0.3));
    watched_numbers<T> x(equal);
    x.start();
    select_largest(on, x.numbers(), 30000, out);
    CHECK(x.passes() == 3);
    expected.resize(30000);
    std::iota(expected.begin(), expected.end(), coordinate{0});
    CHECK(here(on, out) == expected);
}

#endif
