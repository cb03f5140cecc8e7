// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "laconic/core/description.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/view.hpp"

/// What one vector is made of those of all ranks, if some ranks may send anything. A rule has check(n), which throws
/// argument_error where it does not suit n ranks, and makes an estimate by rule(all, last, out): `all` has the ranks'
/// vectors, `last` the estimate of the last round, zeros before the first, and out is of the same length. Sums are of
/// doubles, in the order of ranks. None is linear, so that none can be a sum of all ranks. They allocate some vectors
/// of doubles in each round.
namespace laconic {

namespace robust_rules {

/// The vectors of all ranks, of d numbers each, one after another.
template <Scalar T>
struct rank_vectors {
    std::span<T const> numbers;
    std::size_t d;

    std::size_t ranks() const { return d == 0 ? 0 : numbers.size() / d; }
    std::span<T const> of(std::size_t rank) const { return numbers.subspan(rank * d, d); }
};

/// |x - z|, without overflow of the squares.
template <Scalar T>
double distance(std::span<T const> x, std::span<double const> z) {
    double largest = 0, sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) largest = std::max(largest, std::abs(static_cast<double>(x[j]) - z[j]));
    if (!(largest > 0) || std::isinf(largest)) return largest;
    for (std::size_t j = 0; j < x.size(); ++j) {
        double const part = (static_cast<double>(x[j]) - z[j]) / largest;
        sum += part * part;
    }
    return largest * std::sqrt(sum);
}
/// sum_i w_i x_i.
template <Scalar T>
std::vector<double> weighted_sum(rank_vectors<T> all, std::span<double const> w) {
    std::vector<double> sum(all.d);
    for (std::size_t i = 0; i < all.ranks(); ++i)
        for (std::size_t j = 0; j < all.d; ++j) sum[j] += w[i] * static_cast<double>(all.of(i)[j]);
    return sum;
}
template <Scalar T>
std::vector<double> norms(rank_vectors<T> all) {
    std::vector<double> of_ranks(all.ranks());
    std::vector<double> const origin(all.d);
    for (std::size_t i = 0; i < of_ranks.size(); ++i)
        of_ranks[i] = distance(all.of(i), std::span<double const>(origin));
    return of_ranks;
}
template <Scalar T>
void round_to(std::span<double const> from, std::span<T> out) {
    std::transform(from.begin(), from.end(), out.begin(), [](double v) { return static_cast<T>(v); });
}

/// The mean of what each coordinate has left once its `drop` least and `drop` largest numbers are dropped: out_j =
/// (sum of the others) / (n - 2 drop) (Yin et al., ICML 2018). Up to `drop` ranks may send anything. Cost: d n log n.
struct trimmed_mean {
    std::size_t drop = 1;

    static constexpr void description(auto&& describe) {
        describe("trimmed_mean", "the mean of each coordinate without its least and largest numbers",
                 "Yin et al., ICML 2018", field("drop", &trimmed_mean::drop).between(0, 1e9).written());
    }
    void check(std::size_t n) const {
        if (n <= 2 * drop) throw argument_error({"trimmed_mean drops ", 2 * drop, " of the numbers of ", n, " ranks"});
    }
    template <Scalar T>
    void operator()(rank_vectors<T> all, std::span<T const>, std::span<T> out) const {
        std::vector<T> column(all.ranks());
        for (std::size_t j = 0; j < all.d; ++j) {
            for (std::size_t i = 0; i < column.size(); ++i) column[i] = all.of(i)[j];
            std::sort(column.begin(), column.end());
            double sum = 0;
            for (std::size_t i = drop; i < column.size() - drop; ++i) sum += static_cast<double>(column[i]);
            out[j] = static_cast<T>(sum / static_cast<double>(column.size() - 2 * drop));
        }
    }
    bool operator==(trimmed_mean const&) const = default;
};

/// The median of each coordinate, for an even number of ranks the mean of the middle two (Yin et al., ICML 2018). Fewer
/// than half of the ranks may send anything. Cost: d n log n.
struct coordinate_median {
    static constexpr void description(auto&& describe) {
        describe("coordinate_median", "the median of each coordinate", "Yin et al., ICML 2018");
    }
    void check(std::size_t) const {}
    template <Scalar T>
    void operator()(rank_vectors<T> all, std::span<T const> last, std::span<T> out) const {
        if (all.ranks() > 0) trimmed_mean{(all.ranks() - 1) / 2}(all, last, out);
    }
    bool operator==(coordinate_median const&) const = default;
};

/// The point with the least sum of distances to the ranks' vectors, by Weiszfeld's iteration, with distances of at
/// least 1e-6, until it stands or for `passes` passes (Pillutla et al., IEEE TSP 2022), from the median of each
/// coordinate. Fewer than half of the ranks may send anything. Cost: 3 d n a pass, and the median's.
struct geometric_median {
    std::size_t passes = 1000;

