// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "laws/messages.hpp"

/// What every compressor promises, as functions that check it on a list of vectors.
namespace laws {

/// A sink that believes nothing: counts for itself, and refuses words wider than they say.
struct tape {
    std::uint64_t width = 0;
    bool honest = true;
    void put(std::uint64_t word, unsigned w) {
        width += w;
        honest = honest && w <= 64 && (w == 64 || word >> w == 0);
    }
};

/// One vector, one key: the message is pure, has one spelling, is read back whole, and is linear where it is added.
template <class C, class T>
void says_what_it_says(C const& c, std::vector<T> const& x, std::vector<T> const& other, key from) {
    using message = laconic::message_of<C, T>;
    CAPTURE(to_string(c));
    CAPTURE(x.size());
    host on, elsewhere;
    std::span<T const> const v(x), u(other);

    message m, reused;
    c(on, v, from, m);
    c(elsewhere, u, from.child(9), reused);
    CHECK(m.dimension() == x.size());
    c(elsewhere, v, from, reused);
    CHECK(reused == m);

    auto const said = written(m);
    CHECK(said == written(reused));
    CHECK(8 * said.size() == laconic::bits(m));
    if constexpr (laconic::TermMessage<message>) {
        tape sink;
        write(sink, m);
        CHECK(sink.honest);
        CHECK(sink.width == account(m).unpadded());
    }

    // A receiver with a new message, and one that has just read something else.
    message fresh, worn;
    c.blank(on, x.size(), from, fresh);
    c(elsewhere, u, from.child(8), worn);
    c.blank(elsewhere, x.size(), from, worn);
    for (message* const theirs : {&fresh, &worn}) {
        laconic::bit_reader source(said);
        read(on, source, *theirs);
        CHECK_NOTHROW(source.finish());
        CHECK(*theirs == m);
        CHECK(written(*theirs) == said);
    }

    auto const once = decoded<message, T>(m), twice = decoded<message, T>(fresh, T(-2));
    CHECK(once == decoded<message, T>(worn));
    bool finite = true, linear = true;
    for (std::size_t i = 0; i < once.size(); ++i) {
        finite = finite && std::isfinite(once[i]);
        // Where a factor joins the weight, rounding among subnormal numbers is not linear.
        linear = linear && std::abs(twice[i] + 2 * once[i]) <= 4 * std::numeric_limits<T>::denorm_min();
    }
    CHECK(finite);
    CHECK(linear);
}

/// says_what_it_says for all the vectors above, each after a message about the next.
template <class C>
void is_a_pure_function_with_one_spelling(C const& c) {
    auto const run = [&]<class T>(std::vector<std::vector<T>> const& all) {
        for (std::size_t i = 0; i < all.size(); ++i)
            says_what_it_says(c, all[i], all[(i + 1) % all.size()], key{100 + i});
    };
    if constexpr (laconic::Compressor<C, double>) run(vectors<double>());
    if constexpr (laconic::Compressor<C, float>) run(vectors<float>());
}

/// Vectors for the inequalities of the theory: small ones from papers, worst cases, and random ones.
template <class T>
std::vector<std::vector<T>> theory_vectors() {
    std::vector<T> geometric(10), worst(16, T(0.2)), one_hot(9, T(0));
    for (int i = 0; i < 10; ++i) geometric[static_cast<std::size_t>(i)] = std::ldexp(T(1), -i);
    worst[3] = -1;
    one_hot[4] = -5;
    return {{1},
            {-3},
            {3, 4},
            {1, 2, 2},
            {3, 1, 1, 1, 1},
            {T(4) / 3, T(-8) / 3, T(1) / 3},
            std::vector<T>(16, T(-1.5)),
            worst,
            one_hot,
            geometric,
            noise<T>(12, 1),
            noise<T>(20, 2, 3)};
}

/// What n messages about x say on average, under the keys seed.child(0), ..., seed.child(n - 1).
struct moments {
    std::vector<double> mean, variance;  // of each coordinate
    double largest = 0;                  // magnitude that was ever said
    double error = 0, error_variance = 0;
    double nonzeros = 0, nonzeros_variance = 0;
    int n = 0;
};

template <class C, class T>
moments moments_of(C const& c, std::vector<T> const& x, int n, key seed) {
    moments r{std::vector<double>(x.size()), std::vector<double>(x.size()), 0, 0, 0, 0, 0, n};
    host on;
    laconic::message_of<C, T> m;
    std::vector<T> out(x.size());
    for (int t = 0; t < n; ++t) {
        c(on, std::span<T const>(x), seed.child(static_cast<std::uint64_t>(t)), m);
        std::fill(out.begin(), out.end(), T(0));
        add_message(on, std::span<T>(out), T(1), m);
        double error = 0, nonzeros = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            double const v = out[i], off = v - static_cast<double>(x[i]);
            r.mean[i] += v / n;
            r.variance[i] += off * off / n;
            r.largest = std::max(r.largest, std::abs(v));
            error += off * off;
            nonzeros += v != 0;
        }
        r.error += error / n;
        r.error_variance += error * error / n;
        r.nonzeros += nonzeros / n;
        r.nonzeros_variance += nonzeros * nonzeros / n;
    }
    r.error_variance = std::max(0.0, r.error_variance - r.error * r.error);
    r.nonzeros_variance = std::max(0.0, r.nonzeros_variance - r.nonzeros * r.nonzeros);
    return r;
}

