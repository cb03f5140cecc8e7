// SPDX-License-Identifier: Apache-2.0
// The mean of gradients whose numbers travel in 16 bits and are added up in full.
#include <cstdio>
#include <laconic/collective/dense/ring.hpp>
#include <laconic/collective/dense/two_shot.hpp>
#include <laconic/reduce.hpp>
#include <vector>

int main() {
    laconic::threads::run(4, [](auto& comm) {
        std::vector<float> gradient(1000, 1.0f + 0.001f * static_cast<float>(comm.rank())), mean = gradient;
        laconic::reducer reduce(laconic::plain{laconic::identity{}, laconic::two_shot{}}, comm, gradient);
        reduce(gradient);
        laconic::reducer exact(laconic::plain{laconic::identity{}, laconic::ring{}}, comm, mean);
        exact(mean);
        double average = 0;
        for (float const x : gradient) average += x / 1000.0;
        if (comm.rank() == 0)
            std::printf("%zu bytes, not %zu: %.4f on the average, for %.4f\n",
                        std::size_t(reduce.statistics().bytes_sent), std::size_t(exact.statistics().bytes_sent),
                        average, mean[0]);
    });
}
