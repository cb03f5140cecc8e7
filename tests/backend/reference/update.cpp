// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/reference/update.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <span>
#include <vector>

#include "laconic/backend/host.hpp"

using namespace laconic;

TEST_CASE_TEMPLATE("updates agree to the rounding that fusing may save", T, float, double) {
    host fast;
    reference plain;
    for (std::size_t const d : {0u, 1u, 5u, 33u}) {
        std::vector<T> g(d), h(d), e(d);
        for (std::size_t i = 0; i < d; ++i) {
            g[i] = static_cast<T>(key{1}.uniform(i));
            h[i] = static_cast<T>(key{2}.uniform(i));
            e[i] = static_cast<T>(key{3}.uniform(i));
        }
        auto const same = [&](auto run) {
            auto a = g, b = g, kept_a = h, kept_b = h;
            run(fast, std::span<T>(a), std::span<T>(kept_a));
            run(plain, std::span<T>(b), std::span<T>(kept_b));
            for (std::size_t i = 0; i < d; ++i) {
                CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-6));
                CHECK(kept_a[i] == doctest::Approx(kept_b[i]).epsilon(1e-6));
            }
        };
        std::span<T const> const known(h), unsaid(e), none;
        same([&](auto& on, std::span<T> x, auto) { subtract_known_add_unsaid(on, x, known, unsaid); });
        same([&](auto& on, std::span<T> x, auto) { subtract_known_add_unsaid(on, x, known, none); });
        same([&](auto& on, std::span<T> x, auto) { subtract_known_add_unsaid(on, x, none, unsaid); });
        same([&](auto& on, std::span<T> x, auto) { subtract_known_add_unsaid(on, x, none, none); });
        same([&](auto& on, std::span<T> x, auto kept) { complete_and_remember(on, x, T(0.25), kept); });
        same([&](auto& on, std::span<T> x, auto) { add_scaled(on, T(-0.5), known, x); });
        same([&](auto& on, std::span<T> x, auto) { multiply(on, T(0.3), x); });
        same([&](auto& on, std::span<T> x, auto) { scaled_distances(on, T(2), known, unsaid, x); });
    }
}
