// SPDX-License-Identifier: Apache-2.0
// Gradients travel as bf16, half of the bytes of float.
#include <cstdio>
#include <laconic/reduce.hpp>
#include <vector>

int main() {
    laconic::threads::run(4, [](auto& comm) {
        std::vector<float> gradient(1000, 1.0f + 0.001f * static_cast<float>(comm.rank()));
        laconic::reducer reduce(laconic::unproved{laconic::plain{laconic::bf16{}}}, comm, gradient);
        reduce(gradient);
        laconic::reducer exact(laconic::plain{}, comm, gradient);
        std::vector<float> mean(1000, 1.0f + 0.001f * static_cast<float>(comm.rank()));
        exact(mean);
        if (comm.rank() == 0)
            std::printf("%zu bytes, not %zu: %.4f for %.4f\n", std::size_t(reduce.statistics().bytes_sent),
                        std::size_t(exact.statistics().bytes_sent), gradient[0], mean[0]);
    });
}