    static constexpr void description(auto&& describe) {
        describe("geometric_median", "the point with the least sum of distances", "Pillutla et al., IEEE TSP 2022",
                 field("passes", &geometric_median::passes).between(1, 1e9));
    }
    void check(std::size_t) const {}
    template <Scalar T>
    void operator()(rank_vectors<T> all, std::span<T const> last, std::span<T> out) const {
        std::size_t const n = all.ranks();
        coordinate_median{}(all, last, out);
        std::vector<double> z(out.begin(), out.end()), w(n);
        for (std::size_t pass = 0; pass < passes; ++pass) {
            for (std::size_t i = 0; i < n; ++i)
                w[i] = 1 / std::max(1e-6, distance(all.of(i), std::span<double const>(z)));
            double const sum = std::accumulate(w.begin(), w.end(), 0.0);
            for (double& v : w) v /= sum;
            auto next = weighted_sum<T>(all, w);
            bool const stands = next == z;
            z = std::move(next);
            if (stands) break;
        }
        round_to<T>(z, out);
    }
    bool operator==(geometric_median const&) const = default;
};

/// The vector of the rank whose n - faulty - 2 nearest others have the least sum of squared distances to it, the first
/// of several (Blanchard et al., NeurIPS 2017). n > 2 faulty + 2. Cost: d n^2.
struct krum {
    std::size_t faulty = 1;

    static constexpr void description(auto&& describe) {
        describe("krum", "the vector that is nearest to most others", "Blanchard et al., NeurIPS 2017",
                 field("faulty", &krum::faulty).between(0, 1e9).written());
    }
    void check(std::size_t n) const {
        if (n <= 2 * faulty + 2)
            throw argument_error(
                {"krum needs more than ", 2 * faulty + 2, " ranks for ", faulty, " faulty ones, not ", n});
    }
    template <Scalar T>
    void operator()(rank_vectors<T> all, std::span<T const>, std::span<T> out) const {
        auto const scores = scores_of(all);
        auto const best = static_cast<std::size_t>(std::min_element(scores.begin(), scores.end()) - scores.begin());
        std::copy_n(all.of(best).begin(), all.d, out.begin());
    }
    template <Scalar T>
    std::vector<double> scores_of(rank_vectors<T> all) const {
        std::size_t const n = all.ranks();
        std::vector<double> scores(n), others, z(all.d);
        for (std::size_t i = 0; i < n; ++i) {
            others.clear();
            std::copy(all.of(i).begin(), all.of(i).end(), z.begin());
            for (std::size_t k = 0; k < n; ++k)
                if (k != i) others.push_back(std::pow(distance(all.of(k), std::span<double const>(z)), 2));
            std::sort(others.begin(), others.end());
            for (std::size_t k = 0; k < n - faulty - 2; ++k) scores[i] += others[k];
        }
        return scores;
    }
    bool operator==(krum const&) const = default;
};

/// z <- z + mean_i (x_i - z) min(1, radius / |x_i - z|), `passes` times from the last round's estimate (Karimireddy et
/// al., ICML 2021). Cost: 2 d n a pass.
struct centered_clip {
    double radius = 1;
    std::size_t passes = 1;

