// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernel.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/descent.hpp"

namespace kernel_bench {

namespace {

using namespace laconic;

// A rank that has only itself to talk to: nothing but the rank's own work takes time.
struct alone {
    payload mine{};
    static int rank() { return 0; }
    static int size() { return 1; }
    void all_gather(payload c) { mine = c; }
    void gather(int, payload c) { mine = c; }
    void broadcast(int, payload c) { mine = c; }
    payload from(int) const { return mine; }
};

// The same gradient everywhere.
template <class T>
struct slope {
    std::span<T const> g;
    std::size_t dimension() const { return g.size(); }
    T value(std::span<T const>) const { return 0; }
    void gradient(std::span<T const>, std::span<T> to) const { std::copy(g.begin(), g.end(), to.begin()); }
};

template <class T>
auto error_corrected(double share) {
    return recursion<top_k<>, memory<T>>{top_k{share}, memory<T>(0, 1), gradient_step{1}, {}, {}, {}, 0.01};
}

// Delta, level, compress, encode: what memory's comment says is 3 vectors read and 1 written. With the other half of
// the round, the messages' mean and the step: 2 more are read and 2 written.
template <class T>
void add_case(std::size_t d, bool whole) {
    double const share = 0.01;
    auto const k = static_cast<std::size_t>(share * static_cast<double>(d));
    std::size_t const vectors = whole ? 8 : 4;
    scenario const s{whole ? "round" : "send", input::gauss, d, k, 0, vectors * d * sizeof(T)};
    auto const body = [=](benchmark::State& state) {
        slope<T> const objective{numbers<T>(s.from, s.d)};
        std::vector<T> x(d);
        alone comm;
        descent loop(error_corrected<T>(share), objective, comm, std::span<T>(x), 1);
        for (int rounds = 0; rounds < 3; ++rounds) loop.round();
        pace beside(ceiling::triad, s.moved);
        for (auto _ : state) {
            state.PauseTiming();
            loop.look();  // the gradient is the user's
            beside.starts();
            state.ResumeTiming();
            loop.send();
            if (whole) loop.receive();
            state.PauseTiming();
            beside.stops(1);
            if (!whole) loop.receive();
            state.ResumeTiming();
        }
        beside.report(state);
    };
    benchmark::RegisterBenchmark(name_of<T>(s).c_str(), body)->Unit(benchmark::kMicrosecond);
}

}  // namespace

void add_send() {
    add_case<float>(in_memory, false);
    add_case<float>(in_memory, true);
    add_case<float>(far_in_memory, false);
    add_case<double>(in_memory, false);
}

}  // namespace kernel_bench
