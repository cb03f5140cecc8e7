// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "laconic/backend/arguments.hpp"
#include "laconic/compress/buckets.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/message/bucketed.hpp"

namespace laconic {

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

    template <class B, Scalar T>
    void blank(B&, std::size_t d, key, messages::stepped<T, B>& m) const {
        check_dimension(d);
        m.width = bits;
        m.bucket = detail::bucket_of(bucket, d);
        m.resize(d);
    }

    /// Throws argument_error where a value, or the distance between two of a bucket, is not finite in T. It passes over
    /// x in memory once where buckets fit the first cache, else three times.
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, messages::stepped<T, B>& m) const {
        blank(on, x.size(), from, m);
        if (round_buckets_to_range(on, x, m.bucket, R, steps(), from, std::span(m.least), std::span(m.steps),
                                   std::span(m.codes)))
            return;
        auto const j = first_non_finite(on, x);
        throw argument_error(j == x.size() ? "uniform: the values of a bucket are too far apart"
                                           : detail::concat({"uniform: coordinate ", j, " is not finite"}));
    }

    double omega(std::size_t d) const requires(R == rounding::random) { return error(d); }

    /// Throws theory_error where the bound on the error is not below 1.
    double delta(std::size_t d) const requires(R == rounding::nearest) {
        double const lost = error(d);
        if (lost >= 1)
            throw theory_error(
                detail::concat({to_string(*this), " may lose ", lost, " >= 1 of the energy of ", d,
                                " values, so it is not contractive: take more bits or smaller buckets"}));
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
