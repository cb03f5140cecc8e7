// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/device/select.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "backend/device/both.hpp"

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
