// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "laconic/optim/ldlt.hpp"
#include "laconic/optim/steihaug.hpp"

namespace laconic {

/// A symmetric matrix H of d x d as m directions s_j and products y_j = H s_j show it, by symmetric rank-one updates of
/// gamma I (Berahas, Jahani, Richtarik, Takac, arXiv:1901.09997), in the compact form
///
///     B = gamma I + Psi M^-1 Psi',    Psi = Y - gamma S,    M = S'Psi, symmetric as H is,
///
/// over the pairs that are accepted: B s_j = y_j for each, and B = H once d are. Vectors stand one after another. It
/// sums nothing over ranks: its caller may between any two calls. Memory: 2 m d numbers.
template <Scalar T = double>
class sr1 {
  public:
    sr1(std::size_t d, std::size_t m, double gamma)
        : d_(d), m_(m), gamma_(gamma), s_(m * d), psi_(m * d), square_(m), row_(m + 1), solved_(m) {
        taken_.reserve(m);
        factors_.start(m);
    }

    std::size_t dimension() const { return d_; }
    std::size_t memory() const { return m_; }
    double gamma() const { return gamma_; }
    std::span<T> s() { return s_; }
    std::span<T> psi() { return psi_; }

    /// The directions: numbers uniform in (-1, 1), the same on all ranks with this key, machines that differ included.
    void draw(host& on, key shared) { draw_symmetric(on, shared, 0, s()); }
    /// psi_j <- H s_j - gamma s_j; times(s_j, out) writes H s_j to out.
    void multiply(host& on, auto times) {
        for (std::size_t j = 0; j < m_; ++j) {
            auto const from = std::span<T const>(s_).subspan(j * d_, d_);
            auto const to = psi().subspan(j * d_, d_);
            times(from, to);
            if (gamma_ != 0) add_scaled(on, static_cast<T>(-gamma_), from, to);
        }
    }
    /// out <- S'Psi, m x m, column after column.
    void inner(host& on, std::span<T> out) const {
        multiply_matrix(on, std::span<T const>(s_), kernels::matrix_is::as_it_stands, std::span<T const>(psi_), m_,
                        out);
    }

    /// Accepts pairs by their pivots in the LDL' of S'Psi, made symmetric: that of pair j is s_j'(y_j - B s_j), B being
    /// that of the pairs before it, so that no vector of d numbers is looked at. It must be above epsilon times
    /// |s_j|^2 times the largest |s_i'psi_i| / |s_i|^2, and above epsilon times the magnitudes whose difference it is:
    /// what is left of a direction that depends on earlier ones is rounding. Throws nothing; returns how many are
    /// accepted.
    std::size_t accept(host& on, std::span<T const> inner) {
        LACONIC_EXPECTS(inner.size() == m_ * m_);
        factors_.start(m_), taken_.clear();
        steepest_ = 0;
        for (std::size_t j = 0; j < m_; ++j) {
            square_[j] = sum_of_squares(on, std::span<T const>(s_).subspan(j * d_, d_));
            steepest_ = std::max(steepest_, std::abs(double(inner[j * m_ + j])) / square_[j]);
        }
        for (std::size_t j = 0; j < m_; ++j) {
            auto const row = std::span(row_).first(taken_.size() + 1);
            auto const at = [&](std::size_t i) { return (double(inner[i * m_ + j]) + double(inner[j * m_ + i])) / 2; };
            for (std::size_t i = 0; i < taken_.size(); ++i) row[i] = at(taken_[i]);
            row.back() = at(j);
            auto const pivot = factors_.look(row);
            if (!(std::abs(pivot.value) > epsilon * std::max(square_[j] * steepest_, pivot.magnitude))) continue;
            factors_.keep();
            taken_.push_back(j);
        }
        return taken_.size();
    }
    /// Which pairs are accepted, and their pivots.
    std::span<std::size_t const> accepted() const { return taken_; }
    std::span<double const> pivots() const { return factors_.pivots(); }
    /// The largest |s_j'psi_j| / |s_j|^2 of the last pairs.
    double steepest() const { return steepest_; }

    /// u <- Psi'v, m numbers.
    void project(host& on, std::span<T const> v, std::span<T> u) const {
        multiply_matrix(on, std::span<T const>(psi_), kernels::matrix_is::as_it_stands, v, 1, u);
    }
    /// u <- M^-1 u over the accepted pairs, 0 for the others.
    template <Scalar U>
    void solve(std::span<U> u) {
        LACONIC_EXPECTS(u.size() == m_);
        auto const b = std::span(solved_).first(taken_.size());
        for (std::size_t i = 0; i < taken_.size(); ++i) b[i] = double(u[taken_[i]]);
        factors_.solve(b);
        std::fill(u.begin(), u.end(), U(0));
        for (std::size_t i = 0; i < taken_.size(); ++i) u[taken_[i]] = static_cast<U>(b[i]);
    }
    /// out <- Psi u.
    void combine(host& on, std::span<T const> u, std::span<T> out) const {
        multiply_matrix(on, std::span<T const>(psi_), kernels::matrix_is::transposed, u, 1, out);
    }
    /// out <- B v, with u as workspace of m numbers. sum_u() and sum_out() come between the steps: they add up u and
    /// out over the ranks where each rank's psi is of its own H.
    void times(host& on, std::span<T const> v, std::span<T> u, std::span<T> out, auto sum_u, auto sum_out) {
        sum_u([&] { project(on, v, u); });
        solve(u);
        sum_out([&] { combine(on, u, out); });
        if (gamma_ != 0) add_scaled(on, static_cast<T>(gamma_), v, out);
    }

