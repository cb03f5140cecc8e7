// SPDX-License-Identifier: Apache-2.0
// Expectations on spheres, as recursions in second moments.
#include "moments.hpp"

namespace convergence {

vec diana_moments(toy const& f, double omega, double alpha, double step, std::size_t rounds) {
    // X = E|x|^2, U = E mean |u_i|^2 and C = E<x, mean u_i> for u_i = h_i - h_i*; a message is of x - u_i.
    double x = f.distance(f.start), u = f.heterogeneity, c = 0;
    vec all{x};
    for (std::size_t k = 0; k < rounds; ++k) {
        double const s = x + u - 2 * c, noise = omega / f.size() * s, cross = (1 - alpha) * c + alpha * x;
        u = (1 - alpha) * (1 - alpha) * u + 2 * alpha * (1 - alpha) * c + alpha * alpha * (x + omega * s);
        c = (1 - step) * cross - step * alpha * noise;
        x = (1 - step) * (1 - step) * x + step * step * noise;
        all.push_back(x);
    }
    return all;
}

vec ef_moments(toy const& f, double q, double step, std::size_t rounds) {
    // E = mean |e_i|^2, D = |mean e_i|^2, C = <x, mean e_i>, B = mean <e_i, b_i> for g_i = x - b_i.
    double x = f.distance(f.start), e = 0, d = 0, c = 0, b = 0;
    vec all{x};
    for (std::size_t k = 0; k < rounds; ++k) {
        double const each = e + 2 * step * c + step * step * x - 2 * step * b + step * step * f.heterogeneity;
        double const mean = d + 2 * step * c + step * step * x, cross = c + step * x;
        double const drawn = q * (1 - q) * each / f.size();  // the variance of the mean message, and of what is left
        x += -2 * q * cross + q * q * mean + drawn;
        c = (1 - q) * cross - q * (1 - q) * mean + drawn;
        e = (1 - q) * each;
        d = (1 - q) * (1 - q) * mean + drawn;
        b = (1 - q) * (b - step * f.heterogeneity);
        all.push_back(x);
    }
    return all;
}

vec ef21_moments(toy const& f, double q, double step, std::size_t rounds) {
    // u_i = h_i - h_i*, W = |mean u_i|^2.
    double x = f.distance(f.start), u = f.heterogeneity, w = 0, c = 0;
    vec all{x};
    for (std::size_t k = 0; k < rounds; ++k) {
        double const drawn = q * (1 - q) * (x + u - 2 * c) / f.size(), cross = (1 - q) * c + q * x;
        w = (1 - q) * (1 - q) * w + 2 * q * (1 - q) * c + q * q * x + drawn;
        u = (1 - q) * u + q * x;
        x += -2 * step * cross + step * step * w;
        c = cross - step * w;
        all.push_back(x);
    }
    return all;
}

vec vr_diana_moments(toy const& f, double omega, double alpha, double step, std::size_t rounds) {
    // Row j's curvature is a_j, a their mean and a2 that of their squares. A message is of a_j (x - w) + a w - u_i.
    auto const m = static_cast<double>(f.constants.samples);
    double const a = (m + 1) / (2 * m), a2 = (m + 1) * (2 * m + 1) / (6 * m * m);
    double x = f.distance(f.start), u = f.heterogeneity, c = 0, w = x, y = x;  // W = |w|^2, Y = <x, w>
    vec all{x};
    for (std::size_t k = 0; k < rounds; ++k) {
        double const common = a * a * x - 2 * a * c;
        double const each = a2 * (x - 2 * y + w) + a * a * (2 * y - w) - 2 * a * c + u;
        double const drawn = ((1 + omega) * each - common - u) / f.size();  // the variance of the mean message
        double const cross = (1 - alpha) * c + alpha * a * x;
        double const next_x = (1 - step * a) * (1 - step * a) * x + step * step * drawn;
        double const next_c = (1 - step * a) * cross - step * alpha * drawn;
        double const next_y = (1 - step * a) * y;
        u += 2 * alpha * (a * c - u) + alpha * alpha * (1 + omega) * each;
        // With probability 1 / m the next reference is the x before the step.
        y = next_y + ((1 - step * a) * x - next_y) / m;
        w += (x - w) / m;
        x = next_x;
        c = next_c;
        all.push_back(x);
    }
    return all;
}

vec isaga_moments(toy const& f, double q, double step, std::size_t rounds) {
    // Worker by worker, row j's table is its gradient at some phi_j, coordinate by coordinate; c_j = <x, phi_j>, s_jl =
    // <phi_j, phi_l>, psi = mean_j a_j phi_j, and a row's estimate is g_j = a_j (x - phi_j) + psi, of mean a x.
    std::size_t const rows = f.constants.samples;
    auto const m = static_cast<double>(rows), n = f.size();
    double const a = (m + 1) / (2 * m);
    auto const curvature = [&](std::size_t j) { return static_cast<double>(j + 1) / m; };
    double x = f.distance(f.start);
    vec all{x}, c(rows, x);
    std::vector<vec> s(rows, vec(rows, x));
    for (std::size_t k = 0; k < rounds; ++k) {
        double x_psi = 0, psi_psi = 0, each = 0;
        vec phi_psi(rows);
        for (std::size_t j = 0; j < rows; ++j) {
            x_psi += curvature(j) * c[j] / m;
            for (std::size_t l = 0; l < rows; ++l) phi_psi[j] += curvature(l) * s[j][l] / m;
            psi_psi += curvature(j) * phi_psi[j] / m;
            each += curvature(j) * curvature(j) * (x - 2 * c[j] + s[j][j]) / m;
        }
        each += 2 * a * x_psi - psi_psi;  // E|g|^2
        vec next(rows);
        for (std::size_t j = 0; j < rows; ++j) {
            double with_own = 0;  // <g, phi_j after it>, g being of the row that is drawn
            for (std::size_t l = 0; l < rows; ++l)
                with_own += l == j ? curvature(l) * (x - c[l]) + x_psi : curvature(l) * (c[j] - s[l][j]) + phi_psi[j];
            next[j] = (1 - step * q * a * (n - 1) / n) * (c[j] + q / m * (x - c[j])) - step * q / (n * m) * with_own;
        }
        for (std::size_t j = 0; j < rows; ++j)
            for (std::size_t l = 0; l < rows; ++l)
                s[j][l] += j == l ? q / m * (x - s[j][j]) : q / m * (c[j] + c[l] - 2 * s[j][l]);
        x += -2 * step * q * a * x + step * step * q / n * ((n - 1) * q * a * a * x + each);
        c = next;
        all.push_back(x);
    }
    return all;
}

}  // namespace convergence
