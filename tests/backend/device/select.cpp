// SPDX-License-Identifier: Apache-2.0
// The device finds the k largest in at most three passes over the numbers, whatever they are.
#include "laconic/backend/device/select.hpp"

// Where one thread runs the device's kernels, in memory that can be watched.
#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CPP && !defined(LACONIC_DEVICE_MEMORY)
#    include <algorithm>

#    include "laconic/backend/host.hpp"
#    include "support/both.hpp"
#    include "support/stand_ins/watched_numbers.hpp"
#    include "support/test.hpp"

using namespace laconic;
using both::here;
using both::in;

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
