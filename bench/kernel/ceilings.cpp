// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

#include "kernel.hpp"

namespace kernel_bench {

namespace {

// Of the processor, as Google Benchmark counts: what other programs do meanwhile is not in it.
double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The most bytes a second that pass() does, which passes over `bytes`: over a tenth of a second and ten passes.
template <class Pass>
double best(std::size_t bytes, Pass pass) {
    double least = 1e9;
    double const begin = seconds();
    for (int n = 0; n < 10 || seconds() - begin < 0.1; ++n) {
        double const from = seconds();
        // What lies in a cache is over too soon for the clock.
        std::size_t const times = 1 + (std::size_t{1} << 25) / (bytes + 1);
        for (std::size_t t = 0; t < times; ++t) {
            pass();
            benchmark::ClobberMemory();
        }
        least = std::min(least, (seconds() - from) / static_cast<double>(times));
    }
    return static_cast<double>(bytes) / least;
}

// A vector that stays until another size is asked for.
template <class T>
std::vector<T>& kept(std::vector<T>& x, std::size_t n) {
    if (x.size() != n) {
        std::vector<T>().swap(x);
        x.assign(n, T(1));
    }
    return x;
}

}  // namespace

double read_ceiling(std::size_t bytes) {
    static std::vector<std::uint64_t> memory;
    auto const& a = kept(memory, bytes / sizeof(std::uint64_t) / 64 * 64 + 64);
    return best(a.size() * sizeof a[0], [&] {
        // Sums that do not wait for each other, of whole numbers, so that the compiler may add up in any order.
        std::uint64_t sums[64] = {};
        for (std::size_t i = 0; i < a.size(); i += 64)
            for (std::size_t j = 0; j < 64; ++j) sums[j] += a[i + j];
        benchmark::DoNotOptimize(sums);
    });
}

double copy_ceiling(std::size_t bytes) {
    static std::vector<char> from, to;
    auto const& a = kept(from, bytes / 2);
    auto& b = kept(to, bytes / 2);
    return best(bytes, [&] { std::copy(a.begin(), a.end(), b.begin()); });
}

double triad_ceiling(std::size_t bytes) {
    static std::vector<float> first, second, sum;
    std::size_t const n = bytes / 3 / sizeof(float);
    float const* x = kept(first, n).data();
    float const* y = kept(second, n).data();
    float* z = kept(sum, n).data();
    return best(3 * sizeof(float) * n, [&] {
        for (std::size_t i = 0; i < n; ++i) z[i] = x[i] + 0.5f * y[i];
    });
}

}  // namespace kernel_bench
