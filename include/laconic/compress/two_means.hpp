// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/buckets.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/message/bucketed.hpp"

namespace laconic {

/// Sends the mean of each bucket's negative values and that of its others, and a bit a value for the sign (bucket = 0:
/// one bucket); 0 counts as positive. 1-bit SGD (Seide et al., Interspeech 2014). Contractive: with n_g values of the
/// mean m_g on each side, the error is |x|^2 - sum_g n_g m_g^2 exactly in a bucket of b values, and by Cauchy and
/// Schwarz sum_g n_g m_g^2 >= |x|_1^2 / b >= |x|^2 / b: delta = 1 / b, attained where one value alone is not 0, and is
/// positive.
struct two_means {
    std::size_t bucket = 0;

    static constexpr void description(auto&& describe) {
        describe("two_means", "signs and each bucket's mean of either sign; contractive",
                 "Seide et al., Interspeech 2014", field("bucket", &two_means::bucket));
    }

    template <Scalar T, class B>
    using message = messages::means<T, B>;

    void check(std::size_t) const {}
    template <class B, Scalar T>
    void blank(B&, std::size_t d, key, messages::means<T, B>& m) const {
        check_dimension(d);
        m.bucket = detail::bucket_of(bucket, d);
        m.resize(d);
    }
    /// Throws argument_error where a value or a sum of values is not finite.
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, messages::means<T, B>& m) const {
        blank(on, x.size(), from, m);
        if (pack_signs_and_two_means(on, x, m.bucket, std::span(m.below), std::span(m.above), std::span(m.words)))
            return;
        auto const j = first_non_finite(on, x);
        throw argument_error(j == x.size() ? "two_means: the sum of a bucket is not finite"
                                           : detail::concat({"two_means: coordinate ", j, " is not finite"}));
    }
    double delta(std::size_t d) const { return 1 / static_cast<double>(detail::longest_bucket(bucket, d)); }

    bool operator==(two_means const&) const = default;
};

}  // namespace laconic
