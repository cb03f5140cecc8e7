// SPDX-License-Identifier: Apache-2.0
// An objective of your own: a robust line through data with outliers, by DIANA, whose theorem gives the step.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <laconic/laconic.hpp>
#include <random>
#include <span>
#include <vector>

// The mean over the rows of huber(a_j . x - y_j), plus (lambda / 2) |x|^2. Huber's loss is z^2 / 2 up to |z| = 1, and
// |z| - 1/2 beyond. A method needs dimension, value and gradient; a theorem also needs the last two.
struct robust_fit {
    std::size_t features;
    std::vector<double> a, y;  // a has the rows one after another
    double lambda = 0.1;

    std::size_t dimension() const { return features; }
    double value(std::span<double const> x) const {
        double sum = 0, squares = 0;
        for (std::size_t j = 0; j < y.size(); ++j) {
            double const z = std::abs(error(j, x));
            sum += z < 1 ? z * z / 2 : z - 0.5;
        }
        for (double const v : x) squares += v * v;
        return sum / static_cast<double>(y.size()) + lambda / 2 * squares;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t i = 0; i < x.size(); ++i) g[i] = lambda * x[i];
        for (std::size_t j = 0; j < y.size(); ++j) {
            double const slope = std::clamp(error(j, x), -1.0, 1.0) / static_cast<double>(y.size());
            for (std::size_t i = 0; i < x.size(); ++i) g[i] += slope * a[j * features + i];
        }
    }
    // L: the loss bends by at most 1, so that the mean of |a_j|^2 bounds the rest. mu: the penalty alone.
    double smoothness() const {
        double squares = 0;
        for (double const v : a) squares += v * v;
        return squares / static_cast<double>(y.size()) + lambda;
    }
    double strong_convexity() const { return lambda; }

  private:
    double error(std::size_t j, std::span<double const> x) const {
        double z = -y[j];
        for (std::size_t i = 0; i < x.size(); ++i) z += a[j * features + i] * x[i];
        return z;
    }
};

// The largest difference between the gradient and what central differences of the value say.
double worst_slope(robust_fit const& f, std::vector<double> x) {
    std::vector<double> g(x.size());
    f.gradient(x, g);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const at = x[i], h = 1e-6;
        x[i] = at + h;
        double const above = f.value(x);
        x[i] = at - h;
        double const below = f.value(x);
        x[i] = at;
        worst = std::max(worst, std::abs((above - below) / (2 * h) - g[i]));
    }
    return worst;
}

int main() {
    bool wrong = false;
    laconic::threads::run(4, [&](auto& comm) {
        // Rows of this rank: y is the sum of the features, but every tenth is off by 100.
        std::mt19937 random(static_cast<unsigned>(comm.rank()));
        robust_fit f{.features = 5, .a = std::vector<double>(5 * 50), .y = std::vector<double>(50)};
        for (double& v : f.a) v = static_cast<double>(random()) / 4294967296.0 - 0.5;
        for (std::size_t j = 0; j < f.y.size(); ++j)
            for (std::size_t i = 0; i < 5; ++i) f.y[j] += f.a[5 * j + i] + (j % 10 == 0 ? 20 : 0);
        std::vector<double> x(5), g(5);
        double const slope = worst_slope(f, {0.3, -1, 2, 0, 1});
        laconic::descend(laconic::diana{laconic::rand_k{2}}, f, x, comm, {.rounds = 500, .seed = 1});
        f.gradient(x, g);
        laconic::mean(comm, g);
        double const left =
            *std::max_element(g.begin(), g.end(), [](double u, double v) { return std::abs(u) < std::abs(v); });
        if (comm.rank() > 0) return;
        wrong = slope > 1e-8 || std::abs(left) > 1e-6;
        std::printf("the gradient is that of the value: %s\n", slope < 1e-8 ? "yes" : "no");
        std::printf("x = %.3f %.3f %.3f %.3f %.3f, where no slope is above 1e-6: %s\n", x[0], x[1], x[2], x[3], x[4],
                    std::abs(left) < 1e-6 ? "yes" : "no");
    });
    return wrong;
}
