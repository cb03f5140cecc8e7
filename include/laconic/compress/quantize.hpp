// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "laconic/compress/buckets.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/message/quantized.hpp"

namespace laconic {

/// Rounds randomly to the grid {-levels, .., levels} x |x|_p / levels, with one norm per bucket of consecutive values
/// (bucket = 0: one bucket). levels is in 1 .. 32767. Unbiased. p = 2 is QSGD (Alistarh et al., NeurIPS 2017), p =
/// infinity with one level TernGrad, any p with one level DIANA's Quant_p (Mishchenko et al., arXiv:1901.09269). Of
/// buckets of b values, omega = min(N b / (4 levels^2), M / levels), and M - 1 for one level, where N bounds |x|_p^2 /
/// |x|_2^2 and M bounds |x|_p |x|_1 / |x|_2^2: N = b, 1, 1 and M = b, sqrt b, (1 + sqrt b) / 2 for p = 1, 2, infinity.
struct quantize {
    int levels = 1;
    std::size_t bucket = 0;
    p_norm p = p_norm::two;

    static constexpr void description(auto&& describe) {
        describe("quantize", "random rounding to levels of each bucket's norm; unbiased",
                 "QSGD, TernGrad: Alistarh et al., Wen et al., NeurIPS 2017",
                 field("levels", &quantize::levels).between(1, 32767).written(), field("bucket", &quantize::bucket),
                 field("p", &quantize::p).by_name(), detail::decided_field<false>("damped"));
    }

    template <Scalar T, class B>
    using message = messages::quantized<T, B>;

    void check(std::size_t) const { detail::check_fields(*this); }

    template <class B, Scalar T>
    void blank(B&, std::size_t d, key, messages::quantized<T, B>& m) const {
        check_dimension(d);
        m.levels = levels;
        m.bucket = detail::bucket_of(bucket, d);
        m.resize(d);
    }

    /// Throws argument_error where the norm of a bucket is not finite in T. It passes over x in memory once where
    /// buckets fit the first cache, else once for the codes and as often as norm_of for the norms.
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, messages::quantized<T, B>& m) const {
        blank(on, x.size(), from, m);
        bool const finite = m.with_codes(m, [&](auto& codes) {
            return round_buckets_to_levels(on, x, m.bucket, p, levels, from, std::span(m.steps), std::span(codes));
        });
        if (!finite) throw argument_error("quantize: the norm of a bucket is not finite");
    }

    double omega(std::size_t d) const {
        double const b = static_cast<double>(detail::longest_bucket(bucket, d)), s = levels;
        double const n = p == p_norm::one ? b : 1, m = detail::norm_ratio(p, b);
        return std::min(n * b / (4 * s * s), levels == 1 ? m - 1 : m / s);
    }

    bool operator==(quantize const&) const = default;
};

}  // namespace laconic
