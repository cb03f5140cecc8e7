// SPDX-License-Identifier: Apache-2.0
//
// The gradients that the workers of a race compute in a round, and a whole round of gradient descent: logistic
// regression, lambda = 0.1. bench/gradient.py writes the rows, and runs numpy and scipy on them.
//
//     bench_gradient FOLDER WORKERS THREADS      FOLDER has the arrays shape, begin, column, value and label
//
// Prints milliseconds, medians: of the gradients of all workers, of a round; and the digits of the mean gradient at the
// point of which the script knows them.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "laconic/comm/threads.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/objective/regression.hpp"
#include "laconic/run.hpp"

namespace {

using namespace laconic;

template <class T>
std::vector<T> read(std::string const& file) {
    std::ifstream in(file, std::ios::binary);
    std::string const bytes(std::istreambuf_iterator<char>(in), {});
    auto const* const first = reinterpret_cast<T const*>(bytes.data());
    return {first, first + bytes.size() / sizeof(T)};
}

double milliseconds() {
    return 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double>& all) {
    auto const middle = all.begin() + std::ptrdiff_t(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) return std::fputs("bench_gradient FOLDER WORKERS THREADS\n", stderr), 2;
    std::string const folder = arguments[1];
    auto const workers = std::size_t(std::atoi(arguments[2])), threads_at_once = std::size_t(std::atoi(arguments[3]));
    auto const shape = read<std::int64_t>(folder + "/shape"), begin = read<std::int64_t>(folder + "/begin"),
               column = read<std::int64_t>(folder + "/column");
    auto const value = read<double>(folder + "/value");
    dataset<double> all{folder, {shape.at(0), shape.at(1)}, read<double>(folder + "/label")};
    all.rows = Eigen::Map<dataset<double>::matrix const>(shape[0], shape[1], std::int64_t(value.size()), begin.data(),
                                                         column.data(), value.data());
    std::vector<logistic_regression<>> f;
    for (std::size_t i = 0; i < workers; ++i) f.emplace_back(all.part(i, workers), 0.1);
    auto const d = all.features();

    std::vector<std::vector<double>> g(workers, std::vector<double>(d));
    std::vector<double> x(d), took;
    for (std::size_t i = 0; i < d; ++i) x[i] = std::sin(double(i));
    std::barrier together(std::ptrdiff_t(threads_at_once) + 1);
    double const until = milliseconds() + 1500;
    bool over = false;
    std::vector<std::thread> started;
    for (std::size_t t = 0; t < threads_at_once; ++t)
        started.emplace_back([&, t] {
            while (together.arrive_and_wait(), !over) {
                for (auto i = t; i < workers; i += threads_at_once) f[i].gradient(x, g[i]);
                together.arrive_and_wait();
            }
        });
    while (milliseconds() < until || took.size() < 5) {
        double const start = milliseconds();
        together.arrive_and_wait(), together.arrive_and_wait();
        took.push_back(milliseconds() - start);
    }
    over = true, together.arrive_and_wait();
    for (auto& t : started) t.join();
    double norm = 0;
    for (std::size_t i = 0; i < d; ++i) {
        double mean = 0;
        for (auto const& each : g) mean += each[i] / double(workers);
        norm += mean * mean;
    }
    std::printf("%.4f ", median(took));

    took.clear();
    threads::run(int(workers),
                 [&](auto& comm) {
                     std::vector<double> at(d);
                     double last = milliseconds();
                     auto const watch = [&](auto const& now) {
                         if (comm.rank() != 0) return;
                         double const next = milliseconds();
                         if (now.round > 1) took.push_back(next - last);
                         last = next;
                     };
                     descend(gd{{.step = 0.01}}, problem{}, f[std::size_t(comm.rank())], at, comm,
                             {.rounds = 60, .seed = 1}, watch);
                 },
                 {.at_once = int(threads_at_once)});
    std::printf("%.4f %.15g\n", median(took), std::sqrt(norm));
}
