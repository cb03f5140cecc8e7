// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "laconic/backend/grid_step.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/compress/norm.hpp"
#include "laconic/message/quantized.hpp"

namespace laconic {

/// Random rounding to the grid {-levels, .., levels} x |x|_p / levels, one norm per bucket of consecutive values
/// (bucket = 0: one bucket). Unbiased. p = 2 is QSGD (Alistarh et al., NeurIPS 2017), p = infinity with one level
/// TernGrad, any p with one level DIANA's Quant_p (Mishchenko et al., arXiv:1901.09269).
/// Of buckets of b values, omega = min(N b / (4 levels^2), M / levels), and M - 1 for one level, where N bounds
/// |x|_p^2 / |x|_2^2 and M bounds |x|_p |x|_1 / |x|_2^2: N = b, 1, 1 and M = b, sqrt b, (1 + sqrt b) / 2.
struct quantize {
    int levels = 1;
    std::size_t bucket = 0;
    norm p = norm::two;

    template <Scalar T, class B>
    using message = quantized<T, B>;

    void check(std::size_t) const {
        if (levels < 1 || levels > 32767)
            throw argument_error("quantize: levels = " + std::to_string(levels) + " is outside 1 .. 32767");
        if (!is_norm(p)) throw argument_error("quantize: p is not a norm");
    }

    template <class B, Scalar T>
    void blank(B&, std::size_t d, key, quantized<T, B>& m) const {
        m.levels = levels;
        m.bucket = bucket_of(d);
        m.steps.resize(d / m.bucket + (d % m.bucket != 0));
        m.codes.resize(d);
    }

    /// Throws argument_error where the norm of a bucket is not finite in T.
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, quantized<T, B>& m) const {
        blank(on, x.size(), from, m);
        for (std::size_t b = 0; b < m.steps.size(); ++b) {
            auto const first = b * m.bucket, count = std::min(m.bucket, x.size() - first);
            auto const part = x.subspan(first, count);
            auto const codes = std::span(m.codes).subspan(first, count);
            T const scale = norm_of(on, p, part);
            m.steps[b] = scale > 0 ? grid_step(scale, levels) : T(0);
            if (!std::isfinite(scale) || !std::isfinite(m.steps[b] * static_cast<T>(levels)))
                throw argument_error("quantize: the norm of a bucket is not finite");
            if (scale > 0)
                round_to_levels(on, part, m.steps[b], levels, from, first, codes);
            else
                std::fill(codes.begin(), codes.end(), std::int16_t{0});
        }
    }

    double omega(std::size_t d) const {
        double const b = static_cast<double>(std::min(bucket_of(d), std::max(d, std::size_t{1}))), s = levels;
        double const n = p == norm::one ? b : 1, m = norm_ratio(p, b);
        return std::min(n * b / (4 * s * s), levels == 1 ? m - 1 : m / s);
    }

    bool operator==(quantize const&) const = default;
    friend std::string to_string(quantize const& q) {
        std::string text = "quantize(" + std::to_string(q.levels);
        if (q.bucket != 0) text += ", bucket=" + std::to_string(q.bucket);
        return text + detail::spelled(q.p) + ")";
    }

  private:
    std::size_t bucket_of(std::size_t d) const { return bucket != 0 ? bucket : std::max(d, std::size_t{1}); }
};

static_assert(Compressor<quantize> && Compressor<quantize, float> && Unbiased<quantize>);

}  // namespace laconic
