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

namespace detail {

/// The vectors of a matrix that stands row after row: its rows, or its columns if these are fewer.
struct vectors_of_matrix {
    std::size_t rows, columns;

    constexpr std::size_t count() const { return std::min(rows, columns); }
    constexpr std::size_t length() const { return std::max(rows, columns); }
    /// Where number i of vector v stands.
    constexpr std::size_t at(std::size_t v, std::size_t i) const {
        return rows <= columns ? v * columns + i : i * columns + v;
    }
};
// The sum of the magnitudes of vector v.
template <Scalar T>
struct sums_of_vectors {
    std::span<T const> x;
    std::span<double> sums;
    vectors_of_matrix of;

    constexpr void operator()(std::size_t v) const {
        sums[v] = 0;
        for (std::size_t i = 0; i < of.length(); ++i) sums[v] += std::abs(static_cast<double>(x[of.at(v, i)]));
    }
};
// Takes number j of those of the chosen vectors, which decays where it was.
template <Scalar T>
struct taken_vectors {
    std::span<T> x, taken;
    std::span<std::size_t const> chosen;
    vectors_of_matrix of;
    T decay;

    constexpr void operator()(std::size_t j) const {
        T& v = x[of.at(chosen[j / of.length()], j % of.length())];
        taken[j] = v;
        v *= decay;
    }
};
// Moves number j of those of the chosen vectors.
template <Scalar T>
struct moved_vectors {
    std::span<T> x, along;
    std::span<std::size_t const> chosen;
    vectors_of_matrix of;
    T step;

    constexpr void operator()(std::size_t j) const {
        x[of.at(chosen[j / of.length()], j % of.length())] -= simd::rounded_product(step, along[j]);
    }
};

}  // namespace detail

/// Dion2 (arXiv:2512.16928), for a matrix X of `rows` rows, row after row, with M = 0 at the start. Its vectors are its
/// rows, or its columns if it has fewer columns than rows; S are the ceil(fraction x their number), at least one, that
/// have the largest sums of magnitudes in M, of equal ones the first:
///     M <- M + D,    U = orth(M_S) by polar_express,    M_S <- decay M_S,
///     X <- (1 - rate weight_decay) X,    X_S <- X_S - rate sqrt(rows / cols) U.
/// The other vectors stay in M, undecayed, until they are among the largest. The products take about fraction^2 of the
/// time of Muon's. Waits on a device for the sums of magnitudes. State: M.
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
        sum_.resize(x.size());
        if (x.empty()) return;
        add_scaled(on, T(1), std::span<T const>(d), std::span<T>(sum_));
        detail::vectors_of_matrix const of{how_.rows, columns};
        choose(on, of);
        chosen_.resize(order_.size() * of.length());
        std::span<T> const chosen(chosen_);
        at_each_index(on, chosen.size(),
                      detail::taken_vectors<T>{sum_, chosen, order_, of, static_cast<T>(how_.decay)});
        orthogonalize_(on, chosen, order_.size(), orthogonalization::polar_express, how_.epsilon);
        multiply(on, static_cast<T>(1 - how_.rate * how_.weight_decay), x);
        T const step = static_cast<T>(how_.rate * detail::scale_of(matrix_scale::spectral, how_.rows, columns));
        at_each_index(on, chosen.size(), detail::moved_vectors<T>{x, chosen, order_, of, step});
    }

    double rate() const { return how_.rate; }
    /// M; empty before the first step.
    std::span<T const> sum() const { return sum_; }
    void state(auto& archive) { archive.vectors(sum_); }
    friend std::string to_string(dion2 const& s) { return to_string(s.how_); }

  private:
    // Puts the numbers of the vectors S, rising, into order_. A sum that is NaN counts as the largest.
    void choose(B& on, detail::vectors_of_matrix const& of) {
        std::size_t const n = of.count();
        sizes_.resize(n);
        at_each_index(on, n, detail::sums_of_vectors<T>{sum_, sizes_, of});
        auto const sizes = on_host(on, std::span<double const>(sizes_));
        order_on_host_.resize(n);
        std::iota(order_on_host_.begin(), order_on_host_.end(), std::size_t(0));
        auto const larger = [&](std::size_t a, std::size_t b) {
            bool const a_nan = std::isnan(sizes[a]), b_nan = std::isnan(sizes[b]);
            if (a_nan != b_nan) return a_nan;
            return sizes[a] != sizes[b] && !a_nan ? sizes[a] > sizes[b] : a < b;
        };
        std::size_t const k =
            std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(how_.fraction * static_cast<double>(n))));
        auto const first = order_on_host_.begin();
        std::partial_sort(first, first + static_cast<std::ptrdiff_t>(k), order_on_host_.end(), larger);
        std::sort(first, first + static_cast<std::ptrdiff_t>(k));
        order_.resize(k);
        copy_from_host(on, std::span<std::size_t const>(order_on_host_).first(k), std::span<std::size_t>(order_));
    }

    dion2_options how_;
    typename B::template array<T> sum_, chosen_;
    typename B::template array<double> sizes_;
    typename B::template array<std::size_t> order_;
    std::vector<std::size_t> order_on_host_;
    detail::orthogonalizer<T, B> orthogonalize_;
};

}  // namespace laconic
