// SPDX-License-Identifier: Apache-2.0
// Prints the builds that this processor can run, one a line.
#include <cstdio>

int main() {
    std::puts("scalar\nbaseline\nnative");
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.1")) std::puts("sse41");
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) std::puts("avx2");
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        std::puts("avx512");
    if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_is("amdfam19h")) std::puts("zen4");
#endif
}
