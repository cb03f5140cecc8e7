// SPDX-License-Identifier: Apache-2.0
// The time that messages take on a simulated network of 100 Mbit/s, in full and compressed.
#include <cstdio>
#include <laconic/comm/delayed.hpp>
#include <laconic/reduce.hpp>
#include <vector>

template <class Reduction>
void train(char const* name, Reduction const& how) {
    laconic::threads::run(4, [&](auto& comm) {
        laconic::delayed link(comm, {.latency = 100e-6, .seconds_per_bit = 1 / 100e6});
        std::vector<float> gradient(100000);
        laconic::reducer reduce(how, link, gradient, {.seed = 1});
        for (int step = 0; step < 10; ++step) {
            for (std::size_t i = 0; i < gradient.size(); ++i)
                gradient[i] = 1 / static_cast<float>(1 + (i * 7919 + std::size_t(step)) % gradient.size());
            reduce(gradient);
        }
        if (comm.rank() == 0) std::printf("%-28s %6.1f ms a step\n", name, 100 * link.clock());
    });
}

int main() {
    train("in full, around a ring", laconic::plain{laconic::identity{}, laconic::ring{}});
    train("top-k, 1 %", laconic::error_feedback{laconic::top_k{0.01}});
    train("top-k, 1 %, numbers of 4 bits", laconic::error_feedback{laconic::top_k{0.01} | laconic::damped_quantize{7, 128}});
}
