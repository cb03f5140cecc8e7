// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/buckets.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/message/bucketed.hpp"

/// The compressors that send the sign of every value, a bit a value, and at most two magnitudes for each bucket of
/// consecutive values (bucket = 0: one bucket). 0 counts as positive.
namespace laconic {

/// Sends signs and the mean magnitude of each bucket. Contractive: the error is |x|^2 - |x|_1^2 / b exactly in a bucket
/// of b values (scaled sign; Karimireddy et al., ICML 2019), so delta = 1 / b, attained where one value alone is not 0.
struct scaled_sign {
    std::size_t bucket = 0;

    static constexpr void description(auto&& describe) {
        describe("scaled_sign", "signs and each bucket's mean magnitude; contractive", "Karimireddy et al., ICML 2019",
                 field("bucket", &scaled_sign::bucket));
    }

    template <Scalar T, class B>
    using message = messages::signs<T, B>;

    static constexpr bool refuses_non_finite = true;  // where any of x is not

    void check(std::size_t) const {}
    void blank(auto&, std::size_t d, key, auto& m) const { detail::begin_buckets(m, bucket, d); }
    /// Throws argument_error where the mean magnitude of a bucket is not finite in T. One pass over x, two where
    /// buckets are not whole words of 64 signs.
    void operator()(auto& on, auto x, key from, auto& m) const {
        blank(on, x.size(), from, m);
        if (!pack_signs_and_means(on, x, m.bucket, std::span(m.scales), std::span(m.words)))
            throw argument_error("scaled_sign: the mean magnitude of a bucket is not finite");
    }
    double delta(std::size_t d) const { return 1 / static_cast<double>(detail::longest_bucket(bucket, d)); }

    bool operator==(scaled_sign const&) const = default;
};

/// Sends signs, the mean of each bucket's negative values and that of its others. 1-bit SGD (Seide et al., Interspeech
/// 2014). Contractive: with n_g values of the mean m_g on each side, the error is |x|^2 - sum_g n_g m_g^2 exactly in a
/// bucket of b values, and by Cauchy and Schwarz sum_g n_g m_g^2 >= |x|_1^2 / b >= |x|^2 / b: delta = 1 / b, attained
/// where one value alone is not 0, and is positive.
struct two_means {
    std::size_t bucket = 0;

    static constexpr void description(auto&& describe) {
        describe("two_means", "signs and each bucket's mean of either sign; contractive",
                 "Seide et al., Interspeech 2014", field("bucket", &two_means::bucket));
    }

    template <Scalar T, class B>
    using message = messages::means<T, B>;

    static constexpr bool refuses_non_finite = true;  // where any of x is not

    void check(std::size_t) const {}
    void blank(auto&, std::size_t d, key, auto& m) const { detail::begin_buckets(m, bucket, d); }
    /// Throws argument_error where a value or a sum of values is not finite.
    void operator()(auto& on, auto x, key from, auto& m) const {
        blank(on, x.size(), from, m);
        if (!pack_signs_and_two_means(on, x, m.bucket, std::span(m.below), std::span(m.above), std::span(m.words)))
            detail::refuse_non_finite(on, "two_means", x, "the sum of a bucket is not finite");
    }
    double delta(std::size_t d) const { return 1 / static_cast<double>(detail::longest_bucket(bucket, d)); }

    bool operator==(two_means const&) const = default;
};

/// Sends the sign of every value as 1 or -1, and nothing else. The message of signSGD (Bernstein et al., ICML 2018):
/// the mean of such messages is positive where the majority is. It is neither unbiased nor contractive; scaled_sign,
/// with a magnitude for each bucket, is contractive.
struct vote {
    static constexpr void description(auto&& describe) {
        describe("vote", "signs alone", "Bernstein et al., ICML 2018");
    }

    template <Scalar T, class B>
    using message = messages::signs<T, B>;

    static constexpr bool refuses_non_finite = true;  // where any of x is not

    void check(std::size_t) const {}
    void blank(auto&, std::size_t d, key, auto& m) const {
        m.bucket = 0;
        messages::begin_message(m, d);
    }
    /// Throws argument_error where a value is not finite.
    void operator()(auto& on, auto x, key, auto& m) const {
        // A finite mean shows that all values are, without a pass of its own.
        detail::begin_buckets(m, 0, x.size());
        if (!pack_signs_and_means(on, x, m.bucket, std::span(m.scales), std::span(m.words)))
            detail::require_finite(on, "vote", x);
        m.bucket = 0;
        m.scales.resize(0);
    }

    bool operator==(vote const&) const = default;
};

}  // namespace laconic
