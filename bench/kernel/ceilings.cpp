// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <span>
#include <vector>

#include "kernel.hpp"

namespace kernel_bench {

namespace {

// n numbers, that stay until more are asked for.
template <class T, int which>
std::span<T> memory_of(std::size_t n) {
    static std::vector<T> memory;
    if (memory.size() < n) memory.assign(n, T(1));
    return std::span(memory).first(n);
}

void read(std::span<std::byte const> memory) {
    constexpr std::size_t together = 64;
    // Sums that do not wait for each other, of whole numbers, so that the compiler may add up in any order.
    std::array<std::uint64_t, together> sums{}, some;
    for (std::size_t i = 0; i + sizeof some <= memory.size(); i += sizeof some) {
        std::memcpy(some.data(), memory.data() + i, sizeof some);
        for (std::size_t j = 0; j < together; ++j) sums[j] += some[j];
    }
    benchmark::DoNotOptimize(sums);
}
void triad(std::size_t bytes) {
    std::size_t const n = bytes / 3 / sizeof(float);
    float const* x = memory_of<float, 1>(n).data();
    float const* y = memory_of<float, 2>(n).data();
    float* z = memory_of<float, 3>(n).data();
    for (std::size_t i = 0; i < n; ++i) z[i] = x[i] + 0.5f * y[i];
}

double median(std::vector<double>& x) {
    auto const middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
    std::nth_element(x.begin(), middle, x.end());
    return *middle;
}

}  // namespace

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

pace::pace(ceiling of, std::size_t bytes, std::span<std::byte const> input)
    : of_(of), bytes_(bytes), input_(input), times_(times_in_a_stretch([this] { pass(); })) {}

void pace::pass() const {
    if (of_ == ceiling::triad)
        triad(bytes_);
    else
        read(bytes_ <= input_.size() ? input_.first(bytes_) : memory_of<std::byte, 0>(bytes_));
    benchmark::ClobberMemory();
}

void pace::stops(std::size_t times) {
    double const middle = processor_seconds();
    for (std::size_t t = 0; t < times_; ++t) pass();
    kernel_.push_back((middle - begin_) / static_cast<double>(times));
    memory_.push_back((processor_seconds() - middle) / static_cast<double>(times_));
}

void pace::report(benchmark::State& state) {
    auto const bytes = static_cast<std::int64_t>(bytes_) * static_cast<std::int64_t>(state.iterations());
    state.SetBytesProcessed(bytes);
    state.counters[of_ == ceiling::read ? "fraction_of_read" : "fraction_of_triad"] = median(memory_) / median(kernel_);
}

}  // namespace kernel_bench