  private:
    static constexpr double epsilon = std::same_as<T, float> ? 1e-5 : 1e-8;

    std::size_t d_, m_;
    double gamma_, steepest_ = 0;
    host::array<T> s_, psi_;
    std::vector<double> square_, row_, solved_;
    std::vector<std::size_t> taken_;
    ldlt factors_;
};

/// Steihaug's search on an sr1 model in the span of g and Psi, which it does not leave: on coefficients, from inner
/// products alone, which add up where vectors are cut into parts. In double whatever T is. Reuses its memory.
template <Scalar T>
class sr1_span {
  public:
    explicit sr1_span(std::size_t m) : m_(m), products_(size(m)), e_(m + 1), c_(m + 1) {}

    /// How many inner products there are of m pairs.
    static constexpr std::size_t size(std::size_t m) { return 2 * m * m + m + 1; }
    /// Those of the given parts of all vectors, s(j) and psi(j) for j < m, and g: S'Psi, as sr1::accept takes it first,
    /// Psi'Psi, Psi'g and g'g.
    std::span<T> multiply(host& on, auto s, auto psi, std::span<T const> g) {
        auto const dot = [&](std::span<T const> a, std::span<T const> b) {
            return a.empty() ? T(0) : static_cast<T>(inner_product(on, a, b));
        };
        for (std::size_t i = 0; i < m_; ++i) {
            for (std::size_t j = 0; j < m_; ++j) {
                products_[i * m_ + j] = dot(s(j), psi(i));
                products_[(m_ + i) * m_ + j] = dot(psi(j), psi(i));
            }
            products_[2 * m_ * m_ + i] = dot(psi(i), g);
        }
        products_.back() = dot(g, g);
        return products_;
    }
    /// The products, to be added up over the parts.
    std::span<T> products() { return products_; }

    /// The search; |g| comes from the products, limits(|g|) are its limits. What it finds stands in coefficients():
    /// c_0 g + c_1 psi_1 + .. + c_m psi_m. Where that is not finite, all are 0.
    steihaug_result search(host& on, sr1<T>& pairs, auto limits) {
        auto const n = m_ + 1;
        auto const row = [&](std::span<double const> c, std::size_t i) {
            double sum = 0;
            for (std::size_t j = 0; j < n; ++j) sum += gram(i, j) * c[j];
            return sum;
        };
        auto const apply = [&](std::span<double const> v, std::span<double> out) {
            out[0] = 0;
            for (std::size_t i = 1; i < n; ++i) out[i] = row(v, i);
            pairs.solve(out.subspan(1));
            add_scaled(on, pairs.gamma(), v, out);
        };
        auto const dot = [&](std::span<double const> a, std::span<double const> b) {
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i) sum += a[i] * row(b, i);
            return sum;
        };
        e_.assign(n, 0), e_[0] = 1;
        auto const found = search_(on, std::span<double const>(e_), std::span<double>(c_),
                                   limits(std::sqrt(std::max(0., gram(0, 0)))), apply, dot);
        if (!std::isfinite(found.decrease)) c_.assign(n, 0);
        return found;
    }
    std::span<double const> coefficients() const { return c_; }
    /// out <- what they stand for, in the given parts of all vectors.
    void combine(host& on, auto psi, std::span<T const> g, std::span<T> out) const {
        fill(on, out, T(0));
        add_scaled(on, static_cast<T>(c_[0]), g, out);
        for (std::size_t j = 0; j < m_; ++j) add_scaled(on, static_cast<T>(c_[j + 1]), psi(j), out);
    }

  private:
    // The inner products of g, which is number 0, and Psi.
    double gram(std::size_t i, std::size_t j) const {
        if (i == 0 && j == 0) return double(products_.back());
        if (i == 0 || j == 0) return double(products_[2 * m_ * m_ + i + j - 1]);
        return double(products_[(m_ + std::max(i, j) - 1) * m_ + std::min(i, j) - 1]);
    }

    std::size_t m_;
    std::vector<T> products_;
    std::vector<double> e_, c_;
    steihaug<double> search_;
};

}  // namespace laconic
