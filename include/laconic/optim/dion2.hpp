// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/optim/muon.hpp"

namespace laconic {

/// The numbers of `dion2`; the defaults are its authors'. `decay` is their ef_decay.
struct dion2_options {
    std::size_t rows = 1;
    double rate = 0.01, fraction = 0.25, decay = 0.95, weight_decay = 0.01, epsilon = 1e-8;

    static constexpr void description(auto&& describe) {
        describe("dion2", "a matrix by the orthogonalized rows of its sum that are largest", "arXiv:2512.16928",
                 field("rows", &dion2_options::rows).between(1, 0x1p53).written_by_name(),
                 field("rate", &dion2_options::rate).between(0, 1e300).written_by_name(),
                 field("fraction", &dion2_options::fraction).between(0, 1).by_name(),
                 field("decay", &dion2_options::decay).between(0, 1).by_name(),
                 field("weight_decay", &dion2_options::weight_decay).between(0, 1e300).by_name(),
                 field("epsilon", &dion2_options::epsilon).between(0, 1e300).by_name());
    }
};

/// Dion2 (arXiv:2512.16928), for a matrix X of `rows` rows, row after row, with M = 0 at the start. Its vectors are its
/// rows, or its columns if it has fewer columns than rows; S are the ceil(fraction x their number), at least one, that
/// have the largest sums of magnitudes in M, of equal ones the first:
///     M <- M + D,    U = orth(M_S) by polar_express,    M_S <- decay M_S,
///     X <- (1 - rate weight_decay) X,    X_S <- X_S - rate sqrt(rows / cols) U.
/// The other vectors stay in M, undecayed, until they are among the largest. On backends whose arrays the host reaches;
/// its products take about fraction^2 of the time of Muon's. State: M.
template <Scalar T = double, class B = host>
requires OnHost<B>
class dion2 {
  public:
    /// Throws argument_error unless rows >= 1, fraction and decay are in [0, 1], epsilon is above 0, and the others are
    /// at least 0 and finite.
    explicit dion2(dion2_options how = {}) : how_(how) {
        detail::require_above_0("dion2", "epsilon", how.epsilon);
        detail::check_fields(how);
    }

    /// Throws argument_error where n numbers are no matrix of so many rows; so does a step.
    void check(std::size_t n) const { static_cast<void>(detail::columns_of("dion2", n, how_.rows)); }

    void operator()(B& on, std::span<T> x, std::span<T> d) {
        std::size_t const columns = detail::columns_of("dion2", x.size(), how_.rows);
        sum_.resize(x.size());
        if (x.empty()) return;
        add_scaled(on, T(1), std::span<T const>(d), std::span<T>(sum_));
        bool const by_rows = how_.rows <= columns;
        std::size_t const n = by_rows ? how_.rows : columns, length = x.size() / n;
        // Number i of vector v, in a matrix that stands row after row.
        auto const at = [&](std::size_t v, std::size_t i) { return by_rows ? v * length + i : i * n + v; };

        choose(n, length, at);
        chosen_.resize(order_.size() * length);
        for (std::size_t s = 0; s < order_.size(); ++s)
            for (std::size_t i = 0; i < length; ++i) {
                T& v = sum_[at(order_[s], i)];
                chosen_[s * length + i] = v;
                v *= static_cast<T>(how_.decay);
            }
        orthogonalize_(on, std::span<T>(chosen_), order_.size(), orthogonalization::polar_express, how_.epsilon);
        multiply(on, static_cast<T>(1 - how_.rate * how_.weight_decay), x);
        T const step = static_cast<T>(how_.rate * detail::scale_of(matrix_scale::spectral, how_.rows, columns));
        for (std::size_t s = 0; s < order_.size(); ++s)
            for (std::size_t i = 0; i < length; ++i) {
                T moved = step * chosen_[s * length + i];
                simd::settle(moved);  // the same bits for every processor
                x[at(order_[s], i)] -= moved;
            }
    }

    double rate() const { return how_.rate; }
    /// M; empty before the first step.
    std::span<T const> sum() const { return sum_; }
    void state(auto& archive) { archive.vectors(sum_); }
    friend std::string to_string(dion2 const& s) { return to_string(s.how_); }

  private:
    // Puts the numbers of the vectors S, rising, into order_. A sum that is NaN counts as the largest.
    void choose(std::size_t n, std::size_t length, auto at) {
        sizes_.resize(n);
        for (std::size_t v = 0; v < n; ++v) {
            double size = 0;
            for (std::size_t i = 0; i < length; ++i) size += std::abs(static_cast<double>(sum_[at(v, i)]));
            sizes_[v] = size;
        }
        order_.resize(n);
        std::iota(order_.begin(), order_.end(), std::size_t(0));
        auto const larger = [&](std::size_t a, std::size_t b) {
            bool const a_nan = std::isnan(sizes_[a]), b_nan = std::isnan(sizes_[b]);
            if (a_nan != b_nan) return a_nan;
            return sizes_[a] != sizes_[b] && !a_nan ? sizes_[a] > sizes_[b] : a < b;
        };
        std::size_t const k =
            std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(how_.fraction * static_cast<double>(n))));
        std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(k), order_.end(), larger);
        order_.resize(k);
        std::sort(order_.begin(), order_.end());
    }

    dion2_options how_;
    typename B::template array<T> sum_, chosen_;
    std::vector<double> sizes_;
    std::vector<std::size_t> order_;
    detail::orthogonalizer<T, B> orthogonalize_;
};

}  // namespace laconic
