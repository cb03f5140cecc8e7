#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/builds/consumer.sh
# Compiles consumer.cpp with the flags that users have, and fails where the compiler warns. CXX names the compiler.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
compile() { # compile FLAG...
    # -Wno-sign-conversion: clang++ counts it into -Wconversion, g++ does not.
    "${CXX:-g++}" -std=c++20 "$@" -Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -Werror -I include \
        -isystem "${EIGEN:-/usr/include/eigen3}" -c tests/builds/consumer.cpp -o /dev/null ||
        { printf 'a user who compiles with %s is warned\n' "$*"; exit 1; }
    printf 'no warning with %s\n' "$*"
}
export -f compile
builds=(-O0 -O2 -O3)
if [[ $(uname -m) == x86_64 ]]; then builds+=("-O0 -march=x86-64-v3" "-O2 -march=x86-64-v3" "-O3 -march=x86-64-v3"); fi
printf '%s\n' "${builds[@]}" | xargs -P "${JOBS:-$(nproc)}" -L 1 bash -euc 'compile "$@"' compile
