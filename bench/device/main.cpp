// SPDX-License-Identifier: Apache-2.0
// bench_device [N]: the device's kernels on the first GPU, on N floats (2^28), beside what a user would pick instead. A
// row: the least time of ten runs, the bytes that the result needs to be read and written, these per second, and that
// as a share of what a copy within the GPU's memory moves in the same process. bench/device.py puts torch.topk beside
// them.
#include <cstdio>
#include <cstdlib>

#include "kernels.hpp"
#include "laconic/core/error.hpp"

int main(int count, char** arguments) {
    auto const n = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1ull << 28;
    if (n < 2048 || n >= 1ull << 31) {
        std::fprintf(stderr, "bench_device: N = %s is not from 2048 to 2^31 - 1\n", arguments[1]);
        return 1;
    }
    if (!device_bench::is_there()) {
        std::puts("no GPU here: nothing is measured");
        return 77;
    }
    try {
        device_bench::measure(n);
    } catch (laconic::error const& e) {
        std::fprintf(stderr, "bench_device: %s\n", e.what());
        return 1;
    }
}
