// SPDX-License-Identifier: Apache-2.0
// What to look at where a run does not converge: the estimate beside the mean in full, and whether ranks are still alike.
#include <cstdio>
#include <laconic/reduce.hpp>
#include <vector>

int main() {
    for (double const k : {0.001, 0.01, 0.1})
        laconic::threads::run(4, [&](auto& comm) {
            std::vector<float> gradient(10000);
            laconic::reducer reduce(laconic::error_feedback{laconic::top_k{k}}, comm, gradient,
                                    {.seed = 1, .probe_every = 1, .verify_every = 1});
            for (int step = 0; step < 20; ++step) {
                for (std::size_t i = 0; i < gradient.size(); ++i)
                    gradient[i] = 1 / static_cast<float>(1 + (i * 7919 + std::size_t(comm.rank())) % gradient.size());
                reduce(gradient);  // throws where ranks differ
            }
            auto const probe = reduce.statistics().last_probe;
            if (comm.rank() == 0) std::printf("top_k{%g}: cosine %.2f\n", k, probe.cosine);
        });
}
