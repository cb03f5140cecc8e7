// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/compressor.hpp"
#include "laconic/backend/reference.hpp"
#include "laconic/compress/levels.hpp"
#include "support/laws/messages.hpp"
#include "support/test.hpp"

/// What every compressor promises, as functions that check it on a list of vectors and on both backends. They take
/// compressors behind any_compressor, so that they are compiled once, in compressor.cpp.
namespace laws {

using laconic::reference;

template <class T>
using definition = laconic::any_compressor<T, reference>;

/// What the text of a compressor means, which is written alike there.
template <class T>
laconic::any_compressor<T> as_written(std::string const& text);
template <class T>
definition<T> as_defined(std::string const& text);

/// false: the parser does not know this compressor, and the laws are compiled for its type.
template <class C>
inline constexpr bool is_written = true;

/// c on a backend: what its text means there, of the parser that is compiled once. So no test compiles a compressor's
/// type for the laws, and the text is shown to be complete. An any_compressor on the host stays what it is.
template <class T, class C>
laconic::any_compressor<T> on_host(C const& c) {
    if constexpr (is_written<C> && !std::same_as<C, laconic::any_compressor<T>>)
        return as_written<T>(to_string(c));
    else
        return c;
}
template <class T, class C>
definition<T> definition_of(C const& c) {
    if constexpr (is_written<C>)
        return as_defined<T>(to_string(c));
    else
        return c;
}

/// A compressor on both backends; made of one, or of its text.
template <class T>
struct forms {
    laconic::any_compressor<T> host;
    definition<T> defined;

