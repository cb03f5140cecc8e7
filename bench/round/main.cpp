// SPDX-License-Identifier: Apache-2.0
//
// A step of a reducer over threads, beside the same kernels called by hand, a sum of the vectors in full by a ring, and
// the triad a = b + s c on vectors of that length. They take turns in one process, on the same gradients; the reducer
// and the kernels must come to the same estimates, bit for bit. The bound of a step is the bytes that must cross
// between processor and memory, at the triad's pace. bench/round.py makes a table of it. All of Google Benchmark's
// options;
// --benchmark_filter=^plain/ is one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "by_hand.hpp"
#include "laconic/collective/dense/ring.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/pipe.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/signs.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/reducer.hpp"

namespace round_bench {

namespace {

constexpr double seconds_a_case = 0.5, seconds_a_stretch = 0.01;
constexpr std::size_t most_ranks = 4;
constexpr std::size_t least_rounds = 5;

enum way : std::size_t { reduced, called, dense, triad, ways };

double median(std::vector<double> all) {
    auto const middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
}

/// Gaussian, of each rank its own: the first d of what was drawn for the longest so far.
std::span<float const> gradient_of(int rank, std::size_t d) {
    static std::array<std::vector<float>, most_ranks> all;  // each rank touches its own alone
    auto& x = all.at(static_cast<std::size_t>(rank));
    auto const from = key{1}.child(static_cast<std::uint64_t>(rank));
    for (std::size_t i = x.size(); i < d; ++i) {
        double const angle = 2 * std::numbers::pi * from.uniform(2 * i);
        x.push_back(static_cast<float>(std::sqrt(-2 * std::log1p(-from.uniform(2 * i + 1))) * std::cos(angle)));
    }
    return std::span<float const>(x).first(d);
}

/// What the ranks measure, of which rank 0 keeps account.
class measurement {
  public:
    explicit measurement(int ranks) : seats_(static_cast<std::size_t>(ranks)), place_(ranks) {}

    shared_state& place() { return place_; }

    /// One rank: stretches of steps of each way, by turns, until the time is over.
    template <class Step>
    void run(int rank, std::span<float const> gradient, Step step) {
        std::array<std::vector<float>, ways> x;
        for (auto& one : x) one.resize(gradient.size());
        std::array<std::size_t, ways> steps;
        steps.fill(3);  // for what is allocated
        for (double const begin = wall_seconds();; steps = steps_) {
            for (std::size_t w = 0; w < ways; ++w)
                for (std::size_t s = 0; s < steps[w]; ++s) {
                    std::copy(gradient.begin(), gradient.end(), x[w].begin());
                    one_step(rank, w, [&] { return step(static_cast<way>(w), x[w]); });
                }
            if (std::memcmp(x[reduced].data(), x[called].data(), gradient.size() * sizeof(float)) != 0) differs_ = true;
            place_.barrier.arrive_and_wait();
            if (rank == 0) plan(wall_seconds() - begin);
            place_.barrier.arrive_and_wait();
            if (is_over_) return;
        }
    }

    void report(benchmark::State& state) const {
        if (differs_) return state.SkipWithError("the reducer's estimate is not that of its kernels");
        double least = 1e300;
        for (double const t : wall_[reduced]) least = std::min(least, t);
        state.SetIterationTime(least);
        char const* const names[] = {"reduce", "kernels", "dense", "triad"};
        for (std::size_t w = 0; w < ways; ++w) {
            state.counters[names[w]] = *std::min_element(wall_[w].begin(), wall_[w].end());
            state.counters[names[w] + std::string("_processor")] =
                *std::min_element(processor_[w].begin(), processor_[w].end());
        }
        state.counters["of_kernels"] = ratio(wall_, called);
        state.counters["of_kernels_processor"] = ratio(processor_, called);
        state.counters["of_dense"] = ratio(wall_, dense);
    }
    /// With the bytes that must cross in a step, on one rank, and in the triad.
    void report_bound(benchmark::State& state, double bytes, double bytes_of_triad) const {
        state.counters["bound"] = *std::min_element(wall_[triad].begin(), wall_[triad].end()) * bytes / bytes_of_triad;
        state.counters["of_bound"] = ratio(wall_, triad) * bytes_of_triad / bytes;
    }

  private:
    struct seat {
        double begin = 0, end = 0, processor = 0;
    };
    using by_way = std::array<std::vector<double>, ways>;

    // do_it() returns the processor time that it counts itself, or 0.
    template <class Do>
    void one_step(int rank, std::size_t w, Do do_it) {
        auto& my = seats_[static_cast<std::size_t>(rank)];
        place_.barrier.arrive_and_wait();
        double const processor = processor_seconds();
        my.begin = wall_seconds();
        double const counted = do_it();
        my.end = wall_seconds();
        my.processor = counted > 0 ? counted : processor_seconds() - processor;
        place_.barrier.arrive_and_wait();
        if (rank != 0) return;
        double first = my.begin, last = my.end, sum = 0;
        for (auto const& s : seats_) {
            first = std::min(first, s.begin);
            last = std::max(last, s.end);
            sum += s.processor;
        }
        stretch_wall_[w].push_back(last - first);
        stretch_processor_[w].push_back(sum);
    }
    void plan(double seconds) {
        bool const warm = steps_[0] > 0;
        for (std::size_t w = 0; w < ways; ++w) {
            double const wall = median(stretch_wall_[w]), processor = median(stretch_processor_[w]);
            stretch_wall_[w].clear();
            stretch_processor_[w].clear();
            if (warm) {
                wall_[w].push_back(wall);
                processor_[w].push_back(processor);
            } else {
                steps_[w] = std::clamp<std::size_t>(static_cast<std::size_t>(seconds_a_stretch / wall), 1, 100);
            }
        }
        // The same number of both, for the same estimate.
        steps_[called] = steps_[reduced];
        is_over_ = differs_ || (wall_[0].size() >= least_rounds && seconds > seconds_a_case);
    }
    // The median over the rounds of the reducer's time over that of another way.
    static double ratio(by_way const& times, way other) {
        std::vector<double> all(times[reduced]);
        for (std::size_t i = 0; i < all.size(); ++i) all[i] /= times[other][i];
        return median(all);
    }

