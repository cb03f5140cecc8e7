// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "laconic/backend/host.hpp"

/// What each level of a compressor keeps of a vector whose histogram is given, and the best level by it, without a
/// sort. A curve walks up the levels:
///   curve(level)         rises with the level, and with what the level keeps;
///   curve.above(y)       the first level where curve(level) is above y, or a number above all levels;
///   curve.price(level, cost)   rises too, and curve(level) / price(level, cost(level)) is the largest where the share
///                        that is kept is the largest for its cost;
///   curve.energy(level)  what the level keeps of |x|^2, in units that all curves share.
/// The levels, and the arguments y, may not decrease from call to call. Sums are rounded alike with and without fused
/// products.
namespace laconic::detail {

/// The magnitudes of a vector, largest first, each to within a factor of 1 + 2^-8; those below 2^-48 of the largest
/// count as 0. It takes 144 KiB, whatever the length of the vector.
struct histogram {
    kernels::magnitude_bins bins;
    std::vector<std::uint32_t> counts;  ///< per bin
    std::vector<double> room;           ///< one number per bin, for the use of a curve

    void make_room() {
        counts.resize(kernels::magnitude_bins::count);
        room.resize(kernels::magnitude_bins::count);
    }
    /// Fills it in one pass over x; `largest` is the largest magnitude of x, finite and above 0.
    template <class B, Scalar T>
    void fill(B& on, std::span<T const> x, T largest) {
        make_room();
        bins = kernels::magnitude_bins(static_cast<double>(largest));
        count_by_magnitude(on, x, largest, std::span<std::uint32_t>(counts));
    }
};

/// A curve over the sums of the k largest: of their squares, which is what top_k keeps; or of their magnitudes, S, as
/// signs times the mean magnitude keep S^2 / k.
template <bool Squares>
class largest_curve {
  public:
    explicit largest_curve(histogram const& h) : h_(&h), each_(value()) {}

    double operator()(std::size_t level) {
        while (bin_ < kernels::magnitude_bins::count && before_ + in_bin() < static_cast<double>(level)) next();
        return std::fma(static_cast<double>(level) - before_, each_, sum_);
    }
    std::size_t above(double y) {
        while (bin_ < kernels::magnitude_bins::count && !(std::fma(in_bin(), each_, sum_) > y)) next();
        if (bin_ == kernels::magnitude_bins::count) return std::numeric_limits<std::size_t>::max();
        return static_cast<std::size_t>(before_ + std::max(0.0, std::floor((y - sum_) / each_))) + 1;
    }
    static double price(std::size_t level, double cost) {
        return Squares ? cost : std::sqrt(static_cast<double>(level) * cost);
    }
    double energy(std::size_t level) {
        double const sum = (*this)(level);
        return Squares ? sum : sum * sum / static_cast<double>(level);
    }

  private:
    double in_bin() const { return h_->counts[bin_]; }
    double value() const {
        if (bin_ == kernels::magnitude_bins::count) return 0;
        return Squares ? h_->bins.square(bin_) : std::sqrt(h_->bins.square(bin_));
    }
    void next() {
        sum_ = std::fma(in_bin(), each_, sum_);
        before_ += in_bin();
        while (++bin_ < kernels::magnitude_bins::count && h_->counts[bin_] == 0) {
        }
        each_ = value();
    }

    histogram const* h_;
    std::size_t bin_ = 0;
    double before_ = 0, sum_ = 0;  // of the numbers in larger bins: their count and their sum
    double each_;
};

/// A curve for draws with the best probabilities: 1 / sum x_i^2 / p_i, where the numbers of the largest bins are
/// certain, and the others are drawn in proportion to their magnitudes (proportion_for). It uses the histogram's room.
class proportional_curve {
  public:
    explicit proportional_curve(histogram& h) : h_(&h) {
        double rest = 0;
        for (std::size_t b = kernels::magnitude_bins::count; b-- > 0; h.room[b] = rest)
            if (h.counts[b] > 0) rest = std::fma(h.counts[b], std::sqrt(h.bins.square(b)), rest);
        enter();
    }

    double operator()(std::size_t level) {
        while (bin_ < kernels::magnitude_bins::count && (static_cast<double>(level) - before_) * each_ > rest()) next();
        if (bin_ == kernels::magnitude_bins::count) return 1 / squares_;
        return 1 / std::fma(rest() / (static_cast<double>(level) - before_), rest(), squares_);
    }
    std::size_t above(double y) {
        double const less = 1 / y;  // the sum must be below this; it falls to it before the next bin begins
        while (bin_ < kernels::magnitude_bins::count && !(std::fma(rest(), each_, squares_) < less)) next();
        if (bin_ == kernels::magnitude_bins::count) return std::numeric_limits<std::size_t>::max();
        return static_cast<std::size_t>(before_ + std::floor(rest() / (less - squares_) * rest())) + 1;
    }
    static double price(std::size_t, double cost) { return cost; }
    double energy(std::size_t level) {
        double all = 0;
        for (std::size_t b = 0; b < kernels::magnitude_bins::count; ++b)
            if (h_->counts[b] > 0) all = std::fma(h_->counts[b], h_->bins.square(b), all);
        return (*this)(level)*all * all;
    }

  private:
    double rest() const { return h_->room[bin_]; }
    void next() {
        double const n = h_->counts[bin_];
        squares_ = std::fma(n, h_->bins.square(bin_), squares_);
        before_ += n;
        ++bin_;
        enter();
    }
    void enter() {
        while (bin_ < kernels::magnitude_bins::count && h_->counts[bin_] == 0) ++bin_;
        if (bin_ < kernels::magnitude_bins::count) each_ = std::sqrt(h_->bins.square(bin_));
    }

    histogram* h_;
    std::size_t bin_ = 0;              // the first bin that is not certain
    double before_ = 0, squares_ = 0;  // of the certain numbers: their count and the sum of their squares
    double each_ = 0;
};

/// The best of the levels 1 .. count by a curve, where cost(level) is no less for higher levels: by the curve over its
/// price, no level is more than 1 + slack times as good. It skips levels that cannot be: those up to where the curve is
/// above 1 + slack times the best so far times the price of this level. The first, coarse pass finds a best that leaves
/// little to the second. The highest level comes last, as its message may have another, shorter encoding.
template <class Curve, class Cost>
std::size_t best_on(Curve const& curve, std::size_t count, Cost cost, double slack = 0x1p-10) {
    std::size_t best = 1;
    double most = 0;
    for (double const s : {0x1p-4, slack}) {
        auto on = curve;
        double price = 0;
        auto const look = [&](std::size_t level) {
            price = Curve::price(level, cost(level));
            if (double const worth = on(level) / price; worth > most) most = worth, best = level;
        };
        for (std::size_t level = 1; level <= count;) {
            look(level);
            if (!(price > 0)) return level;    // free, so that nothing pays better
            if (!std::isfinite(price)) break;  // nor is any price above
            level = std::max(level + 1, on.above((1 + s) * most * price));
        }
        if (s == slack) look(count);
    }
    return best;
}

}  // namespace laconic::detail
