// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "laconic/compress/buckets.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/message/bucketed.hpp"
#include "laconic/message/plain.hpp"

/// Natural compression: powers of two, or halvings of a norm.
namespace laconic {

/// Rounds randomly to one of the two nearest powers of two: 9 bits for a float, 12 for a double. Unbiased with omega =
/// 1/8, attained at |x| = 4/3 of a power of two (Horvath et al., "Natural compression", MSML 2022, theorem 1). The
/// constant holds for normal numbers up to the largest power of two.
struct natural {
    static constexpr void description(auto&& describe) {
        describe("natural", "random rounding to powers of two; unbiased", "Horvath et al., MSML 2022");
    }

    template <Scalar T, class B>
    using message = messages::powers<T, B>;

    void check(std::size_t) const {}
    void blank(auto&, std::size_t d, key, auto& m) const { messages::begin_message(m, d); }
    void operator()(auto& on, auto x, key from, auto& m) const {
        blank(on, x.size(), from, m);
        make_codes(on, x, from, m, std::span(m.codes));
    }
    void make_codes(auto& on, auto x, key from, auto&, auto codes) const { round_to_powers(on, x, from, 0, codes); }
    double omega(std::size_t) const { return 0.125; }

    bool operator==(natural const&) const = default;
};

/// Rounds randomly to the levels 0 and |x|_p 2^(j - levels), j = 1 .. levels, with one norm per bucket of consecutive
/// values (bucket = 0: one bucket). Unbiased (natural dithering; Horvath et al., "Natural compression", MSML 2022).
/// levels is in 1 .. 1000; levels below the smallest normal number of T are left out. Of buckets of b values, with a =
/// b^(1/2) 2^(1 - levels), or b 2^(1 - levels) for p = 1,
///   omega = 1/8 + (a <= 9/4 ? 2 a^2 / 9 : a - 9/8),
/// below the paper's 1/8 + a min(1, a). Proof, for |x|_2 = 1: a value above the least level l has at most the variance
/// x_i^2 / 8, one below it |x_i| (l - |x_i|). Let those below have norm q; they sum to at most b^(1/2) q, and l b^(1/2)
/// <= a. So the variance is at most (1 - q^2) / 8 + a q - q^2, and omega is the maximum of that over q in [0, 1]. Equal
/// magnitudes attain it for p = 1 and 2 where a >= 9/4. One level is quantize{1}, and has its omega.
struct natural_dithering {
    int levels = 8;
    std::size_t bucket = 0;
    p_norm p = p_norm::two;

    static constexpr void description(auto&& describe) {
        describe("natural_dithering", "random rounding to halvings of each bucket's norm; unbiased",
                 "Horvath et al., MSML 2022", field("levels", &natural_dithering::levels).between(1, 1000).written(),
                 field("bucket", &natural_dithering::bucket), field("p", &natural_dithering::p).by_name());
    }

    template <Scalar T, class B>
    using message = messages::dithered<T, B>;

    void check(std::size_t) const { detail::check_fields(*this); }
    void blank(auto&, std::size_t d, key, auto& m) const {
        begin(m, d);
        messages::begin_message(m, d);
    }
    void begin(auto& m, std::size_t d) const {
        m.bucket = detail::bucket_of(bucket, d);
        m.levels = levels;
    }
    /// Throws argument_error where the norm of a bucket is not finite in T. It passes over x in memory once where
    /// buckets fit the first cache, else once for the codes and as often as norm_of for the norms.
    void operator()(auto& on, auto x, key from, auto& m) const {
        blank(on, x.size(), from, m);
        make_codes(on, x, from, m, std::span(m.codes));
    }
    void make_codes(auto& on, auto x, key from, auto& m, auto codes) const {
        if (!round_buckets_to_halvings(on, x, m.bucket, p, levels, from, std::span(m.norms), codes))
            throw argument_error("natural_dithering: the norm of a bucket is not finite");
    }

    double omega(std::size_t d) const {
        double const b = static_cast<double>(detail::longest_bucket(bucket, d));
        if (levels == 1) return detail::norm_ratio(p, b) - 1;
        double const a = std::ldexp(p == p_norm::one ? b : std::sqrt(b), 1 - levels);
        return 0.125 + (a <= 2.25 ? 2 * a * a / 9 : a - 1.125);
    }

    bool operator==(natural_dithering const&) const = default;
};

}  // namespace laconic
