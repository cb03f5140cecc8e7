#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/builds/consumer.sh
# Compiles consumer.cpp with the flags that users have, and fails where the compiler warns. CXX names the compiler; where
# clang++ is, that compiles it once, too. Two sources, which have every compressor and every collective, are compiled
# without RTTI. Where clang++ is, it also compiles all headers with libc++, and examples/first/objective.cpp, which is run.
# So is the same program with the single header, for which xsimd is absent with clang++.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
compile() { # compile COMPILER SOURCE FLAG...
    # The larger heap of cmake/dev.cmake, for g++. It changes nothing but the time that this takes.
    local more=
    [[ $1 == *clang* ]] || more="--param=ggc-min-heapsize=1000000 -Wuseless-cast"
    # shellcheck disable=SC2086 # one word for each flag
    "$1" -std=c++20 $more "${@:3}" -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wdouble-promotion -Wshadow -Werror \
        -I include -I examples -I cmake/compiled -isystem "${EIGEN:-/usr/include/eigen3}" -c "$2" -o /dev/null ||
        { printf 'a user who compiles with %s is warned\n' "$*"; exit 1; }
    printf 'no warning with %s\n' "$*"
}
export -f compile
cxx=${CXX:-g++}
consumer=tests/builds/consumer.cpp
# What only the front end can find, is looked for by that alone.
builds=("$cxx cmake/compiled/compressors_double.cpp -fsyntax-only -fno-rtti" "$cxx cmake/compiled/collectives.cpp -fsyntax-only -fno-rtti")
builds+=("$cxx $consumer -O3" "$cxx $consumer -O2" "$cxx $consumer -O0")
if [[ $(uname -m) == x86_64 ]]; then builds+=("$cxx $consumer -O3 -march=x86-64-v3"); fi
if command -v clang++ >/dev/null; then
    builds+=("clang++ $consumer -fsyntax-only" "clang++ cmake/compiled/collectives.cpp -fsyntax-only -fno-rtti")
else
    printf 'skipped: clang++ is not installed\n'
fi
printf '%s\n' "${builds[@]}" | xargs -P "${JOBS:-$(nproc)}" -L 1 bash -euc 'compile "$@"' compile

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
runs() { # runs PROGRAM HOW
    local output
    output=$("$1")
    [[ $output == 'x = 1.500000000 ..., 150.0 bytes a round' ]] || { printf '%s it prints: %s\n' "$2" "$output"; exit 1; }
    printf 'no warning, and the same result, %s\n' "$2"
}

# All that laconic.hpp reaches as one file.
if command -v python3 >/dev/null; then
    python3 cmake/single_header.py include laconic/laconic.hpp "$folder/laconic-single.hpp"
    # The sources as links to Compiler Explorer hold them, with the header in a folder: all but that are the tested programs.
    for program in examples/first/{sum,loop,objective}.cpp; do
        python3 cmake/explorer.py laconic-single.hpp "$program" --source >"$folder/first.cpp"
        diff <(grep -v '^#include <laconic' "$program") <(grep -vx '#include <laconic-single.hpp>' "$folder/first.cpp")
    done
    single() { # single COMPILER FLAG...
        "$1" -std=c++20 "${@:2}" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror \
            -I "$folder" -isystem "${EIGEN:-/usr/include/eigen3}" -pthread "$folder/first.cpp" -o "$folder/single"
        runs "$folder/single" "with the single header and $*"
    }
    single "$cxx"
    ! command -v clang++ >/dev/null || single clang++ -DLACONIC_SCALAR
else
    printf 'skipped: the single header needs python3\n'
fi

# The other standard library: the umbrella compiles, links and runs, and so does what a user's program instantiates.
if command -v clang++ >/dev/null; then
    if ! printf '#include <version>\nint main() {}\n' | clang++ -std=c++20 -stdlib=libc++ -x c++ -o /dev/null - 2>/dev/null; then
        printf 'clang++ has no libc++: cmake/install-deps.sh installs it\n'
        exit 1
    fi
    libcxx() { # libcxx FLAG...
        clang++ -std=c++20 -stdlib=libc++ -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-sign-conversion -Werror \
            -I include -I cmake/compiled -isystem "${EIGEN:-/usr/include/eigen3}" "$@"
    }
    libcxx -O1 -pthread examples/first/objective.cpp -o "$folder/first"
    for source in cmake/compiled/compressors_double.cpp cmake/compiled/reductions.cpp; do libcxx -fsyntax-only "$source"; done
    # With all methods of float, which no test compiles.
    printf '#include <laconic/all.hpp>\nauto const method = laconic::parse_method<float>("gd");\n' | libcxx -fsyntax-only -x c++ -
    runs "$folder/first" 'with clang++ -stdlib=libc++'
fi
