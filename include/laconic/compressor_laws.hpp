// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "laconic/compress/compressor.hpp"
#include "laconic/wire/message.hpp"

namespace laconic {

/// The laws of every compressor, one function for each: it returns what is wrong in plain English, or an empty text.
namespace compressor_laws {

using bytes = std::vector<std::byte>;

/// A number with four digits, for the texts of errors.
inline std::string rounded(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", x);
    return text;
}

/// Numbers of both signs below 1 in magnitude, times a power of two from 2^-spread to 2^spread; the same on every
/// machine, because each operation is exact.
template <class T>
std::vector<T> noise(std::size_t d, std::uint64_t seed, int spread = 0) {
    std::vector<T> x(d);
    for (std::size_t i = 0; i < d; ++i) {
        auto const w = key{seed}.words(i);
        int const e = static_cast<int>(w[1] % static_cast<unsigned>(2 * spread + 1)) - spread;
        x[i] = static_cast<T>(std::ldexp(static_cast<double>(w[0] >> 8) - 0x1p23, e - 23));
    }
    return x;
}

/// Vectors that find mistakes: every kind that the documentation names, and lengths around 64.
template <class T>
std::vector<std::vector<T>> vectors() {
    using limits = std::numeric_limits<T>;
    T const tiny = limits::denorm_min(), least = limits::min(), huge = limits::max() / 256;
    std::vector<std::vector<T>> all = {
        {},
        {0},
        {1},
        {-3},
        std::vector<T>(5, 0),
        std::vector<T>(7, T(2.5)),
        {1, -1, 1, -1, 1, -1, 1, -1},
        {0, -0.0, 0, 2, 0, 0, 0, 0, 0},
        {tiny, -2 * tiny, 3 * tiny, 0, 5 * tiny, -7 * tiny},
        {least, -least / 2, least * T(1.5), 3, least / 4},
        {huge, -huge / 2, huge / 3, 0, 1, tiny},
    };
    for (std::size_t const d : {2u, 33u, 63u, 64u, 65u, 130u}) all.push_back(noise<T>(d, 7 + d, d % 2 ? 12 : 0));
    return all;
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

/// |x|^2, in double.
template <class T>
double energy(std::vector<T> const& x) {
    double s = 0;
    for (T const v : x) s += static_cast<double>(v) * static_cast<double>(v);
    return s;
}

/// The rounding error that a sum of a few T, or a mean of thousands of doubles, may have.
template <class T>
inline constexpr double rounding = 8 * static_cast<double>(std::numeric_limits<T>::epsilon()) + 1e-12;

/// The vector w m.
template <class M, class T, class B = host>
std::vector<T> decoded(M const& m, T w = 1) {
    B on;
    std::vector<T> out(m.dimension(), T(0));
    add_message(on, std::span<T>(out), w, m);
    return out;
}

/// The bare form of m.
bytes written(auto const& m) {
    wire::bit_writer sink;
    write(sink, m);
    auto const encoded = sink.finish();
    return {encoded.begin(), encoded.end()};
}

/// For one vector and one key: the message is a pure function, has one encoding of the size that bits() returns, is
/// read back whole, also into a message that was used before, and is linear where it is added. Returns its bytes in
/// `encoded` and its values in `numbers`.
template <class T, class B, class C>
std::string check_message(C const& c, std::vector<T> const& x, std::vector<T> const& other, key from, bytes& encoded,
                          std::vector<T>& numbers) {
    using message = detail::message_of<C, T, B>;
    B on, elsewhere;
    std::span<T const> const v(x), u(other);
    message m, reused;
    c(on, v, from, m);
    c(elsewhere, u, from.child(9), reused);
    if (m.dimension() != x.size()) return detail::concat({"the message's dimension() is ", m.dimension()});
    c(elsewhere, v, from, reused);
    if (!(reused == m)) return "the same vector and key give another message where the message is reused";
    encoded = written(m);
    if (encoded != written(reused)) return "one message, written twice, in two ways";
    if (8 * encoded.size() != wire::bits(m)) return "bits() is not what write() writes";
    message fresh, blanked;
    c.blank(on, x.size(), from, fresh);
    c(elsewhere, u, from.child(8), blanked);
    c.blank(elsewhere, x.size(), from, blanked);
    for (message* const theirs : {&fresh, &blanked}) {
        std::string const reader = theirs == &fresh ? "read" : "read into a message that was used before";
        try {
            wire::bit_reader source(encoded);
            read(on, source, *theirs, c);
            source.finish();
        } catch (wire_error const& e) {
            return detail::concat({reader, ", it is refused: ", e.what()});
        }
        if (!(*theirs == m)) return detail::concat({reader, ", it is another message"});
        if (written(*theirs) != encoded) return detail::concat({reader, " and written again, it is other bytes"});
    }
    numbers = decoded<message, T, B>(m);
    auto const twice = decoded<message, T, B>(fresh, T(-2));
    if (numbers != decoded<message, T, B>(blanked)) return "a message that is read adds other numbers";
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!std::isfinite(numbers[i])) return detail::concat({"it adds ", rounded(numbers[i]), " at coordinate ", i});
        // Where a factor joins the weight, rounding among subnormal numbers is not linear.
        if (!(std::abs(twice[i] + 2 * numbers[i]) <= 4 * std::numeric_limits<T>::denorm_min()))
            return detail::concat({"with the weight -2 it adds ", rounded(twice[i]), " at coordinate ", i,
                                   ", with the weight 1 ", rounded(numbers[i])});
    }
    return "";
}

/// Gives arbitrary bytes to a receiver of C's messages about d numbers. Either they are refused, at a place within
/// them, or the result is a message of d finite numbers that is written and then read as the same (perhaps in other
/// bytes: positions have several encodings, and a writer does not try every parameter). Returns what is wrong, or an
/// empty text; `accepted` is set to whether they were accepted.
template <class T, class B = host, class C>
std::string violation(C const& c, std::size_t d, key from, std::span<std::byte const> encoded, bool& accepted) {
    static thread_local B on;
    static thread_local detail::message_of<C, T, B> m;
    c.blank(on, d, from, m);
    accepted = false;
    try {
        wire::bit_reader source(encoded);
        read(on, source, m, c);
        source.finish();
    } catch (wire_error const& e) {
        return e.bit <= 8 * encoded.size() ? "" : detail::concat({"refused at bit ", e.bit, ", which is not there"});
    }
    accepted = true;
    if (m.dimension() != d) return "another dimension";
    for (T const v : decoded<decltype(m), T, B>(m))
        if (!std::isfinite(v)) return "a number that is not finite";
    auto const again = written(m);
    static thread_local detail::message_of<C, T, B> same;
    c.blank(on, d, from, same);
    wire::bit_reader source(again);
    read(on, source, same, c);
    source.finish();
    if (!(same == m)) return "written again, it is another message";
    return written(same) == again ? "" : "one message, written twice, in two ways";
}

/// Tries truncations, flipped bits and a byte too many; accepts(bytes) returns whether they are read as a message.
/// `taken` counts the flipped ones that are. All bits of a message of up to 1000 bytes are flipped, and it is cut off
/// after each byte; of a longer one some 4 MiB of messages are made, but at least 64 of either kind, at places evenly
/// spaced, and all bits of its padding are flipped.
std::string changes_violation(bytes encoded, std::uint64_t unpadded, auto accepts, std::size_t& taken) {
    if (!accepts(encoded)) return "the message itself is refused";
    // A shorter message can be whole only where its beginning has the length of the rest, which is never so here: the
    // count fixes the length and was not changed.
    std::size_t const size = encoded.size(), bits = 8 * size, tries = std::max<std::size_t>(64, (1 << 22) / (size + 1));
    std::size_t const step = bits / tries | 1;  // odd, so that bits at all places in a byte are flipped
    for (std::size_t n = 0; n < size; n += size / tries + 1)
        if (accepts(std::span(encoded).first(n)))
            return detail::concat({"cut off after ", n, " of ", size, " bytes, it is accepted"});
    for (std::size_t bit = 0; bit < bits; bit += bit < unpadded ? std::min<std::size_t>(step, unpadded - bit) : 1) {
        auto const flip = std::byte(1u << (bit % 8));
        encoded[bit / 8] ^= flip;
        bool const accepted = accepts(encoded);
        encoded[bit / 8] ^= flip;
        if (bit >= unpadded && accepted) return "padding that is not zero is accepted";
        taken += accepted;
    }
    for (unsigned const extra : {0u, 1u, 255u}) {
        encoded.push_back(std::byte(extra));
        if (accepts(encoded)) return "a byte too many is accepted";
        encoded.pop_back();
    }
    return "";
}

/// The averages of n messages about x: call add() for each, then finish().
struct moments {
    std::vector<double> mean, variance;  // for each coordinate
    double largest = 0;                  // the largest magnitude in any message
    double error = 0, error_variance = 0;
    double nonzeros = 0, nonzeros_variance = 0;
    int n = 0;

