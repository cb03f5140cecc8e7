// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/reference.hpp"

#include <doctest/doctest.h>

#include <span>
#include <vector>

#include "laconic/wire/message.hpp"
#include "laws/compressor.hpp"
#include "laws/pipelines.hpp"

using namespace laconic;

namespace {

// The bytes of c's message about x on a backend, or what it complains of.
template <class B, class T, class C>
std::vector<std::byte> said_on(B on, C const& c, std::vector<T> const& x, key from) {
    message_of<C, T, B> m;
    try {
        c(on, std::span<T const>(x), from, m);
    } catch (argument_error const&) {
        return {std::byte{'!'}};
    }
    bit_writer sink;
    write(sink, m);
    auto const bytes = sink.finish();
    return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE_TEMPLATE("the host says what the definition says, byte for byte, in every pipeline", T, float, double) {
    auto vectors = laws::vectors<T>();
    for (std::size_t const d : {15u, 16u, 17u, 31u, 64u, 1000u}) {  // around the widths of sums and of vectors
        std::vector<T> x(d);
        for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(std::tan(3 * (key{d}.uniform(i) - 0.5)));
        vectors.push_back(x);
    }
    std::size_t compared = 0, told = 0;
    laws::each_pipeline([&](auto const& c) {
        CAPTURE(to_string(c));
        for (std::size_t i = 0; i < vectors.size(); ++i) {
            auto const host_says = said_on(host{}, c, vectors[i], key{i});
            CHECK(host_says == said_on(reference{}, c, vectors[i], key{i}));
            ++compared;
            told += host_says.size();
        }
    });
    CHECK(compared > 500);
    CHECK(told > 10000);
}

TEST_CASE_TEMPLATE("samples agree for every count, below half and above", T, float) {
    host fast;
    reference plain;
    std::vector<coordinate> a, b;
    for (std::size_t const d : {0u, 1u, 2u, 7u, 100u})
        for (std::size_t k = 0; k <= d; ++k) {
            sample(fast, key{d}.child(k), d, k, a);
            sample(plain, key{d}.child(k), d, k, b);
            CHECK(a.size() == k);
            CHECK(a == b);
            double const p = d == 0 ? 1 : static_cast<double>(k) / static_cast<double>(d);
            sample_each(fast, key{d}.child(k), d, p, a);
            sample_each(plain, key{d}.child(k), d, p, b);
            CHECK(a == b);
            if (p == 1) CHECK(a.size() == d);
            if (p == 0) CHECK(a.empty());
        }
}

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

TEST_CASE_TEMPLATE("the first number that is not finite", T, float, double) {
    host fast;
    reference plain;
    for (std::size_t i = 0; i <= 40; ++i) {
        std::vector<T> x(40, T(1));
        if (i < 40) x[i] = i % 2 == 0 ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
        CHECK(first_non_finite(fast, std::span<T const>(x)) == i);
        CHECK(first_non_finite(plain, std::span<T const>(x)) == i);
    }
}