    static constexpr void description(auto&& describe) {
        describe("centered_clip", "the last estimate, moved by what is clipped of the way to each vector",
                 "Karimireddy et al., ICML 2021", field("radius", &centered_clip::radius).between(0, 1e300).written(),
                 field("passes", &centered_clip::passes).between(1, 1e9));
    }
    void check(std::size_t) const {}
    template <Scalar T>
    void operator()(rank_vectors<T> all, std::span<T const> last, std::span<T> out) const {
        std::vector<double> z(last.begin(), last.end());
        std::vector<double> w(all.ranks());
        for (std::size_t pass = 0; pass < passes; ++pass) {
            for (std::size_t i = 0; i < w.size(); ++i) {
                double const apart = distance(all.of(i), std::span<double const>(z));
                w[i] = (apart > radius ? radius / apart : 1) / static_cast<double>(w.size());
            }
            double const kept = 1 - std::accumulate(w.begin(), w.end(), 0.0);
            auto const moved = weighted_sum<T>(all, w);
            for (std::size_t j = 0; j < z.size(); ++j) z[j] = kept * z[j] + moved[j];
        }
        round_to<T>(z, out);
    }
    bool operator==(centered_clip const&) const = default;
};

/// For each vector min(1, median / norm), with the median of all norms, the lower of two in the middle.
template <Scalar T>
std::vector<double> cut_to_median_norm(rank_vectors<T> all) {
    auto w = norms(all), sorted = w;
    std::sort(sorted.begin(), sorted.end());
    double const middle = sorted.empty() ? 0 : sorted[(sorted.size() - 1) / 2];
    for (double& v : w) v = v > middle ? middle / v : 1;
    return w;
}

/// The mean of the ranks' vectors, each scaled to at most the median of their norms, the lower of two in the middle. A
/// rank may turn the estimate, but by no more than a vector of that length can. Cost: 2 d n.
struct median_norm_clip {
    static constexpr void description(auto&& describe) {
        describe("median_norm_clip", "the mean of the vectors, none longer than the median of their norms", "");
    }
    void check(std::size_t) const {}
    template <Scalar T>
    void operator()(rank_vectors<T> all, std::span<T const>, std::span<T> out) const {
        auto w = cut_to_median_norm(all);
        for (double& v : w) v /= static_cast<double>(w.size());
        round_to<T>(weighted_sum<T>(all, w), out);
    }
    bool operator==(median_norm_clip const&) const = default;
};

/// The mean of each coordinate over the ranks that sent it, whose number is not 0, and not over all ranks: a coordinate
/// of one rank alone arrives as it is (DeMo, Peng, Quesnelle, Kingma, arXiv:2411.19870). With clip the vectors are
/// first scaled to at most the median of their norms, as in the training of Covenant-72B: where more than half of the
/// ranks send zeros, that median is 0, and so is the result. It is for sparse messages, whose senders have a residual,
/// and is not robust: one rank alone may set any coordinate. Cost: d n, and 2 d n for clip.
struct mean_over_senders {
    bool clip = false;

    static constexpr void description(auto&& describe) {
        describe("mean_over_senders", "the mean of each coordinate over the ranks that sent it", "arXiv:2411.19870",
                 field("clip", &mean_over_senders::clip));
    }
    void check(std::size_t) const {}
    template <Scalar T>
    void operator()(rank_vectors<T> all, std::span<T const>, std::span<T> out) const {
        auto const w = clip ? cut_to_median_norm(all) : std::vector<double>(all.ranks(), 1);
        for (std::size_t j = 0; j < all.d; ++j) {
            double sum = 0, senders = 0;
            for (std::size_t i = 0; i < w.size(); ++i) {
                auto const v = static_cast<double>(all.of(i)[j]);
                sum += w[i] * v, senders += v != 0;
            }
            out[j] = static_cast<T>(senders > 0 ? sum / senders : 0);
        }
    }
    bool operator==(mean_over_senders const&) const = default;
};

}  // namespace robust_rules

}  // namespace laconic