template <class T>
double energy(std::vector<T> const& x) {
    double s = 0;
    for (T const v : x) s += static_cast<double>(v) * static_cast<double>(v);
    return s;
}

inline constexpr int trials = 4000;

/// What a sum of a few T, or a mean of thousands of doubles, may be off by.
template <class T>
inline constexpr double rounding = 8 * static_cast<double>(std::numeric_limits<T>::epsilon()) + 1e-12;

/// E C(x) = x, coordinate by coordinate to 5 sigma. The variance of a coordinate is the sampled one, or, where that saw
/// too few events, the bound mean x range.
template <class C, class T>
moments has_mean(C const& c, std::vector<T> const& x, key seed, int n = trials) {
    CAPTURE(to_string(c));
    CAPTURE(x.size());
    auto m = moments_of(c, x, n, seed);
    for (std::size_t i = 0; i < x.size(); ++i) {
        CAPTURE(i);
        double const mean = static_cast<double>(x[i]);
        double const variance = std::max(m.variance[i], std::abs(mean) * std::max(0.0, m.largest - std::abs(mean)));
        CHECK(std::abs(m.mean[i] - mean) <=
              5 * std::sqrt(variance / n) + 5 * m.largest / n * (variance > 0) + (rounding<T> + 0x1p-32) * m.largest);
    }
    return m;
}

/// The same, and E|C(x) - x|^2 <= omega |x|^2 to 5 sigma.
template <class C, class T>
void is_unbiased_about(C const& c, std::vector<T> const& x, key seed, int n = trials) {
    auto const m = has_mean(c, x, seed, n);
    CAPTURE(to_string(c));
    CAPTURE(x.size());
    double const bound = c.omega(x.size()) * energy(x);
    CHECK(m.error <= bound + 5 * std::sqrt(m.error_variance / n) + rounding<T> * energy(x));
}

/// Exact moments of a rounding that is unbiased (which is_unbiased checks) and takes at most two values, low and high,
/// at each coordinate: it is high with probability (x - low) / (high - low), so its variance is (high - x)(x - low).
struct exact_moments {
    double variance = 0, nonzeros = 0;
};
template <class C, class T>
exact_moments moments_by_values(C const& c, std::vector<T> const& x, int keys = 2000) {
    std::vector<double> low(x.size(), std::numeric_limits<double>::infinity()), high(x.size(), -low.front());
    for (int t = 0; t < keys; ++t) {
        auto const v = decoded<laconic::message_of<C, T>, T>(
            laconic::compress(c, x, key{31}.child(static_cast<std::uint64_t>(t))));
        for (std::size_t i = 0; i < x.size(); ++i) {
            low[i] = std::min(low[i], static_cast<double>(v[i]));
            high[i] = std::max(high[i], static_cast<double>(v[i]));
            REQUIRE((v[i] == low[i] || v[i] == high[i]));
        }
    }
    exact_moments r;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const v = static_cast<double>(x[i]);
        if (low[i] == high[i]) {
            CHECK(low[i] == doctest::Approx(v));
            r.nonzeros += low[i] != 0;
        } else {
            double const up = (v - low[i]) / (high[i] - low[i]);
            CHECK(up >= 0);
            CHECK(up <= 1);
            r.variance += (high[i] - v) * (v - low[i]);
            r.nonzeros += (high[i] != 0) * up + (low[i] != 0) * (1 - up);
        }
    }
    return r;
}

template <class C>
void is_unbiased(C const& c, int n = trials) {
    std::uint64_t seed = 1000;
    for (auto const& x : theory_vectors<double>()) is_unbiased_about(c, x, key{seed++}, n);
    for (auto const& x : theory_vectors<float>()) is_unbiased_about(c, x, key{seed++}, n);
}

/// E|C(x) - x|^2 <= (1 - delta) |x|^2 with delta in (0, 1]; exactly where nothing is drawn (n = 1), else to 5 sigma.
template <class C>
void is_contractive(C const& c, int n = 1) {
    auto const run = [&]<class T>(std::vector<std::vector<T>> const& all, std::uint64_t seed) {
        for (auto const& x : all) {
            CAPTURE(to_string(c));
            CAPTURE(x.size());
            double const delta = c.delta(x.size());
            CHECK(delta > 0);
            CHECK(delta <= 1);
            auto const m = moments_of(c, x, n, key{seed++});
            CHECK(m.error <= (1 - delta + rounding<T>)*energy(x) + 5 * std::sqrt(m.error_variance / n));
        }
    };
    run(theory_vectors<double>(), 2000);
    run(theory_vectors<float>(), 3000);
}

}  // namespace laws
