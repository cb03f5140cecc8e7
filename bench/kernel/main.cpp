// SPDX-License-Identifier: Apache-2.0
//
// The kernels of the host beside what this machine's memory gives and what a user would take instead, in one process.
// bench/kernel.py makes a table of it. All of Google Benchmark's options; --benchmark_filter=^top_k/float/gauss is one.
#include "kernel.hpp"

int main(int count, char** arguments) {
    kernel_bench::add_top_k();
    kernel_bench::add_select();
    kernel_bench::add_rand_k();
    kernel_bench::add_quantize();
    kernel_bench::add_support();
    kernel_bench::add_updates();
    kernel_bench::add_merge();
    kernel_bench::add_send();
    benchmark::Initialize(&count, arguments);
    if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
    benchmark::RunSpecifiedBenchmarks();
}
