#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/guards/count.sh [REVISION]... [-- PROGRAM...]
# Counts the tests of the working tree, and of each revision beside it: lines, test cases, checks, and rows of tables, which
# are initialisers of a line each. Of each program of doctest's it prints how many checks it makes when it runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
count() { # count NAME <SOURCES
    awk -v name="$1" '
        { ++lines }
        /^ *TEST_CASE/ { ++cases }
        { checks += gsub(/(^|[^A-Z_])(CHECK|REQUIRE|FAIL_CHECK|FAIL)(_[A-Z_]+)?\(/, "&") }
        /^ +\{.*\},?(\};?|\)+;?)?( *\/\/.*)?$/ { ++rows }
        END { printf "%-12s %6d lines %5d cases %6d checks %5d rows\n", name, lines, cases, checks, rows }'
}
while [[ $# -gt 0 && $1 != -- ]]; do
    git archive "$1" tests | tar -xO --wildcards '*.cpp' '*.hpp' | count "$1"
    shift
done
git ls-files -z --cached --others --exclude-standard 'tests/*.cpp' 'tests/*.hpp' | xargs -0 cat | count 'working tree'
for program in "${@:2}"; do
    printf '%-24s %s\n' "$(basename "$program")" "$("$program" -nc=1 | grep -o 'assertions: *[0-9]*' | tr -s ' ')"
done
