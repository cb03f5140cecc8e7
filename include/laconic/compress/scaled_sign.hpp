// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/buckets.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/message/bucketed.hpp"

namespace laconic {

/// Sends the sign of every value, a bit a value, and the mean magnitude of each bucket of consecutive values (bucket =
/// 0: one bucket); 0 counts as positive. Contractive: the error is |x|^2 - |x|_1^2 / b exactly in a bucket of b values
/// (scaled sign; Karimireddy et al., ICML 2019), so delta = 1 / b, attained where one value alone is not 0.
struct scaled_sign {
    std::size_t bucket = 0;

    static constexpr void description(auto&& describe) {
        describe("scaled_sign", "signs and each bucket's mean magnitude; contractive", "Karimireddy et al., ICML 2019",
                 field("bucket", &scaled_sign::bucket));
    }

    template <Scalar T, class B>
    using message = messages::signs<T, B>;

    void check(std::size_t) const {}
    template <class B, Scalar T>
    void blank(B&, std::size_t d, key, messages::signs<T, B>& m) const {
        check_dimension(d);
        m.bucket = detail::bucket_of(bucket, d);
        m.resize(d);
    }
    /// Throws argument_error where the mean magnitude of a bucket is not finite in T. One pass over x, two where
    /// buckets are not whole words of 64 signs.
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, messages::signs<T, B>& m) const {
        blank(on, x.size(), from, m);
        if (!pack_signs_and_means(on, x, m.bucket, std::span(m.scales), std::span(m.words)))
            throw argument_error("scaled_sign: the mean magnitude of a bucket is not finite");
    }
    double delta(std::size_t d) const { return 1 / static_cast<double>(detail::longest_bucket(bucket, d)); }

    bool operator==(scaled_sign const&) const = default;
};

}  // namespace laconic