    moments(std::size_t d, int n_) : mean(d), variance(d), n(n_) {}
    template <class T>
    void add(std::vector<T> const& x, std::vector<T> const& result) {
        double off_squared = 0, count = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            double const v = result[i], off = v - static_cast<double>(x[i]);
            mean[i] += v / n;
            variance[i] += off * off / n;
            largest = std::max(largest, std::abs(v));
            off_squared += off * off;
            count += v != 0;
        }
        error += off_squared / n;
        error_variance += off_squared * off_squared / n;
        nonzeros += count / n;
        nonzeros_variance += count * count / n;
    }
    void finish() {
        error_variance = std::max(0.0, error_variance - error * error);
        nonzeros_variance = std::max(0.0, nonzeros_variance - nonzeros * nonzeros);
    }
};

/// Checks E C(x) = x, coordinate by coordinate to 5 sigma. The variance of a coordinate is the sampled one, or, where
/// that saw too few events, the bound mean x range.
template <class T>
std::string mean_violation(moments const& m, std::vector<T> const& x) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const mean = static_cast<double>(x[i]);
        double const variance = std::max(m.variance[i], std::abs(mean) * std::max(0.0, m.largest - std::abs(mean)));
        if (!(std::abs(m.mean[i] - mean) <= 5 * std::sqrt(variance / m.n) + 5 * m.largest / m.n * (variance > 0) +
                                                (rounding<T> + 0x1p-32) * m.largest))
            return detail::concat({"it has an omega(d) and is biased: coordinate ", i, " is ", rounded(mean), ", and ",
                                   rounded(m.mean[i]), " on average over ", m.n, " keys"});
    }
    return "";
}

