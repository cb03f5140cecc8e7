// SPDX-License-Identifier: Apache-2.0
// Four ranks reduce vectors of a GPU's memory: residuals and messages stay there, too.
#include <cstdio>
#include <laconic/backend/device.hpp>
#include <laconic/reduce.hpp>
#include <span>
#include <vector>

int main() {
    if (!laconic::device::is_there()) return std::puts("there is no device"), 77;
    laconic::threads::run(4, [](auto& comm) {
        std::vector<float> numbers(1000, static_cast<float>(comm.rank()));  // in a program, a kernel writes these
        laconic::device on;
        laconic::device::array<float> gradient(numbers.size());
        copy_from_host(on, std::span<float const>(numbers), std::span<float>(gradient));
        laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.1}}, comm, gradient, {}, on);
        reduce(gradient);
        copy_to_host(on, std::span<float const>(gradient), std::span<float>(numbers));
        if (comm.rank() == 0) std::printf("%g ... %g\n", numbers.front(), numbers.back());
    });
    return 0;
}
