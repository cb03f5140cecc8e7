// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "laconic/backend/host.hpp"

namespace laconic {

/// When steihaug ends at the latest.
struct steihaug_limits {
    double radius = 1;      ///< |z| is at most this
    double tolerance = 0;   ///< the norm of the residual g + B z at which it has converged
    std::size_t most = 10;  ///< products with B
};
/// Why it ended: within the tolerance, at the radius along a direction in which the model does not curve upwards, at
/// the radius, or after the most products.
enum class steihaug_end { converged, no_curvature, radius, products };
/// What it found: the model's decrease -(g'z + z'Bz / 2), |z|, and how many products it took.
struct steihaug_result {
    double decrease = 0, norm = 0;
    std::size_t products = 0;
    steihaug_end why = steihaug_end::converged;
};

/// The inner product of two vectors on the host, in the order of sum_order.hpp: the same bits on all ranks.
template <Scalar T>
double inner_product(host& on, std::span<T const> a, std::span<T const> b) {
    T product = 0;
    multiply_matrix(on, a, kernels::matrix_is::as_it_stands, b, 1, std::span<T>(&product, 1));
    return static_cast<double>(product);
}

/// Conjugate gradients on the model g'z + z'Bz / 2 within |z| <= radius, B symmetric and maybe indefinite (Steihaug,
/// SIAM J. Numer. Anal. 1983). A direction d counts as one without curvature where d'Bd <= 1e-12 |d|^2. By kernels of
/// the host: ranks with the same numbers get the same bits. Reuses its memory.
template <Scalar T>
class steihaug {
  public:
    /// Writes z; apply(d, out) writes B d to out, and dot(a, b) is the inner product of which |.| is the norm.
    steihaug_result operator()(host& on, std::span<T const> g, std::span<T> z, steihaug_limits const& until, auto apply,
                               auto dot) {
        auto const n = g.size();
        LACONIC_EXPECTS(z.size() == n);
        direction_.resize(n), residual_.resize(n), image_.resize(n);
        std::span<T> const d(direction_), r(residual_), bd(image_);
        auto const inner = [&](std::span<T> a, std::span<T> b) {
            return static_cast<double>(dot(std::span<T const>(a), std::span<T const>(b)));
        };
        fill(on, z, T(0));
        copy(on, g, r);
        steihaug_result found;
        double rr = inner(r, r), zz = 0;
        auto const norm = [](double square) { return std::sqrt(std::max(0., square)); };  // by a rounded dot()
        auto const end = [&](steihaug_end why) {
            double const slope = dot(g, std::span<T const>(z));
            found.decrease = -(slope + inner(z, r)) / 2;  // z'Bz = z'(r - g)
            found.norm = norm(zz);
            found.why = why;
            return found;
        };
        if (!(norm(rr) > until.tolerance)) return end(steihaug_end::converged);
        copy(on, g, d);
        multiply(on, T(-1), d);
        while (found.products < until.most) {
            apply(std::span<T const>(d), bd);
            ++found.products;
            double const curvature = inner(d, bd), dd = inner(d, d), zd = inner(z, d);
            if (!(dd > 0)) return end(steihaug_end::converged);
            bool const curved = curvature > 1e-12 * dd;
            double length = curved ? rr / curvature : 0;
            double const next_zz = zz + length * (2 * zd + length * dd);
            bool const inside = curved && norm(next_zz) < until.radius;
            // To the radius: the positive root of |z + length d|^2 = radius^2, without cancellation where z'd > 0.
            if (!inside) {
                double const left = (until.radius - norm(zz)) * (until.radius + norm(zz));
                double const root = std::sqrt(zd * zd + dd * left);
                length = zd > 0 ? left / (zd + root) : (root - zd) / dd;
            }
            add_scaled(on, static_cast<T>(length), std::span<T const>(d), z);
            add_scaled(on, static_cast<T>(length), std::span<T const>(bd), r);
            zz = inner(z, z);
            if (!inside) return end(curved ? steihaug_end::radius : steihaug_end::no_curvature);
            double const next = inner(r, r);
            if (norm(next) <= until.tolerance) return end(steihaug_end::converged);
            multiply(on, static_cast<T>(next / rr), d);
            add_scaled(on, T(-1), std::span<T const>(r), d);
            rr = next;
        }
        return end(steihaug_end::products);
    }
    /// With the usual inner product.
    steihaug_result operator()(host& on, std::span<T const> g, std::span<T> z, steihaug_limits const& until,
                               auto apply) {
        return (*this)(on, g, z, until, apply,
                       [&](std::span<T const> a, std::span<T const> b) { return inner_product(on, a, b); });
    }

  private:
    host::array<T> direction_, residual_, image_;
};

}  // namespace laconic
