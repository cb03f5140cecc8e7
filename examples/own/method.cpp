// SPDX-License-Identifier: Apache-2.0
// A method of your own: which parts it takes, and their numbers from the constants of the problem.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <laconic/laconic.hpp>
#include <span>
#include <vector>

// Rank r minimises half the sum of i (x_i - r)^2 over i = 1 .. d: all together find x_i = the mean of the ranks.
struct bowl {
    double r;
    std::size_t d = 20;

    std::size_t dimension() const { return d; }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (std::size_t i = 0; i < d; ++i) sum += static_cast<double>(i + 1) * (x[i] - r) * (x[i] - r) / 2;
        return sum;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t i = 0; i < d; ++i) g[i] = static_cast<double>(i + 1) * (x[i] - r);
    }
    double smoothness() const { return static_cast<double>(d); }
    double strong_convexity() const { return 1; }
};

// EF21 with a heavy ball: each rank sends what is new in its gradient, compressed; the step has momentum.
template <class C>
struct heavy_ef21 {
    C compressor;
    double beta = 0.8;

    template <laconic::Scalar T, class B>
    auto compose(laconic::problem const& p) const {
        if (!(p.smoothness > 0)) throw laconic::theory_error("heavy_ef21: its step needs the smoothness L");
        double const step = (1 - beta) / p.smoothness;
        using memory = laconic::memory<T, B>;
        using momentum = laconic::momentum<T, B>;
        return laconic::recursion<C, memory, momentum>{
            .compressor = compressor,
            .feedback = {1, 0},     // the shift h takes all of each message; no residual
            .step = {step, beta}};  // the other parts are the usual ones: all rows, a fixed level, an all-gather
    }
};
template <class C>
heavy_ef21(C) -> heavy_ef21<C>;

// How far x is from the optimum after so many rounds of a method.
double distance(auto const& method, int rounds) {
    double worst = 0;
    laconic::threads::run(4, [&](auto& comm) {
        std::vector<double> x(20);
        laconic::descend(method, bowl{1.0 * comm.rank()}, x, comm,
                         {.rounds = static_cast<std::uint64_t>(rounds), .seed = 1});
        if (comm.rank() > 0) return;
        for (double const v : x) worst = std::max(worst, std::abs(v - 1.5));
    });
    return worst;
}

int main() {
    auto const c = laconic::top_k{5};
    double const plain = distance(laconic::ef21{c, {.step = laconic::step_size(0.2, true)}}, 300);
    double const heavy = distance(heavy_ef21{c}, 300);
    std::printf("after 300 rounds of 5 numbers, %.0e from the optimum by ef21 and %.0e by heavy_ef21\n", plain, heavy);
    return !(heavy < plain / 100);
}
