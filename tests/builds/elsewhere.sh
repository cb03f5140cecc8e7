#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/builds/elsewhere.sh [FOLDER]
# Compiles print_digests.cpp and examples/first/objective.cpp for other processors with Debian's cross compilers, runs them in qemu, and
# fails unless they print what digests.txt and docs/first.md expect: 64-bit ARM with NEON; s390x, which is big-endian and has no
# vectors. Needs g++-aarch64-linux-gnu, g++-s390x-linux-gnu and qemu-user-static. TARGETS names others, such as riscv64;
# EIGEN and XSIMD the folders of these headers, where they are not Debian's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=${1:-build/elsewhere}
mkdir -p "$work/include"
# Links, for all of /usr/include would give the cross compilers this processor's C library.
ln -sfn "${EIGEN:-/usr/include/eigen3}/Eigen" "$work/include/Eigen"
ln -sfn "${XSIMD:-/usr/include}/xsimd" "$work/include/xsimd"

# One file, so that the headers are read, and what these share is compiled, once for each processor.
for source in tests/builds/print_digests cmake/compiled/{compressors_float,compressors_double,kernels}; do
    printf '#include "%s.cpp"\n' "$PWD/$source"
done > "$work/print_digests.cpp"
sources=("$work/print_digests.cpp" examples/first/objective.cpp)
read -ra targets <<< "${TARGETS:-aarch64 s390x}"

# Products are contracted as by -O2, as these processors have the instruction. The larger heap is that of cmake/dev.cmake.
compile() { # compile TARGET SOURCE
    "$1-linux-gnu-g++" -std=c++20 -O1 -fexpensive-optimizations -Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -Werror -Wno-psabi -pthread \
        --param=ggc-min-heapsize=1000000 \
        -I include -I tests -I cmake/compiled -isystem "$work/include" -c "$2" -o "$work/$1-$(basename "$2" .cpp).o"
}
export work
export -f compile
for source in "${sources[@]}"; do
    for target in "${targets[@]}"; do printf '%s\0%s\0' "$target" "$source"; done
done | xargs -0 -n 2 -P "${JOBS:-$(nproc)}" bash -euc 'compile "$@"' compile

for target in "${targets[@]}"; do
    # Static, so that qemu needs no libraries of that processor.
    "$target-linux-gnu-g++" -static "$work/$target-print_digests.o" -o "$work/$target-print_digests"
    "$target-linux-gnu-g++" -static -pthread "$work/$target-objective.o" -o "$work/$target-objective"
    "qemu-$target-static" "$work/$target-print_digests" | diff tests/builds/digests.txt - ||
        { printf '%s: the messages are others than digests.txt expects\n' "$target"; exit 1; }
    output=$("qemu-$target-static" "$work/$target-objective")
    [[ $output == 'x = 1.500000000 ..., 150.0 bytes a round' ]] ||
        { printf '%s: four threads print: %s\n' "$target" "$output"; exit 1; }
    printf '%s: %d pipelines as expected, and so four threads\n' "$target" "$(wc -l < tests/builds/digests.txt)"
done
