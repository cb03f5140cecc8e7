// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "laconic/compress/buckets.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/message/block_floats.hpp"

namespace laconic::detail {

/// The largest value of error / |x|^2 for b numbers of a short format, of which the largest magnitude is from `least`
/// to `most`: of the error of rounding to the nearest, or of its mean at random; what is above the largest number
/// becomes it. One number has the largest magnitude, all others the one that costs most: so it is the least t with
/// error(x) - t x^2 + (b - 1) max_{y <= x} (error(y) - t y^2) <= 0 for all such x (Dinkelbach, Management Science
/// 1967).
inline double largest_error(kernels::short_layout f, rounding how, double b, double least, double most) {
    auto const value = [&](int code) { return kernels::short_value<double>(f, static_cast<std::uint16_t>(code)); };
    double const top = value(f.largest());
    double t = 0;
    for (double found = 0;; t = found) {
        // Between two neighbours the error less t x^2 is largest in the middle, or at random a little below it.
        std::vector<double> candidates{least, most};
        for (int c = 0; c < f.largest(); ++c)
            candidates.push_back((value(c) + value(c + 1)) / (how == rounding::nearest ? 2 : 2 * (1 + t)));
        std::sort(candidates.begin(), candidates.end());
        double other = 0, others_error = 0, others_square = 0, best = 0;
        for (double const x : candidates) {
            if (x > most) break;
            int c = 0;
            while (c < f.largest() && value(c + 1) <= x) ++c;
            double const below = x - value(c), above = c < f.largest() ? value(c + 1) - x : below;
            double const nearer = std::min(below, above);
            double const error = x >= top ? below * below : how == rounding::nearest ? nearer * nearer : below * above;
            double const square = x * x;
            if (error - t * square > other) other = error - t * square, others_error = error, others_square = square;
            if (double const all = error - t * square + (b - 1) * other; x >= least && all > best) {
                best = all;
                found = (error + (b - 1) * others_error) / (square + (b - 1) * others_square);
            }
        }
        if (!(found > t * (1 + 1e-12))) return t;
    }
}

}  // namespace laconic::detail

namespace laconic {

using kernels::block_format;

/// Rounds each value to a short number times the scale of its block of consecutive values:
///
///   format                  bits  scale, in bits                          block  loses at most, nearest (at random)
///   mxfp8_e4m3, mxfp8_e5m2  8     8, a power of two                       32     1/64, 1/64 (0.0035, 0.0125)
///   mxfp6_e3m2, mxfp6_e2m3  6     the same                                32     0.0157, 0.0101 (0.0126, 0.0103)
///   mxfp4                   4     the same                                32     0.110 (0.183)
///   nvfp4                   4     8, e4m3 x a number of the whole vector  16     0.040 (0.063)
///   float8_e4m3, _e5m2      8     a number in full                        all
///   int8, int4              8, 4  the same; -127 .. 127 or -7 .. 7 steps  all
///
/// The first five are of the Open Compute Project's "Microscaling formats (MX) specification" 1.0, 2023, nvfp4 is
/// NVIDIA's. `block` is another length; 0 is the format's own. To the nearest number, and to the even code where two
/// are equally near: contractive, with the loss 1 - delta; MX cuts off up to a fourth of a block's largest value. At
/// random, the upper neighbour with probability equal to the fraction of the way to it, over scales that are rounded up
/// so that nothing is cut off: unbiased, with the loss omega. The losses hold unless a power of two would have to be
/// below 2^-127; then a value of that block is off by less than 2^-127 times the least number of the format.
struct block_float {
    block_format format = block_format::mxfp4;
    std::size_t block = 0;
    laconic::rounding rounding = laconic::rounding::nearest;

    static constexpr void description(auto&& describe) {
        describe("block_float", "rounding to short numbers over a scale of each block; contractive or unbiased",
                 "OCP MX 1.0, 2023; NVFP4", field("format", &block_float::format).written(),
                 field("block", &block_float::block), field("rounding", &block_float::rounding).by_name());
    }

    template <Scalar T, class B>
    using message = messages::block_floats<T, B>;

    void check(std::size_t) const { detail::check_fields(*this); }
    void blank(auto&, std::size_t d, key, auto& m) const {
        m.format = format;
        m.block = detail::bucket_of(block != 0 ? block : kernels::layout_of(format).block, d);
        messages::begin_message(m, d);
    }
    /// The largest number of the format: where scales are powers of two that of an element, times 2^127.
    double largest() const {
        auto const f = kernels::layout_of(format);
        return f.scale == kernels::scale_format::power_of_two ? kernels::largest_value<double>(f.element) * 0x1p127
                                                              : std::numeric_limits<double>::infinity();
    }
    /// Throws argument_error where a value is not finite, or beyond what scales of the format reach in T.
    void operator()(auto& on, auto x, key from, auto& m) const {
        blank(on, x.size(), from, m);
        detail::require_up_to_largest(on, *this, x);
        auto const f = m.layout();
        m.shared = f.scale == kernels::scale_format::e4m3 ? tensor_scale(largest_magnitude(on, x), f.element) : 1;
        if (!round_blocks_to_short(on, x, f, rounding, m.shared, from, std::span(m.scales), std::span(m.codes)))
            detail::refuse_non_finite(on, "block_float", x, "a value is too large for the format");
    }

    constexpr bool unbiased() const { return rounding == laconic::rounding::random; }
    constexpr bool contractive() const { return rounding == laconic::rounding::nearest; }
    double omega(std::size_t d) const { return loss(d); }
    double delta(std::size_t d) const { return 1 - loss(d); }

    bool operator==(block_float const&) const = default;

  private:
    double loss(std::size_t d) const {
        auto const f = kernels::layout_of(format);
        auto const b = static_cast<double>(detail::longest_bucket(block != 0 ? block : f.block, d));
        double const top = kernels::largest_value<double>(f.element);
        auto const of_block = [&](double least, double most) {
            return detail::largest_error(f.element, rounding, b, least, most);
        };
        bool const up = unbiased();
        if (f.scale == kernels::scale_format::number) return of_block(top, top);
        if (f.scale == kernels::scale_format::power_of_two) {
            double const power = std::exp2(std::floor(std::log2(top)));
            return up ? of_block(top / 2, top) : of_block(power, 2 * power);
        }
        // Scales are rounded by up to 1/17 of themselves, or up by 1/8. Blocks whose scale is the least one, 2^-6
        // shared, lose a share of each value, as normal numbers do, or at most (2^-8 shared)^2 for each, where the
        // largest of all values is 2688 shared.
        double const h = std::exp2(-f.element.mantissa),
                     share = up ? h * h / (4 * (1 + h)) : h * h / ((2 + h) * (2 + h));
        double const normal = up ? of_block(top * 8 / 9, top) : of_block(top * 17 / 18, top * 17 / 16);
        double const least = 0x1p-8 / (448 * top);
        return std::max(normal, share) + static_cast<double>(d) * least * least;
    }
};

}  // namespace laconic
