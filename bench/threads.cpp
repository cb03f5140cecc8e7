// SPDX-License-Identifier: Apache-2.0
//
// bench_threads [THREADS [BITS]]: for vectors of 2^BITS numbers (22, 24 and 26), how much faster the host's kernels are
// on so many threads (2) than on one, beside the memory alone, which is read, or read and written, by a plain loop.
// They take turns; prints a table in Markdown of the least times of the clock on the wall. Compile it for the processor
// that it runs on.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "laconic/backend/threaded.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/compressors.hpp"
#include "laconic/reducer.hpp"
#include "laconic/wire/message.hpp"

namespace {

using namespace laconic;
using backend = threaded<>;

constexpr int turns = 15;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double least(std::vector<double> const& all) { return *std::min_element(all.begin(), all.end()); }

std::vector<float> gaussian(std::size_t d, std::uint64_t seed) {
    std::vector<float> x(d);
    for (std::size_t i = 0; i < d; ++i) {
        double const angle = 2 * std::numbers::pi * key{seed}.uniform(2 * i);
        x[i] = static_cast<float>(std::sqrt(-2 * std::log1p(-key{seed}.uniform(2 * i + 1))) * std::cos(angle));
    }
    return x;
}

// One row: run(on) on one thread and on several.
void row(std::string const& name, std::size_t d, backend& one, backend& several, auto run) {
    run(one), run(several);
    std::vector<double> alone, together;
    for (int turn = 0; turn < turns; ++turn) {
        double const begin = seconds();
        run(one);
        double const middle = seconds();
        run(several);
        alone.push_back(middle - begin);
        together.push_back(seconds() - middle);
    }
    double const a = least(alone), b = least(together);
    std::printf("| `%s` | %zu | %.2f | %.2f | %.2f |\n", name.c_str(), d, 1e3 * a, 1e3 * b, a / b);
    std::fflush(stdout);
}

void rows(std::size_t d, int threads) {
    backend one(1), several(threads);
    auto const g = gaussian(d, 1), h = gaussian(d, 2), e = gaussian(d, 3);
    std::span<float const> const x(g), none;
    std::vector<float> y(d), z(d);
    std::vector<coordinate> at;
    auto const out = [](std::vector<float>& v) { return std::span(v); };
    auto const run = [&](std::string const& name, auto f) { row(name, d, one, several, f); };

    run("memory, read", [&](backend& on) {
        static float sink[256];
        detail::in_parts(on, d, 64, [&](host&, detail::vector_part p) {
            float sums[64]{};
            for (std::size_t i = p.first; i + 64 <= p.first + p.count; i += 64)
                for (std::size_t j = 0; j < 64; ++j) sums[j] += g[i + j];
            for (float const s : sums) sink[p.number % 16 * 16] += s;
        });
    });
    run("memory, triad", [&](backend& on) {
        detail::in_parts(on, d, 64, [&](host&, detail::vector_part p) {
            for (std::size_t i = p.first; i < p.first + p.count; ++i) z[i] = g[i] + 3 * h[i];
        });
    });
    run("compensate, g + e", [&](backend& on) { compensate(on, 1.0f, x, none, 1.0f, std::span(e), out(y)); });
    run("compensate, g - h + e",
        [&](backend& on) { compensate(on, 1.0f, x, std::span(h), 1.0f, std::span(e), out(y)); });
    run("add_scaled", [&](backend& on) { add_scaled(on, -1.0f, x, out(y)); });
    run("multiply", [&](backend& on) { multiply(on, -1.0f, out(y)); });
    run("copy", [&](backend& on) { copy(on, x, out(y)); });
    run("fill", [&](backend& on) { fill(on, out(y), 0.0f); });
    run("sum_of_squares", [&](backend& on) { sum_of_squares(on, x); });
    run("largest_magnitude", [&](backend& on) { largest_magnitude(on, x); });
    run("first_non_finite", [&](backend& on) { first_non_finite(on, x); });
    for (std::size_t const parts : {1000u, 100u, 10u})
        run("select_largest, " + std::to_string(100.0 / static_cast<double>(parts)).substr(0, 4) + " %",
            [&](backend& on) { select_largest(on, x, d / parts, at); });
    run("compensate_and_select_largest, 1 %", [&](backend& on) {
        compensate_and_select_largest(on, 1.0f, x, none, 1.0f, std::span(e), out(y), d / 100, at);
    });
    auto const compress = [&]<class C>(std::string const& name, C const& c) {
        detail::message_of<C, float, backend> m;
        run(name, [&](backend& on) { c(on, x, key{1}, m); });
        run(name + ", subtracted", [&](backend& on) { add_message(on, out(y), -1.0f, m); });
        wire::bit_writer sink;
        write(sink, m);
        auto const bytes = sink.finish();
        run(name + ", read", [&](backend& on) {
            c.blank(on, d, key{1}, m);
            wire::bit_reader source(bytes);
            read_and_add(on, source, m, c, 0.5f, out(y));
        });
    };
    compress("quantize(7, 512)", quantize{7, 512});
    compress("quantize(7)", quantize{7});
    compress("uniform(4, 512)", uniform{4, 512});
    compress("natural", natural{});
    compress("scaled_sign", scaled_sign{});
    compress("fp16", fp16{});
    compress("bf16(random)", bf16::random{});
}

// Steps of a reducer of one rank.
template <class R>
void step_row(std::size_t d, int threads, R const& how) {
    threads::run(1, [&](auto& comm) {
        auto const g = gaussian(d, 1);
        auto x = g;
        reducer alone(how, comm, x, {.seed = 1}, backend(1)), together(how, comm, x, {.seed = 1}, backend(threads));
        std::vector<double> a, b;
        for (int turn = 0; turn < turns; ++turn)
            for (bool const first : {true, false}) {
                std::copy(g.begin(), g.end(), x.begin());
                double const begin = seconds();
                first ? alone(x) : together(x);
                (first ? a : b).push_back(seconds() - begin);
            }
        std::printf("| step of `%s` | %zu | %.2f | %.2f | %.2f |\n", to_string(how).c_str(), d, 1e3 * least(a),
                    1e3 * least(b), least(a) / least(b));
        std::fflush(stdout);
    });
}

}  // namespace

int main(int count, char** arguments) {
    int const threads = count > 1 ? std::atoi(arguments[1]) : 2;
    std::printf("| kernel | numbers | ms, 1 thread | ms, %d threads | ratio |\n|---|---|---|---|---|\n", threads);
    for (int const bits : {22, 24, 26}) {
        if (count > 2 && std::atoi(arguments[2]) != bits) continue;
        auto const d = std::size_t{1} << bits;
        rows(d, threads);
        step_row(d, threads, error_feedback{top_k{0.01}});
        step_row(d, threads, plain{quantize{7, 512}});
        step_row(d, threads, error_feedback{scaled_sign{}});
    }
}
