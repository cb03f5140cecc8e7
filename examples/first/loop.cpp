// SPDX-License-Identifier: Apache-2.0
// Four ranks fit one linear model, each to samples of its own; each message holds 10 of the 100 numbers.
#include <algorithm>
#include <cstdio>
#include <laconic/reduce.hpp>
#include <numeric>
#include <random>
#include <vector>

int main() {
    laconic::threads::run(4, [](auto& comm) {
        std::mt19937 random(comm.rank());
        std::normal_distribution<float> normal;
        std::vector<float> w(100), gradient(100), sample(100);
        laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.1}}, comm, gradient);
        for (int step = 0; step < 2000; ++step) {
            for (float& v : sample) v = normal(random);
            // The true weights are 1.
            float const error = std::inner_product(sample.begin(), sample.end(), w.begin(), 0.0f) -
                                std::accumulate(sample.begin(), sample.end(), 0.0f);
            for (std::size_t i = 0; i < w.size(); ++i) gradient[i] = error * sample[i];
            reduce(gradient);  // the estimate of all ranks' mean, the same on each rank
            for (std::size_t i = 0; i < w.size(); ++i) w[i] -= 0.005f * gradient[i];
        }
        auto const [low, high] = std::minmax_element(w.begin(), w.end());
        if (comm.rank() == 0) std::printf("weights from %.3f to %.3f\n", *low, *high);
    });
}
