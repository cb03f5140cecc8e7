// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "laconic/backend/scales.hpp"
#include "laconic/compress/buckets.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/message/binned.hpp"

namespace laconic {

/// What the centroids z of a bucket y are multiplied by: <z, y> / |z|^2, for the least error; |y|^2 / <z, y>, which is
/// EDEN's, unbiased where y was rotated uniformly at random; |y| / |z|, which keeps the length.
enum class centroid_scale { least_square, unbiased, norm };
constexpr std::array<std::string_view, 3> words_of(centroid_scale) { return {"least_square", "unbiased", "norm"}; }

/// Rounds the values of each bucket of consecutive ones (bucket = 0: one bucket), in units of their root mean square,
/// to the nearest of the 2^bits centroids of the normal distribution (Lloyd and Max), bits in 1 .. 4, and sends one
/// scale for each bucket: the quantizer of EDEN (Vargaftik et al., ICML 2022), with one bit of DRIVE (NeurIPS 2021).
/// Take it behind `hadamard`, which makes values about normal.
///
/// With the least-square scale the error is |y|^2 - <z, y>^2 / |z|^2 of each bucket, and it is contractive with delta =
/// 1 / b in buckets of b values: z has the signs of y and its magnitudes ascend with those of y, so by Chebyshev's
/// inequality <z, y>^2 >= sum z_j^2 y_j^2 >= |z|^2 |y|^2 / b. With one bit it is scaled_sign, and attains this delta.
/// The other scales promise nothing: after one rotation by `hadamard` the unbiased one is not unbiased, only nearly so.
/// Of normal values the error D of the least-square scale is 0.363, 0.117, 0.0345 and 0.0095 of |y|^2 for 1 to 4 bits,
/// and that of the unbiased scale D / (1 - D).
struct centroids {
    int bits = 2;
    std::size_t bucket = 0;
    centroid_scale scale = centroid_scale::least_square;

    static constexpr void description(auto&& describe) {
        describe("centroids", "the nearest centroid of the normal distribution; contractive",
                 "DRIVE: Vargaftik et al., NeurIPS 2021; EDEN: Vargaftik et al., ICML 2022",
                 field("bits", &centroids::bits).between(1, 4).written(), field("bucket", &centroids::bucket),
                 field("scale", &centroids::scale).by_name());
    }

    template <Scalar T, class B>
    using message = messages::binned<T, B>;

    static constexpr bool refuses_non_finite = true;  // where any of x is not

    void check(std::size_t) const { detail::check_fields(*this); }
    void blank(auto&, std::size_t d, key, auto& m) const {
        m.width = m.scaled_from + bits;
        detail::begin_buckets(m, bucket, d);
    }
    /// Throws argument_error where a value, or a scale times the largest centroid, is not finite. The CPU chooses the
    /// centroids, also of a device's numbers: these are copied to it, and the message back.
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, messages::binned<T, B>& m) const {
        blank(on, x.size(), from, m);
        detail::require_finite(on, "centroids", x);
        if constexpr (OnHost<B>) {
            detail::each_bucket(x, m.bucket, [&](std::size_t b, std::size_t first, std::span<T const> part) {
                m.scales[b] = choose(on, part, std::span<std::uint8_t>(m.codes).subspan(first, part.size()));
                m.fill_table(b);
                if (!std::isfinite(m.table[((b + 1) << bits) - 1]))
                    throw argument_error("centroids: the numbers of a bucket are not finite");
            });
        } else {
            host here;
            messages::binned<T, host> made;
            (*this)(here, on_host(on, x), from, made);
            copy_message(here, made, on, m);
        }
    }
    bool contractive() const { return scale == centroid_scale::least_square; }
    /// Throws theory_error unless with the least-square scale.
    double delta(std::size_t d) const {
        if (!contractive()) throw theory_error({to_string(*this), " is not contractive: it is scale=least_square"});
        return 1 / static_cast<double>(detail::longest_bucket(bucket, d));
    }

    bool operator==(centroids const&) const = default;

  private:
    // Fills in the codes, and returns the scale. Sums are in the order of the values, on every backend.
    template <Scalar T>
    T choose(auto& on, std::span<T const> y, std::span<std::uint8_t> codes) const {
        std::size_t const n = std::size_t{1} << bits;
        auto const unit =
            static_cast<double>(kernels::unit_scale(largest_magnitude(on, y)));  // so that sums are finite
        double const squares = sum_of_squares(on, y, 1 / unit);
        if (!(squares > 0)) return std::fill(codes.begin(), codes.end(), static_cast<std::uint8_t>(n / 2)), T(0);
        double const deviation = std::sqrt(squares / static_cast<double>(y.size())) / unit;
        std::array<T, 16> bounds{};  // code k is for values from bounds_k on
        for (std::size_t k = 1; k < n; ++k)
            bounds[k] = static_cast<T>((messages::normal_centroid(bits, k - 1) + messages::normal_centroid(bits, k)) /
                                       2 * deviation);
        for (std::size_t j = 0; j < y.size(); ++j) {
            unsigned code = 0;
            for (std::size_t k = 1; k < n; ++k) code += y[j] >= bounds[k];
            codes[j] = static_cast<std::uint8_t>(code);
        }
        std::array<double, 16> sums{}, counts{};
        for (std::size_t j = 0; j < y.size(); ++j) {
            sums[codes[j]] += static_cast<double>(y[j]) * unit;
            ++counts[codes[j]];
        }
        double product = 0, length = 0;
        for (std::size_t k = 0; k < n; ++k) {
            double const z = messages::normal_centroid(bits, k);
            product = std::fma(z, sums[k], product), length = std::fma(z * z, counts[k], length);
        }
        double const s = scale == centroid_scale::least_square ? product / length
                         : scale == centroid_scale::unbiased   ? squares / product
                                                               : std::sqrt(squares / length);
        return static_cast<T>(s / unit);
    }
};

}  // namespace laconic
