#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks of two builds in turns, and prints which cases one of them does faster.

    bench/compare.py BEFORE AFTER [--only PREFIX] [--turns 7] [--all]

BEFORE and AFTER are the same program of Google Benchmark's, build/bench/bench/bench_kernel, say, of two builds. In a turn
each of them runs all cases once, and who begins changes from turn to turn. A case has changed where even the slowest of
one build's turns is faster than the fastest of the other's: by chance that happens to one case of 1700 with seven turns.
Its line has the median processor times and their ratio, above 1 where AFTER is slower; with --all the other cases have
lines, too, without the mark *. The last line says how many cases were compared. The status is 1 where a case is slower."""
import argparse
import json
import statistics
import subprocess
import sys


def times(program, only):
    """Name of a case -> processor seconds of a pass."""
    run = [program, "--benchmark_format=json", "--benchmark_min_time=0.05", f"--benchmark_filter=^{only}"]
    out = subprocess.run(run, stdout=subprocess.PIPE, check=True).stdout
    units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
    cases = json.loads(out)["benchmarks"] if out.strip() else []
    return {one["name"]: one["cpu_time"] * units[one["time_unit"]] for one in cases}


def readable(seconds):
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("before")
    words.add_argument("after")
    words.add_argument("--only", default="", metavar="PREFIX", help="of the names of cases")
    words.add_argument("--turns", type=int, default=7, help="from 2 on")
    words.add_argument("--all", action="store_true", help="print also what has not changed")
    asked = words.parse_args()
    if asked.turns < 2:
        words.error("one turn has no scatter: take two or more")
    both = {asked.before: [], asked.after: []}
    if len(both) < 2:
        words.error("BEFORE and AFTER are the same file")
    for turn in range(asked.turns):
        for program in list(both)[:: -1 if turn % 2 else 1]:
            both[program].append(times(program, asked.only))
    before, after = both.values()
    shared = [name for name in before[0] if all(name in run for run in before + after)]
    if not shared:
        sys.exit(f"no case of both begins with {asked.only!r}")
    slower = 0
    for name in shared:
        old, new = ([run[name] for run in runs] for runs in (before, after))
        changed = max(new) < min(old) or max(old) < min(new)
        if changed or asked.all:
            was, now = statistics.median(old), statistics.median(new)
            slower += changed and now > was
            print(f"{'*' if changed else ' '} {now / was:6.3f}  {readable(was):>8} -> {readable(now):>8}  {name}")
    print(f"{len(shared)} cases compared, {asked.turns} turns")
    return slower > 0


if __name__ == "__main__":
    sys.exit(main())