/// Checks E|C(x) - x|^2 <= omega |x|^2 to 5 sigma.
template <class T>
std::string omega_violation(moments const& m, std::vector<T> const& x, double omega) {
    double const all = energy(x);
    if (m.error <= omega * all + 5 * std::sqrt(m.error_variance / m.n) + rounding<T> * all) return "";
    return detail::concat({"omega(", x.size(), ") = ", rounded(omega), " is too small: |C(x) - x|^2 is ",
                           rounded(m.error / all), " |x|^2 on average over ", m.n, " keys"});
}

/// Checks E|C(x) - x|^2 <= (1 - delta) |x|^2 with delta in (0, 1]; exactly where nothing is drawn (n = 1), else to 5
/// sigma.
template <class T>
std::string delta_violation(moments const& m, std::vector<T> const& x, double delta) {
    std::string const its = detail::concat({"delta(", x.size(), ") = ", rounded(delta)});
    if (!(delta > 0 && delta <= 1)) return detail::concat({its, " is outside (0, 1]"});
    double const all = energy(x);
    if (m.error <= (1 - delta + rounding<T>)*all + 5 * std::sqrt(m.error_variance / m.n)) return "";
    return detail::concat({its, " is too large: |C(x) - x|^2 is ", rounded(m.error / all), " |x|^2 on average over ",
                           m.n, " keys, where 1 - delta is ", rounded(1 - delta)});
}

}  // namespace compressor_laws

}  // namespace laconic