    std::vector<seat> seats_;
    shared_state place_;
    std::array<std::size_t, ways> steps_{};
    std::atomic<bool> differs_ = false;
    bool is_over_ = false;
    by_way stretch_wall_, stretch_processor_;  // of each step since the last plan
    by_way wall_, processor_;                  // of each stretch the median step
};

/// `vectors`: how many vectors of d numbers a step must read or write, beside the messages, whose bytes a rank writes
/// once and all ranks read.
template <class R>
void measure(benchmark::State& state, R const& how, double vectors, std::size_t d, int ranks) {
    measurement all(ranks);
    std::size_t message_bytes = 0;
    threads::run(ranks, [&](auto& comm) noexcept {  // a rank that throws would leave the others at a barrier
        auto const gradient = gradient_of(comm.rank(), d);
        reducer reduce(how, comm, d, {.seed = 0});
        by_hand<R> kernels(how, all.place(), comm.rank(), d);
        auto sum = make_sum<float>(ring{}, comm, d);
        host on;
        std::vector<float> factor(d, 1), result(d);
        all.run(comm.rank(), gradient, [&](way w, std::vector<float>& x) {
            if (w == reduced) reduce(x);
            if (w == called) kernels(std::span<float>(x));
            if (w == dense) sum(on, comm, std::span<float>(x));
            if (w == triad)
                for (std::size_t i = 0; i < d; ++i) result[i] = x[i] + 3 * factor[i];
            return w == called ? kernels.processor() : 0.0;
        });
        if (comm.rank() != 0) return;
        for (std::size_t k = 0; k < kernel_names.size(); ++k)
            state.counters[kernel_names[k]] = kernels.least_seconds()[k];
        message_bytes = kernels.message_bytes();
        state.counters["message_bytes"] = static_cast<double>(message_bytes);
        auto const did = reduce.statistics();
        state.counters["reduce_compressing"] = did.seconds_compressing / static_cast<double>(did.steps);
        state.counters["reduce_waiting"] = did.seconds_waiting / static_cast<double>(did.steps);
        state.counters["reduce_adding"] = did.seconds_adding / static_cast<double>(did.steps);
        state.counters["reduce_committing"] = did.seconds_committing / static_cast<double>(did.steps);
    });
    all.report(state);
    double const vector_bytes = static_cast<double>(d * sizeof(float));
    all.report_bound(state, vectors * vector_bytes + (1 + ranks) * static_cast<double>(message_bytes),
                     3 * vector_bytes);
}

template <class R>
void add(std::string const& name, R const& how, double vectors) {
    for (std::size_t const d :
         {std::size_t{1000}, std::size_t{10000}, std::size_t{1} << 16, std::size_t{1} << 20, std::size_t{1} << 24})
        for (int const ranks : {1, 2, 4}) {
            auto const body = [=](benchmark::State& state) {
                for (auto _ : state) measure(state, how, vectors, d, ranks);
                state.SetLabel(to_string(how));
            };
            auto const full_name = name + "/d:" + std::to_string(d) + "/ranks:" + std::to_string(ranks);
            benchmark::RegisterBenchmark(full_name.c_str(), body)
                ->Iterations(1)
                ->UseManualTime()
                ->Unit(benchmark::kMillisecond);
        }
}

}  // namespace

}  // namespace round_bench

int main(int count, char** arguments) {
    using namespace round_bench;
    // Without a memory the gradient is read and the estimate written; with a residual, so are the residual and delta,
    // and delta is read once more, where the compressor must see all of it before it chooses, and once again and
    // written as the residual where the message has every coordinate. A shift is read, and so is the mean shift; both
    // are written where the messages have every coordinate.
    add("plain", plain{}, 2);
    add("plain_quantize", plain{quantize{7, 512}}, 2);
    add("plain_natural", plain{natural{}}, 2);
    add("error_feedback_top_k", error_feedback{top_k{0.01}}, 5);
    add("error_feedback_top_k_quantize", error_feedback{top_k{0.01} | quantize{7, 128}}, 5);
    add("error_feedback_sign", error_feedback{scaled_sign{}}, 7);
    add("error_feedback_two_means", error_feedback{two_means{}}, 7);
    add("shifted_quantize", shifted{quantize{7, 512}}, 6);
    add("ef21_shift_top_k", ef21_shift{top_k{0.01}}, 6);
    benchmark::Initialize(&count, arguments);
    if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
    benchmark::RunSpecifiedBenchmarks();
}
