#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/builds/module.sh COMPILER: the module `laconic` (cmake/single_header.py), a program that imports it, and what that
# prints. For g++ 15 or clang++ 21; older ones fail on modules. EIGEN is Eigen's folder, if it is elsewhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
compiler=$1
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
python3 cmake/single_header.py include laconic/laconic.hpp "$folder/laconic.cppm"
# Imported after the headers that are included; clang++ must have seen those whose operators the library's templates use.
{
    printf '#include <%s>\n' cstdio numeric optional span string vector
    echo 'import laconic;'
    grep -v '^#include' examples/first/objective.cpp
} >"$folder/first.cpp"
flags=(-std=c++20 -O1 -Wall -Wextra -Werror -isystem "${EIGEN:-/usr/include/eigen3}" -pthread)
cd "$folder"
if "$compiler" --version | grep -q clang; then
    flags+=(-Wno-unknown-warning-option -Wno-TU-local-entity-exposure)  # intrinsics are static functions
    "$compiler" "${flags[@]}" --precompile laconic.cppm -o laconic.pcm
    "$compiler" "${flags[@]}" -fmodule-file=laconic=laconic.pcm -c first.cpp -o first.o
    "$compiler" -O1 -c laconic.pcm -o laconic.o
else
    "$compiler" "${flags[@]}" -fmodules -x c++ -c laconic.cppm -o laconic.o
    "$compiler" "${flags[@]}" -fmodules -c first.cpp -o first.o
fi
"$compiler" first.o laconic.o -pthread -o first
./first
[[ $(./first) == 'x = 1.500000000 ..., 150.0 bytes a round' ]]
