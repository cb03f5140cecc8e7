// SPDX-License-Identifier: Apache-2.0
#include "laws/compressor.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace laws {

template <class T>
void says_what_it_says(same<any<T>> const& c, std::vector<T> const& x, std::vector<T> const& other, key from) {
    using message = laconic::any_message<T, host>;
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

template <class T>
moments moments_of(same<any<T>> const& c, std::vector<T> const& x, int n, key seed) {
    moments r{std::vector<double>(x.size()), std::vector<double>(x.size()), 0, 0, 0, 0, 0, n};
    host on;
    laconic::any_message<T, host> m;
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
moments has_mean(same<any<T>> const& c, std::vector<T> const& x, key seed, int n) {
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

template <class T>
void is_unbiased_about(same<any<T>> const& c, std::vector<T> const& x, key seed, int n) {
    auto const m = has_mean(c, x, seed, n);
    CAPTURE(to_string(c));
    CAPTURE(x.size());
    double const bound = c.omega(x.size()) * energy(x);
    CHECK(m.error <= bound + 5 * std::sqrt(m.error_variance / n) + rounding<T> * energy(x));
}

template <class T>
exact_moments moments_by_values(same<any<T>> const& c, std::vector<T> const& x, int keys) {
    std::vector<double> low(x.size(), std::numeric_limits<double>::infinity()), high(x.size(), -low.front());
    for (int t = 0; t < keys; ++t) {
        auto const v = decoded<laconic::any_message<T, host>, T>(
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

template <class T>
std::size_t survives_small_changes(same<any<T>> const& c, std::vector<T> const& x, key from) {
    CAPTURE(to_string(c));
    CAPTURE(x.size());
    host on;
    laconic::any_message<T, host> m;
    c(on, std::span<T const>(x), from, m);
    bytes said = written(m);
    bool accepted = false;
    CHECK(trouble_with<T>(c, x.size(), from, said, accepted) == "");
    CHECK(accepted);

    for (std::size_t n = 0; n < said.size(); ++n) {
        CAPTURE(n);
        std::string const trouble = trouble_with<T>(c, x.size(), from, std::span(said).first(n), accepted);
        // A shorter message can be whole only where its beginning says how much follows, and it never does here: the
        // count fixes the length and was not changed.
        if (trouble != "" || accepted) FAIL_CHECK("cut off: " << trouble);
    }
    std::size_t passed = 0;
    for (std::size_t bit = 0; bit < 8 * said.size(); ++bit) {
        CAPTURE(bit);
        auto const flip = std::byte(1u << (bit % 8));
        said[bit / 8] ^= flip;
        std::string const trouble = trouble_with<T>(c, x.size(), from, said, accepted);
        if (trouble != "") FAIL_CHECK("flipped: " << trouble);
        if (bit >= account(m).unpadded() && accepted) FAIL_CHECK("padding that is not zero was accepted");
        passed += accepted;
        said[bit / 8] ^= flip;
    }
    for (unsigned const extra : {0u, 1u, 255u}) {
        said.push_back(std::byte(extra));
        std::string const trouble = trouble_with<T>(c, x.size(), from, said, accepted);
        if (trouble != "" || accepted) FAIL_CHECK("a byte too many: " << trouble);
        said.pop_back();
    }
    return passed;
}

template <class T>
void is_a_pure_function(any<T> const& c) {
    auto const all = vectors<T>();
    for (std::size_t i = 0; i < all.size(); ++i) says_what_it_says(c, all[i], all[(i + 1) % all.size()], key{100 + i});
}

template <class T>
void is_unbiased_for_all(any<T> const& c, std::uint64_t seed, int n) {
    for (auto const& x : theory_vectors<T>()) is_unbiased_about(c, x, key{seed++}, n);
}

template <class T>
void is_contractive_for_all(any<T> const& c, std::uint64_t seed, int n) {
    for (auto const& x : theory_vectors<T>()) {
        CAPTURE(to_string(c));
        CAPTURE(x.size());
        double const delta = c.delta(x.size());
        CHECK(delta > 0);
        CHECK(delta <= 1);
        auto const m = moments_of(c, x, n, key{seed++});
        CHECK(m.error <= (1 - delta + rounding<T>)*energy(x) + 5 * std::sqrt(m.error_variance / n));
    }
}

template void says_what_it_says(any<float> const&, std::vector<float> const&, std::vector<float> const&, key);
template moments moments_of(any<float> const&, std::vector<float> const&, int, key);
template moments has_mean(any<float> const&, std::vector<float> const&, key, int);
template void is_unbiased_about(any<float> const&, std::vector<float> const&, key, int);
template exact_moments moments_by_values(any<float> const&, std::vector<float> const&, int);
template std::size_t survives_small_changes(any<float> const&, std::vector<float> const&, key);
template void is_a_pure_function(any<float> const&);
template void is_unbiased_for_all(any<float> const&, std::uint64_t, int);
template void is_contractive_for_all(any<float> const&, std::uint64_t, int);

template void says_what_it_says(any<double> const&, std::vector<double> const&, std::vector<double> const&, key);
template moments moments_of(any<double> const&, std::vector<double> const&, int, key);
template moments has_mean(any<double> const&, std::vector<double> const&, key, int);
template void is_unbiased_about(any<double> const&, std::vector<double> const&, key, int);
template exact_moments moments_by_values(any<double> const&, std::vector<double> const&, int);
template std::size_t survives_small_changes(any<double> const&, std::vector<double> const&, key);
template void is_a_pure_function(any<double> const&);
template void is_unbiased_for_all(any<double> const&, std::uint64_t, int);
template void is_contractive_for_all(any<double> const&, std::uint64_t, int);

}  // namespace laws
