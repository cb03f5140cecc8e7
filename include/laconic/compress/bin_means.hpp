// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/backend/scales.hpp"
#include "laconic/compress/buckets.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/message/binned.hpp"

namespace laconic {

/// Sorts the values of each bucket of consecutive ones (bucket = 0: one bucket) into 2^bits bins, bits in 1 .. 8, and
/// sends the bin of each value and the mean of each bin. The error is |x|^2 - |C(x)|^2 exactly, as means are
/// projections, so it is never above |x|^2.
///
/// The bins are as wide as each other, one of them around the bucket's mean: bin k of N = 2^bits is where (v -
/// mean) / w + N / 2 rounds to k, of two that are equally near to the even one; w is 6 / N standard deviations, of n -
/// 1 degrees of freedom, and the first and the last bin have all beyond (the quantizer of SparseLoCo, arXiv:2508.15706,
/// as its authors run it). It is not contractive: of two values with opposite signs nothing is left.
///
/// By sign, bins are halved in place: first at 0, which is two_means, then each at its mean. No halving makes the error
/// larger, so it is contractive with two_means' delta = 1 / b in buckets of b values.
struct bin_means {
    int bits = 2;
    std::size_t bucket = 0;
    bool by_sign = false;

    static constexpr void description(auto&& describe) {
        describe("bin_means", "the bin of each value, and each bin's mean; by sign contractive",
                 "SparseLoCo, arXiv:2508.15706", field("bits", &bin_means::bits).between(1, 8).written(),
                 field("bucket", &bin_means::bucket), field("by_sign", &bin_means::by_sign));
    }

    template <Scalar T, class B>
    using message = messages::binned<T, B>;

    static constexpr bool refuses_non_finite = true;  // where any of x is not

    void check(std::size_t) const { detail::check_fields(*this); }
    void blank(auto&, std::size_t d, key, auto& m) const {
        m.width = bits;
        detail::begin_buckets(m, bucket, d);
    }
    /// Throws argument_error where a value is not finite. The CPU makes the bins, also of a device's numbers: these are
    /// copied to it, and the message back.
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, messages::binned<T, B>& m) const {
        blank(on, x.size(), from, m);
        detail::require_finite(on, "bin_means", x);
        if constexpr (OnHost<B>) {
            make_bins(x, m.bucket, std::span<T>(m.table), std::span<std::uint8_t>(m.codes));
        } else {
            host here;
            messages::binned<T, host> made;
            (*this)(here, on_host(on, x), from, made);
            copy_message(here, made, on, m);
        }
    }
    bool contractive() const { return by_sign; }
    /// Throws theory_error unless by sign.
    double delta(std::size_t d) const {
        if (!by_sign) throw theory_error({to_string(*this), " is not contractive: it is by_sign=yes"});
        return 1 / static_cast<double>(detail::longest_bucket(bucket, d));
    }

    bool operator==(bin_means const&) const = default;

  private:
    using of_bins = std::array<double, 256>;

    template <Scalar T>
    void make_bins(std::span<T const> x, std::size_t length, std::span<T> table, std::span<std::uint8_t> codes) const {
        detail::each_bucket(x, length, [&](std::size_t b, std::size_t first, std::span<T const> part) {
            T largest = 0;
            for (T const v : part) largest = std::max(largest, std::abs(v));
            auto const unit = static_cast<double>(kernels::unit_scale(largest));  // so that all sums are finite
            auto const at = [part, unit](std::size_t j) { return static_cast<double>(part[j]) * unit; };
            auto const own = codes.subspan(first, part.size());
            of_bins const found = by_sign ? bins_by_sign(at, own) : bins_by_deviation(at, own);
            for (std::size_t k = 0; k < std::size_t{1} << bits; ++k)
                table[(b << bits) + k] = static_cast<T>(found[k] / unit);
        });
    }
    // The mean of each bin, 0 where it has no value. Sums are in the order of the values, on every backend.
    static of_bins means_of(auto at, std::span<std::uint8_t const> codes) {
        of_bins sums{}, counts{};
        for (std::size_t j = 0; j < codes.size(); ++j) {
            sums[codes[j]] += at(j);
            ++counts[codes[j]];
        }
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = counts[k] > 0 ? sums[k] / counts[k] : 0;
        return sums;
    }
    of_bins bins_by_sign(auto at, std::span<std::uint8_t> codes) const {
        std::fill(codes.begin(), codes.end(), std::uint8_t{0});
        of_bins bounds{};
        for (int halving = 0; halving < bits; ++halving) {
            for (std::size_t j = 0; j < codes.size(); ++j)
                codes[j] = static_cast<std::uint8_t>(2 * codes[j] + (at(j) >= bounds[codes[j]] ? 1 : 0));
            bounds = means_of(at, codes);
        }
        return bounds;
    }
    of_bins bins_by_deviation(auto at, std::span<std::uint8_t> codes) const {
        auto const n = static_cast<double>(codes.size());
        double sum = 0, squares = 0;
        for (std::size_t j = 0; j < codes.size(); ++j) sum += at(j);
        double const mean = sum / n, half = 1 << (bits - 1);
        for (std::size_t j = 0; j < codes.size(); ++j) {
            double const c = at(j) - mean;
            squares = std::fma(c, c, squares);  // rounded once, with and without fused products
        }
        double width = n > 1 ? 6 * std::sqrt(squares / (n - 1)) / (2 * half) : 0;
        if (!(width > 0)) width = 1;
        for (std::size_t j = 0; j < codes.size(); ++j)
            codes[j] =
                static_cast<std::uint8_t>(std::clamp(std::nearbyint((at(j) - mean) / width + half), 0.0, 2 * half - 1));
        return means_of(at, codes);
    }
};

}  // namespace laconic
