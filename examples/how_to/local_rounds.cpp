// SPDX-License-Identifier: Apache-2.0
// Ranks that communicate once in some local steps: bytes, and how far the agreed model is from the optimum.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <laconic/outer_reducer.hpp>
#include <laconic/reduce.hpp>
#include <vector>

constexpr std::size_t model_size = 1000;

// Each rank's own f(y) = sum_j curvature (y_j - centre)^2 / 2.
float curvature(int rank, std::size_t j) { return 1 + 0.5f * static_cast<float>((j + std::size_t(rank)) % 3); }
float centre(int rank, std::size_t j) {
    return std::sin(static_cast<float>(j)) + 0.1f * std::cos(static_cast<float>(j * std::size_t(rank + 1)));
}

template <class Reduction, class Step>
void train(char const* name, int local, Reduction const& how, Step outer_step) {
    laconic::threads::run(4, [&](auto& comm) {
        int const r = comm.rank();
        std::vector<float> model(model_size);
        laconic::outer_reducer outer(how, comm, model, outer_step, {.seed = 1});
        for (int step = 1; step <= 3000; ++step) {
            for (std::size_t j = 0; j < model_size; ++j)
                model[j] -= 0.02f * curvature(r, j) * (model[j] - centre(r, j));
            if (step % local == 0) outer(model);
        }
        double off = 0;
        for (std::size_t j = 0; j < model_size; ++j) {
            float sum = 0, of = 0;
            for (int i = 0; i < 4; ++i) sum += curvature(i, j) * centre(i, j), of += curvature(i, j);
            off += std::pow(double(model[j] - sum / of), 2);
        }
        if (r == 0)
            std::printf("%-38s %8llu bytes, %.4f from the optimum\n", name,
                        static_cast<unsigned long long>(outer.statistics().bytes_sent), std::sqrt(off / model_size));
    });
}

int main() {
    train("the mean in every step", 1, laconic::plain{}, laconic::gradient_step{});
    train("the mean in every 30th step", 30, laconic::plain{}, laconic::gradient_step{});
    train("in every 30th step, 4 bits a number", 30, laconic::plain{laconic::quantize{7, 128}},
          laconic::gradient_step{});
    train("DiLoCo with these, and a residual", 30, laconic::error_feedback{laconic::damped_quantize{7, 128}},
          laconic::momentum<float>({.rate = 0.7, .beta = 0.9, .nesterov = true}));
}
