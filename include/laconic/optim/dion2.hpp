// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

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

namespace detail {

// The sum of the magnitudes of the v-th of vectors that stand one after another.
template <Scalar T>
struct sums_of_vectors {
    std::span<T const> x;
    std::span<double> sums;

    [[gnu::always_inline]] constexpr void operator()(std::size_t v) const {
        std::size_t const length = x.size() / sums.size();
        double sum = 0;
        for (std::size_t i = v * length; i < (v + 1) * length; ++i) sum += std::abs(static_cast<double>(x[i]));
        sums[v] = sum;
    }
};

}  // namespace detail

/// Dion2 (arXiv:2512.16928), for a matrix X of `rows` rows, row after row, with M = 0 at the start. Its vectors are its
/// rows, or its columns if it has fewer columns than rows; S are the ceil(fraction x their number), at least one, that
/// have the largest sums of magnitudes in M, of equal ones the first:
///     M <- M + D,    U = orth(M_S) by polar_express,    M_S <- decay M_S,
///     X <- (1 - rate weight_decay) X,    X_S <- X_S - rate sqrt(rows / cols) U.
/// The other vectors stay in M, undecayed, until they are among the largest. The products take about fraction^2 of the
/// time of Muon's. State: M, vector after vector.
template <Scalar T = double, class B = host>
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
        sum_.resize(x.size()), along_.resize(x.size());
        if (x.empty()) return;
        bool const by_rows = how_.rows <= columns;
        std::size_t const n = by_rows ? how_.rows : columns, length = x.size() / n;
        std::span<T> const sum(sum_), along(along_);  // vector after vector
        by_rows ? copy(on, std::span<T const>(d), along)
                : detail::transpose(on, std::span<T const>(d), how_.rows, along);
        add_scaled(on, T(1), std::span<T const>(along), sum);

        sizes_.resize(n);
        at_each_index(on, n, detail::sums_of_vectors<T>{sum, sizes_});
        auto const part = static_cast<std::size_t>(std::ceil(how_.fraction * static_cast<double>(n)));
        select_largest(on, std::span<double const>(sizes_), std::max<std::size_t>(1, part), chosen_);
        std::span<coordinate const> const chosen(chosen_);
        gather(on, std::span<T const>(sum), chosen, length, T(1), vectors_);
        gather(on, std::span<T const>(sum), chosen, length, static_cast<T>(how_.decay), decayed_);
        scatter(on, std::span<T const>(decayed_), chosen, length, sum);
        orthogonalize_(on, std::span<T>(vectors_), chosen.size(), orthogonalization::polar_express, how_.epsilon);

        fill(on, along, T(0));
        scatter(on, std::span<T const>(vectors_), chosen, length, along);
        if (!by_rows) detail::transpose(on, std::span<T const>(along), n, d);
        multiply(on, static_cast<T>(1 - simd::rounded_product(how_.rate, how_.weight_decay)), x);
        double const step = how_.rate * detail::scale_of(matrix_scale::spectral, how_.rows, columns);
        add_scaled(on, static_cast<T>(-step), std::span<T const>(by_rows ? along : d), x);
    }

    double rate() const { return how_.rate; }
    /// M, vector after vector; empty before the first step.
    std::span<T const> sum() const { return sum_; }
    void state(auto& archive) { archive.vectors(sum_); }
    friend std::string to_string(dion2 const& s) { return to_string(s.how_); }

  private:
    dion2_options how_;
    typename B::template array<T> sum_, along_, vectors_, decayed_;
    typename B::template array<double> sizes_;
    typename B::template array<coordinate> chosen_;
    detail::orthogonalizer<T, B> orthogonalize_;
};

}  // namespace laconic