    forms(char const* text) : host(as_written<T>(text)), defined(as_defined<T>(text)) {}  // NOLINT: implicit
    template <class C>
    requires(!std::same_as<C, forms> && laconic::Compressor<C, T>) forms(C const& c)  // NOLINT: implicit
        : host(on_host<T>(c)), defined(definition_of<T>(c)) {}
};
template <class T>
using same = std::type_identity_t<T>;  // deduced from another argument

/// The bytes of a message on the reference backend; throws what compress() does.
template <class T>
bytes encoded_by(definition<T> const& c, std::vector<T> const& x, key from);

/// compress(c, x, from) on the host; on the reference it is the same bytes, or refused as well.
template <class C, class T>
auto compress(C const& c, std::vector<T> const& x, key from) {
    laconic::detail::message_of<C, T> m;
    try {
        m = laconic::compress(c, x, from);
    } catch (laconic::error const&) {
        CHECK_THROWS_AS(encoded_by<T>(definition_of<T>(c), x, from), laconic::error);
        throw;
    }
    CHECK(written(m) == encoded_by<T>(definition_of<T>(c), x, from));
    return m;
}

/// What a receiver of that message adds up.
template <class C, class T>
std::vector<T> received(C const& c, std::vector<T> const& x, key from) {
    return decoded<laconic::detail::message_of<C, T>, T>(laws::compress(c, x, from));
}

/// The same under key{k}.
template <class C, class T>
std::vector<T> sent_by(C const& c, std::vector<T> const& x, std::uint64_t k = 1) {
    return laws::received(c, x, key{k});
}

/// c's message as a loop makes it, which looks at no number first.
template <class C, class T>
auto unchecked(C const& c, std::vector<T> const& x, key from = {}) {
    host on;
    laconic::detail::message_of<C, T> m;
    c(on, std::span<T const>(x), from, m);
    return m;
}

/// One vector, one key: on both backends the message is pure, has one encoding, is read back whole, and is linear where
/// it is added; the bytes are the same.
template <class T>
void obeys_the_laws(same<forms<T>> const& c, std::vector<T> const& x, std::vector<T> const& other, key from);

/// obeys_the_laws for all the vectors above, each after a message about the next.
template <class T>
void is_a_pure_function(forms<T> const& c);
template <class C>
void is_a_pure_function_with_one_encoding(C const& c) {
    if constexpr (laconic::Compressor<C, double>) is_a_pure_function<double>(c);
    if constexpr (laconic::Compressor<C, float>) is_a_pure_function<float>(c);
}

using laconic::compressor_laws::energy;
using laconic::compressor_laws::moments;
using laconic::compressor_laws::rounding;
using laconic::compressor_laws::theory_vectors;

/// What n messages about x are on average, under the keys seed.child(0), ..., seed.child(n - 1). Each is the same bytes
/// on both backends.
template <class T>
moments moments_of(same<forms<T>> const& c, std::vector<T> const& x, int n, key seed);

inline constexpr int trials = 4000;

/// E C(x) = x, coordinate by coordinate to 5 sigma. The variance of a coordinate is the sampled one, or, where that saw
/// too few events, the bound mean x range.
template <class T>
moments has_mean(same<forms<T>> const& c, std::vector<T> const& x, key seed, int n = trials);

/// The same, and E|C(x) - x|^2 <= omega |x|^2 to 5 sigma.
template <class T>
void is_unbiased_about(same<forms<T>> const& c, std::vector<T> const& x, key seed, int n = trials);

/// Exact moments of a rounding that is unbiased (which is_unbiased checks) and takes at most two values, low and high,
/// at each coordinate: it is high with probability (x - low) / (high - low), so its variance is (high - x)(x - low).
struct exact_moments {
    double variance = 0, nonzeros = 0;
};
template <class T>
exact_moments moments_by_values(same<forms<T>> const& c, std::vector<T> const& x, int keys = 2000);

/// is_unbiased_about for all the vectors of the theory.
template <class T>
void is_unbiased_for_all(forms<T> const& c, std::uint64_t seed, int n);

/// E|C(x) - x|^2 <= (1 - delta) |x|^2 with delta in (0, 1]; exactly where nothing is drawn (n = 1), else to 5 sigma.
template <class T>
void is_contractive_for_all(forms<T> const& c, std::uint64_t seed, int n);
template <class C>
void is_contractive(C const& c, int n = 1) {
    is_contractive_for_all<double>(c, 2000, n);
    is_contractive_for_all<float>(c, 3000, n);
}

/// |x - y|^2.
template <class T>
double distance_squared(std::vector<T> const& x, std::vector<T> const& y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        sum += std::pow(static_cast<double>(x[i]) - static_cast<double>(y[i]), 2);
    return sum;
}
/// |C(x) - x|^2 under one key, and the mean of its share of |x|^2 under key{0}, ..., key{n - 1}, on the host alone.
template <class C, class T>
double error_of(C const& c, std::vector<T> const& x, key from = key{1}) {
    return distance_squared(x, laws::received(c, x, from));
}
template <class C, class T>
double mean_error(C const& c, std::vector<T> const& x, std::uint64_t n) {
    double sum = 0;
    for (std::uint64_t k = 0; k < n; ++k)
        sum += distance_squared(x, decoded<laconic::detail::message_of<C, T>, T>(laconic::compress(c, x, key{k})));
    return sum / static_cast<double>(n) / energy(x);
}
/// 1 - |C(x) - x|^2 / |x|^2.
template <class C, class T>
double share_kept(C const& c, std::vector<T> const& x) {
    return 1 - error_of(c, x) / energy(x);
}

/// The mean of n messages in units, so that no square underflows. A value between low and high has at most the variance
/// (high - low)^2 / 4.
template <class C, class T>
void has_mean_in_units(C const& c, std::vector<T> const& x, T unit, int n) {
    std::vector<double> mean(x.size());
    double least = 0, largest = 0;
    for (int k = 0; k < n; ++k) {
        auto const sent = sent_by(c, x, static_cast<std::uint64_t>(k));
        for (std::size_t i = 0; i < x.size(); ++i) {
            double const v = static_cast<double>(sent[i] / unit);
            mean[i] += v / n;
            least = std::min(least, v);
            largest = std::max(largest, v);
        }
    }
    CAPTURE(to_string(c));
    for (std::size_t i = 0; i < x.size(); ++i)
        CHECK(std::abs(mean[i] - static_cast<double>(x[i] / unit)) < 5 * (largest - least) / 2 / std::sqrt(n));
}

/// What each level of c keeps of x, as levels<C>::kept has it.
template <class B = host, class C, class T>
std::vector<double> kept_by_levels(C const& c, std::vector<T> const& x) {
    B on;
    std::vector<T> room;
    std::vector<double> q(laconic::levels<C>::count(c, x.size()));
    laconic::levels<C>::kept(on, c, std::span<T const>(x), room, std::span<double>(q));
    return q;
}

/// Every truncation, every flipped bit, a byte too many, on both backends. Returns how many of the changed messages
/// were accepted, the same ones by both.
template <class T>
std::size_t survives_small_changes(same<forms<T>> const& c, std::vector<T> const& x, key from);

}  // namespace laws
