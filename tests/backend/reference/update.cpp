// SPDX-License-Identifier: Apache-2.0
// The kernels that update vectors in one pass give the same bits on host and reference.
#include "laconic/backend/reference/update.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE_TEMPLATE("updates agree with the host's, to the bit", T, float, double) {
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
                CHECK(a[i] == b[i]);
                CHECK(kept_a[i] == kept_b[i]);
            }
        };
        std::span<T const> const known(h), residual(e), none;
        same([&](auto& on, std::span<T> x, auto) {
            compensate(on, T(0.7), std::span<T const>(x), known, T(0.6), residual, x);
        });
        same([&](auto& on, std::span<T> x, auto) {
            compensate(on, T(0.7), std::span<T const>(x), known, T(0.6), none, x);
        });
        same([&](auto& on, std::span<T> x, auto) {
            compensate(on, T(0.7), std::span<T const>(x), none, T(0.6), residual, x);
        });
        same([&](auto& on, std::span<T> x, auto) {
            compensate(on, T(0.7), std::span<T const>(x), none, T(0.6), none, x);
        });
        same([&](auto& on, std::span<T> x, auto kept) { subtract_last(on, x, known, kept); });
        same(
            [&](auto& on, std::span<T> x, auto kept) { gather_momentum(on, T(0.9), false, x, known, residual, kept); });
        same([&](auto& on, std::span<T> x, auto kept) { gather_momentum(on, T(0.9), true, x, known, residual, kept); });
        same([&](auto& on, std::span<T> x, auto kept) { complete_and_remember(on, x, T(0.25), kept); });
        same([&](auto& on, std::span<T> x, auto) { add_scaled(on, T(-0.5), known, x); });
        same([&](auto& on, std::span<T> x, auto) { multiply(on, T(0.3), x); });
        same([&](auto& on, std::span<T> x, auto) { scaled_distances(on, T(2), known, residual, x); });
    }
}
