// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "laconic/compress/buckets.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/message/bucketed.hpp"

/// The quantizers that round to a grid of each bucket's own: one that its norm spans, or its range.
namespace laconic {

/// Rounds randomly to the grid {-levels, .., levels} x |x|_p / levels, with one norm per bucket of consecutive values
/// (bucket = 0: one bucket). levels is in 1 .. 32767. Unbiased. p = 2 is QSGD (Alistarh et al., NeurIPS 2017), p =
/// infinity with one level TernGrad, any p with one level DIANA's Quant_p (Mishchenko et al., arXiv:1901.09269). Of
/// buckets of b values, omega = min(N b / (4 levels^2), M / levels), and M - 1 for one level, where N bounds |x|_p^2 /
/// |x|_2^2 and M bounds |x|_p |x|_1 / |x|_2^2: N = b, 1, 1 and M = b, sqrt b, (1 + sqrt b) / 2 for p = 1, 2, infinity.
///
/// Damped, each bucket's grid is shrunk by the factor that makes its error least: share = |x|^2 / E|Q(x)|^2 of that
/// bucket, which costs no bits. Then E|C(x) - x|^2 = (1 - share) |x|^2 for each bucket, and share >= 1 / (1 + omega):
/// contractive with that delta. (scaled_down{quantize} divides by 1 + omega(d), as if every x were the worst.)
template <bool Damped>
struct quantizer {
    int levels = 1;
    std::size_t bucket = 0;
    p_norm p = p_norm::two;

    static constexpr void description(auto&& describe) {
        describe("quantize",
                 Damped ? "the same with the least error; contractive"
                        : "random rounding to levels of each bucket's norm; unbiased",
                 Damped ? "" : "QSGD, TernGrad: Alistarh et al., Wen et al., NeurIPS 2017",
                 field("levels", &quantizer::levels).between(1, 32767).written(), field("bucket", &quantizer::bucket),
                 field("p", &quantizer::p).by_name(), detail::decided_field<Damped>("damped"));
    }

    template <Scalar T, class B>
    using message = messages::quantized<T, B>;

    void check(std::size_t) const { detail::check_fields(*this); }
    /// Damped, the first call makes room for codes of either width, as the level may change from one message to the
    /// next.
    void blank(auto&, std::size_t d, key, auto& m) const {
        messages::check_dimension(d);
        if (Damped && m.codes.capacity() < d) m.codes.resize(d);
        if (Damped && m.wide_codes.capacity() < d) m.wide_codes.resize(d);
        begin(m, d);
        messages::begin_message(m, d);
    }
    // These two are its parts, for who takes the codes as they are made (wire/bucketed_kinds.hpp).
    void begin(auto& m, std::size_t d) const {
        m.levels = levels;  // which sizes the codes
        m.bucket = detail::bucket_of(bucket, d);
    }
    /// Throws argument_error where the norm of a bucket is not finite in T. It passes over x in memory once where
    /// buckets fit the first cache, else once for the codes and as often as norm_of for the norms; damped, once more.
    void operator()(auto& on, auto x, key from, auto& m) const {
        blank(on, x.size(), from, m);
        m.with_codes(m, [&](auto& codes) { make_codes(on, x, from, m, std::span(codes)); });
    }
    void make_codes(auto& on, auto x, key from, auto& m, auto codes) const {
        if (!round_buckets_to_levels(on, x, m.bucket, p, levels, from, std::span(m.steps), codes))
            throw argument_error("quantize: the norm of a bucket is not finite");
        if constexpr (Damped) damp_steps(on, x, m.bucket, std::span(m.steps));
    }

    double omega(std::size_t d) const requires(!Damped) {
        double const b = static_cast<double>(detail::longest_bucket(bucket, d)), s = levels;
        double const n = p == p_norm::one ? b : 1, m = detail::norm_ratio(p, b);
        return std::min(n * b / (4 * s * s), levels == 1 ? m - 1 : m / s);
    }
    double delta(std::size_t d) const requires Damped { return 1 / (1 + quantizer<false>{levels, bucket, p}.omega(d)); }

    bool operator==(quantizer const&) const = default;
    friend std::string to_string(quantizer const& c) { return laconic::to_string<quantizer>(c); }
};

using quantize = quantizer<false>;
using damped_quantize = quantizer<true>;

/// Rounds to 2^bits numbers, equally far apart, from the least to the largest value of each bucket of consecutive
/// values (bucket = 0: one bucket): min-max quantization, bits in 1 .. 8. The least value is exact, the largest up to
/// rounding, and so are all where they are equal. In a bucket of b > 2 values, with n = 2^bits - 1 steps of (largest -
/// least) / n, all but the least and the largest are off by at most half a step in the root of the mean square, and
/// (largest - least)^2 <= 2 |x|^2: the error is at most (b - 2) / (2 n^2) |x|^2, attained by (t, -t, 0, .., 0); it is 0
/// for b <= 2. That is omega where rounding is random, which is unbiased, and 1 - delta where rounding is to the
/// nearest (to the upper of two that are equally near).
template <rounding R = rounding::random>
struct uniform {
    int bits = 8;
    std::size_t bucket = 0;

    static constexpr void description(auto&& describe) {
        describe("uniform",
                 R == rounding::random ? "rounding between each bucket's least and largest; unbiased"
                                       : "rounding between each bucket's least and largest; contractive",
                 "", field("bits", &uniform::bits).between(1, 8).written(), field("bucket", &uniform::bucket),
                 detail::decided_field<R>("rounding"));
    }

    template <Scalar T, class B>
    using message = messages::stepped<T, B>;

    void check(std::size_t) const { detail::check_fields(*this); }
    void blank(auto&, std::size_t d, key, auto& m) const {
        begin(m, d);
        messages::begin_message(m, d);
    }
    void begin(auto& m, std::size_t d) const {
        m.bucket = detail::bucket_of(bucket, d);
        m.width = bits;
    }
    /// Throws argument_error where a value, or the distance between two of a bucket, is not finite in T. It passes over
    /// x in memory once where buckets fit the first cache, else three times.
    void operator()(auto& on, auto x, key from, auto& m) const {
        blank(on, x.size(), from, m);
        make_codes(on, x, from, m, std::span(m.codes));
    }
    void make_codes(auto& on, auto x, key from, auto& m, auto codes) const {
        if (!round_buckets_to_range(on, x, m.bucket, R, steps(), from, std::span(m.least), std::span(m.steps), codes))
            detail::refuse_non_finite(on, "uniform", x, "the values of a bucket are too far apart");
    }

    double omega(std::size_t d) const requires(R == rounding::random) { return error(d); }

    /// Throws theory_error where the bound on the error is not below 1.
    double delta(std::size_t d) const requires(R == rounding::nearest) {
        double const lost = error(d);
        if (lost >= 1)
            throw theory_error({to_string(*this), " may lose ", lost, " >= 1 of the energy of ", d,
                                " values, so it is not contractive: take more bits or smaller buckets"});
        return 1 - lost;
    }

    bool operator==(uniform const&) const = default;

  private:
    int steps() const { return (1 << bits) - 1; }
    double error(std::size_t d) const {
        double const b = static_cast<double>(detail::longest_bucket(bucket, d)), n = steps();
        return std::max(b - 2, 0.0) / (2 * n * n);
    }
};
uniform(int)->uniform<>;
uniform(int, std::size_t)->uniform<>;

}  // namespace laconic
