// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>
#include <utility>
#include <vector>

#include "kernel.hpp"
#include "laconic/backend/host/impl/caches.hpp"
#include "laconic/backend/host/impl/instruction_set.hpp"

namespace kernel_bench {

namespace {

// n numbers, that stay until more are asked for.
template <class T, int which>
std::span<T> memory_of(std::size_t n) {
    static std::vector<T> memory;
    if (memory.size() < n) memory.assign(n, T(1));
    return std::span(memory).first(n);
}

// The sum of all numbers, in eight registers that do not wait for each other. `ahead`: with fetch_ahead.
template <bool ahead>
void read(std::span<std::byte const> memory) {
    using pack = laconic::simd::pack<float, laconic::simd::arch>;
    auto const* const x = reinterpret_cast<float const*>(memory.data());
    std::size_t const n = memory.size() / sizeof(float);
    [&]<std::size_t... R>(std::index_sequence<R...>) {  // expansions, so that the sums stay in registers
        constexpr std::size_t together = sizeof...(R) * pack::width;
        std::array sums{(static_cast<void>(R), pack::all(0.0f))...};
        for (std::size_t i = 0; i + together <= n; i += together) {
            if constexpr (ahead) laconic::detail::fetch_ahead<together * sizeof(float)>(x + i);
            ((sums[R] += pack::load(x + i + R * pack::width)), ...);
        }
        auto total = (sums[R] + ...);  // by value: what has an address would be stored in every turn of the loop
        benchmark::DoNotOptimize(total);
    }
    (std::make_index_sequence<8>{});
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

pace::pace(ceiling of, std::size_t bytes, std::span<std::byte const> inputs, std::size_t copies)
    : of_(of), bytes_(bytes), inputs_(inputs), copies_(copies), times_(times_in_a_stretch([this] { pass(); }, copies)) {
    if (of_ != ceiling::read) return;
    std::array<double, 2> least{1e9, 1e9};
    for (int round = 0; round < 5; ++round)
        for (bool const ahead : {false, true}) {
            ahead_ = ahead;
            double const begin = processor_seconds();
            for (std::size_t t = 0; t < times_; ++t) pass();
            least[ahead] = std::min(least[ahead], processor_seconds() - begin);
        }
    ahead_ = least[true] < least[false];
}

void pace::pass() {
    if (of_ == ceiling::triad)
        triad(bytes_);
    else {
        std::size_t const each = inputs_.size() / copies_;
        auto const memory =
            bytes_ <= each ? inputs_.subspan(turn_++ % copies_ * each, bytes_) : memory_of<std::byte, 0>(bytes_);
        ahead_ ? read<true>(memory) : read<false>(memory);
    }
    benchmark::ClobberMemory();
}

void pace::stops(std::size_t times, bool whole) {
    if (!whole && !kernel_.empty()) return;
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
