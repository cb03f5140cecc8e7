// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef LACONIC_BENCH_DISPATCHED
#    include "laconic/dispatched.hpp"
#else
#    include "laconic/backend/host.hpp"
#endif

/// What the kernels of the host are measured with. A case is KERNEL/float|double/INPUT/d:N/k:K; what a user would take
/// in place of a kernel is named after it and a dot, KERNEL.PEER/.., and bench/kernel.py prints the ratio.
namespace kernel_bench {

#ifdef LACONIC_BENCH_DISPATCHED
using backend = laconic::dispatched;
#else
using backend = laconic::host;
#endif

/// Gaussian; heavy-tailed (Student's t with 2 degrees of freedom); Gaussian, except for 90 or 99 % of the numbers, or
/// of the blocks of 256, which are 0; Gaussian, ascending by magnitude; all equal; Gaussian, where a stretch of a 64th
/// is 1000 times as large.
enum class input { gauss, heavy, zeros_90, zeros_99, zero_blocks_90, zero_blocks_99, sorted, equal, one_block };
char const* name_of(input);

/// d numbers, and the same again as often as there are copies, one after another. They stay until others are asked for:
/// ask where the case runs, not where it is registered.
template <class T>
std::span<T const> numbers(input, std::size_t d, std::size_t copies = 1);

/// As Google Benchmark counts them: what other programs do meanwhile is not in them.
double processor_seconds();

/// How often to run what is over too soon for the clock: for a thousandth of a second at least, and for each of so many
/// inputs that take turns.
template <class Run>
std::size_t times_in_a_stretch(Run&& run, std::size_t inputs = 1) {
    for (std::size_t i = 0; i < inputs; ++i) run();  // what is allocated, is allocated here
    for (std::size_t times = inputs;; times *= 2) {
        double const begin = processor_seconds();
        for (std::size_t t = 0; t < times; ++t) run();
        if (processor_seconds() - begin > 1e-3) return times;
    }
}

/// What memory gives: a sum of all that is read, by the faster of two loops; or a + s b -> c, where all three count as
/// bytes.
enum class ceiling { read, triad };

/// How fast a kernel is beside this machine's memory: after each stretch of the kernel comes one of passes over as many
/// bytes, as other programs share the memory, now more and now less. What is read are the first bytes of the kernel's
/// own inputs, which take turns here as there, where they have so many: of two vectors, one may lie in pages that are a
/// fifth faster than the other's.
class pace {
  public:
    /// inputs: so many of the same length, one after another.
    pace(ceiling, std::size_t bytes, std::span<std::byte const> inputs = {}, std::size_t copies = 1);

    void starts() { begin_ = processor_seconds(); }
    /// After so many runs of the kernel. The ceiling's stretch is here: Google Benchmark's clock should not run. A
    /// stretch that is not whole counts where there is no other.
    void stops(std::size_t times, bool whole = true);
    /// bytes_per_second, and fraction_of_read or fraction_of_triad: the median time of a pass over that of a run.
    void report(benchmark::State&);

  private:
    void pass();

    ceiling of_;
    std::size_t bytes_;
    std::span<std::byte const> inputs_;
    std::size_t copies_, turn_ = 0;
    bool ahead_ = false;  ///< whether the loop that asks for what it reads next is the faster here
    std::size_t times_;
    double begin_ = 0;
    std::vector<double> kernel_, memory_;
};

/// The sizes in numbers of T that lie in the second cache, in the third, and in memory alone.
inline constexpr std::size_t in_l2 = std::size_t{1} << 16, in_l3 = std::size_t{1} << 20;
inline constexpr std::size_t in_memory = std::size_t{1} << 24, far_in_memory = std::size_t{1} << 26;

struct scenario {
    std::string kernel;  ///< or KERNEL.PEER
    input from = input::gauss;
    std::size_t d = in_memory;
    std::size_t k = 0;  ///< 0: the kernel has none
    /// Bytes that a run reads at least; 0: all of the input. They give bytes_per_second, and fraction_of_read of it.
    std::size_t bytes = 0;
    /// Bytes that a run reads and writes at least, of a kernel that passes over several vectors: they are compared with
    /// the triad instead.
    std::size_t moved = 0;
    std::size_t items = 0;  ///< what a run handles, for items_per_second
};

template <class T>
std::string name_of(scenario const& s) {
    auto name =
        s.kernel + (std::is_same_v<T, float> ? "/float/" : "/double/") + name_of(s.from) + "/d:" + std::to_string(s.d);
    return s.k == 0 ? name : name + "/k:" + std::to_string(s.k);
}

/// How many copies of a vector in memory take turns, each with a kernel's state and output of its own: so many that
/// none is still in a cache, in part, when its turn comes again.
template <class T>
std::size_t copies_of(scenario const& s) {
    constexpr std::size_t caches_forget = std::size_t{1} << 28;
    return s.d < in_memory ? 1 : std::max<std::size_t>(1, caches_forget / std::max(s.d * sizeof(T), s.moved));
}

/// Registers what make(numbers) returns: a function of nothing that runs the kernel once.
template <class T, class Make>
void add(scenario const& s, Make make) {
    auto const body = [s, make](benchmark::State& state) {
        std::size_t const copies = copies_of<T>(s);
        std::span<T const> const all = numbers<T>(s.from, s.d, copies);
        std::vector<decltype(make(all))> runs;
        for (std::size_t c = 0; c < copies; ++c) runs.push_back(make(all.subspan(c * s.d, s.d)));
        auto run = [&runs, turn = std::size_t{0}]() mutable { runs[turn++ % runs.size()](); };
        auto const times = times_in_a_stretch(run, copies);
        pace beside = s.moved > 0
                          ? pace(ceiling::triad, s.moved)
                          : pace(ceiling::read, s.bytes > 0 ? s.bytes : s.d * sizeof(T), std::as_bytes(all), copies);
        std::size_t done = 0;
        for (auto _ : state) {
            if (done == 0) beside.starts();
            run();
            benchmark::ClobberMemory();
            if (++done < times) continue;
            state.PauseTiming();
            beside.stops(std::exchange(done, 0));
            state.ResumeTiming();
        }
        if (done > 0) beside.stops(done, false);
        beside.report(state);
        auto const items = static_cast<std::int64_t>(s.items);
        if (items > 0) state.SetItemsProcessed(items * static_cast<std::int64_t>(state.iterations()));
    };
    benchmark::RegisterBenchmark(name_of<T>(s).c_str(), body)->Unit(benchmark::kMicrosecond);
}

/// The kernels, by their files. Each registers its cases.
void add_top_k();
void add_quantize();
void add_select();
void add_rand_k();
void add_support();
void add_updates();
void add_merge();
void add_send();

}  // namespace kernel_bench
