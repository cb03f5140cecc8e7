// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/quantize.hpp"
#include "laconic/core/description.hpp"

namespace laconic {

/// quantize, with each bucket's grid shrunk by the factor that makes its error least: share = |x|^2 / E|Q(x)|^2 of that
/// bucket, which its sender computes, and which costs no bits. Then E|C(x) - x|^2 = (1 - share) |x|^2 for each bucket,
/// and share >= 1 / (1 + omega) of quantize: contractive with that delta. (scaled_down{quantize} divides by 1 +
/// omega(d), as if every x were the worst, and so keeps less of all others.)
struct damped_quantize {
    int levels = 1;
    std::size_t bucket = 0;
    p_norm p = p_norm::two;

    static constexpr void description(auto&& describe) {
        describe("quantize", "the same with the least error; contractive", "",
                 field("levels", &damped_quantize::levels).between(1, 32767).written(),
                 field("bucket", &damped_quantize::bucket), field("p", &damped_quantize::p).by_name(),
                 detail::decided_field<true>("damped"));
    }

    template <Scalar T, class B>
    using message = messages::quantized<T, B>;

    void check(std::size_t d) const { plain().check(d); }
    /// The first call makes room for codes of either width, as the level may change from one message to the next.
    template <class B, Scalar T>
    void blank(B& on, std::size_t d, key from, messages::quantized<T, B>& m) const {
        check_dimension(d);
        if (m.codes.capacity() < d) m.codes.resize(d);
        if (m.wide_codes.capacity() < d) m.wide_codes.resize(d);
        plain().blank(on, d, from, m);
    }
    /// Throws argument_error where the norm of a bucket is not finite in T.
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, messages::quantized<T, B>& m) const {
        blank(on, x.size(), from, m);
        plain()(on, x, from, m);
        damp_steps(on, x, m.bucket, std::span(m.steps));
    }
    double delta(std::size_t d) const { return 1 / (1 + plain().omega(d)); }

    bool operator==(damped_quantize const&) const = default;

  private:
    quantize plain() const { return {levels, bucket, p}; }
};

}  // namespace laconic
