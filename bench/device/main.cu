// SPDX-License-Identifier: Apache-2.0
// bench_device [n]: the device's kernels on the first GPU, on n floats (2^28), beside what a user would pick instead. A
// row: the least time of several runs, the bytes that the result needs to be read and written, per second, and that as
// a share of what a copy within the GPU's memory moves in the same process.
#include <cuda_runtime_api.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "laconic/backend/device.hpp"

namespace {

using namespace laconic;
using detail::on_device::check;

// The least milliseconds of a call; the first pays for scratch memory.
template <class F>
float least_time(device& on, F call) {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    float least = 1e30f;
    for (int run = 0; run < 12; ++run) {
        check(cudaEventRecord(begin, on.stream()));
        call();
        check(cudaEventRecord(end, on.stream()));
        check(cudaEventSynchronize(end));
        float time = 0;
        check(cudaEventElapsedTime(&time, begin, end));
        if (run > 1) least = std::min(least, time);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return least;
}

}  // namespace

int main(int count, char** arguments) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::puts("no GPU here: nothing is measured");
        return 77;
    }
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0));
    std::size_t const n = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : std::size_t{1} << 28;
    std::size_t const bucket = 512, buckets = (n + bucket - 1) / bucket;
    auto const numbers = static_cast<double>(n);

    device on;
    device::array<float> x(n), y(n), z(n), steps(buckets);
    device::array<std::int16_t> levels(n);
    device::array<std::uint16_t> powers(n);
    device::array<std::uint64_t> words((n + 63) / 64);
    device::array<coordinate> at;
    draw_symmetric(on, key{1}, 0, std::span<float>(x));
    std::span<float const> const in(x);
    std::span<float> const out(y), other(z);

    std::printf("%s, n = %zu floats\n\n| | ms | GB/s | of a copy |\n|---|---|---|---|\n", properties.name, n);
    double copied = 0;
    auto const row = [&](char const* name, double bytes, auto call) {
        double const time = least_time(on, call), speed = bytes / time / 1e6;
        if (copied == 0) copied = speed;
        std::printf("| %s | %.3f | %.0f | %.2f |\n", name, time, speed, speed / copied);
        std::fflush(stdout);
    };
    row("copy", 8 * numbers, [&] { copy(on, in, out); });
    row("add_scaled", 12 * numbers, [&] { add_scaled(on, 0.5f, in, out); });
    row("complete_and_remember", 16 * numbers, [&] { complete_and_remember(on, out, 0.5f, other); });
    row("gather_momentum", 20 * numbers, [&] { gather_momentum(on, 0.9f, false, out, in, in, other); });
    for (double const share : {0.001, 0.01, 0.1}) {
        auto const k = static_cast<std::size_t>(share * numbers);
        char name[64];
        std::snprintf(name, sizeof name, "select_largest, k = %g n", share);
        row(name, 4 * numbers, [&] { select_largest(on, in, k, at); });
    }
    row("sample, k = 0.01 n", 0.04 * numbers, [&] { sample(on, key{2}, n, n / 100, at); });
    row("round_buckets_to_levels, largest", 6 * numbers, [&] {
        round_buckets_to_levels(on, in, bucket, norm::largest, 4, key{3}, std::span<float>(steps), std::span(levels));
    });
    row("round_buckets_to_levels, 2-norm", 6 * numbers, [&] {
        round_buckets_to_levels(on, in, bucket, norm::two, 4, key{3}, std::span<float>(steps), std::span(levels));
    });
    row("round_to_powers", 6 * numbers, [&] { round_to_powers(on, in, key{3}, 0, std::span(powers)); });
    row("pack_signs", 4.125 * numbers, [&] { pack_signs(on, in, std::span(words)); });
    row("largest_magnitude", 4 * numbers, [&] { largest_magnitude(on, in); });
    row("sum_of_squares", 4 * numbers, [&] { sum_of_squares(on, in); });
    row("thrust::sort", 8 * numbers, [&] {
        copy(on, in, out);
        thrust::sort(on.policy(), out.data(), out.data() + out.size());
    });
}
