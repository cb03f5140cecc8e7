// SPDX-License-Identifier: Apache-2.0
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

}  // namespace convergence
