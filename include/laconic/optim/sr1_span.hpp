// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/view.hpp"
#include "laconic/optim/sr1.hpp"
#include "laconic/optim/steihaug.hpp"

namespace laconic {

/// Steihaug's search on an sr1 model in the span of g and Psi, which it does not leave: on coefficients, from inner
/// products alone. These add up where vectors are cut into parts. They take the place of vectors' norms at about half
/// of the digits. In double whatever T is. Reuses its memory.
template <Scalar T>
class sr1_span {
  public:
    explicit sr1_span(std::size_t m) : m_(m), products_(size(m)), e_(m + 1), c_(m + 1) {}

    /// How many inner products there are of m pairs.
    static constexpr std::size_t size(std::size_t m) { return 2 * m * m + m + 1; }
    /// Those of the given parts of all vectors, s(j) and psi(j) for j < m, and g: S'Psi, as sr1::accept takes it first,
    /// Psi'Psi, Psi'g and g'g.
    template <class S, class Psi>
    std::span<T> multiply(host& on, S s, Psi psi, std::span<T const> g) {
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
    template <class Limits>
    steihaug_result search(host& on, sr1<T>& pairs, Limits limits) {
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
    template <class Psi>
    void combine(host& on, Psi psi, std::span<T const> g, std::span<T> out) const {
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
