#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs bench_round several times and prints one table in Markdown.

    bench/round.py BENCH_ROUND [--only PREFIX] [--runs N] [--table FILE] [--json FILE]

BENCH_ROUND is the program, build/bench/bench/bench_round, say. PREFIX is that of the names of cases that are run:
error_feedback_top_k/d:65536, say. Times are those of the clock on the wall, of the fastest run, from the first rank's
start to the last one's end; a ratio is the median over the runs, of which each is the median over its stretches. The
bound is the bytes that must cross between processor and memory in a step, at the pace of a triad in the same run. The
program ends where the reducer's estimate is not, bit for bit, that of its kernels called by hand. FILE of --json gets
the medians of all that was counted, in seconds, such as each kernel's least time."""
import argparse
import json
import statistics
import subprocess
import sys

TIMES = ["reduce", "kernels", "dense", "bound"]
TOO_MUCH = 1.3  # times the kernels


def processor_name():
    with open("/proc/cpuinfo") as lines:
        found = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(found)} x {found[0]}" if found else "an unknown processor"


def measured(program, only, runs):
    """(name, d, ranks) -> what was counted, in the program's order."""
    all_runs = {}
    for _ in range(runs):
        command = [program, "--benchmark_format=json", f"--benchmark_filter=^{only}"]
        out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        for one in json.loads(out)["benchmarks"] if out.strip() else []:
            if one.get("error_occurred"):
                sys.exit(f"{one['name']}: {one['error_message']}")
            name, *sizes = one["name"].split("/")
            size = dict(s.split(":") for s in sizes if s.count(":") == 1 and s[0] in "dr")
            all_runs.setdefault((name, int(size["d"]), int(size["ranks"])), []).append(one)
    cases = {}
    for case, each in all_runs.items():
        numbers = [key for key, value in each[0].items() if isinstance(value, (int, float))]
        cases[case] = {key: statistics.median(one[key] for one in each) for key in numbers}
        cases[case].update({key: min(one[key] for one in each) for key in TIMES})
        cases[case]["label"] = each[0]["label"]
    return cases


def size(d):
    return str(d) if d & (d - 1) else f"2^{d.bit_length() - 1}"


def table(cases):
    lines = ["| reduction | numbers | ranks | bytes of a message | reduce, ms | kernels, ms | ratio | of processor time "
             "| bound, ms | ratio | dense, ms | ratio |", "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for (_, d, ranks), one in cases.items():
        dense = [f"{1e3 * one['dense']:.3g}", f"{one['of_dense']:.2f}"] if ranks > 1 else ["", ""]
        lines.append("| " + " | ".join([
            f"`{one['label']}`".replace("|", "\\|"), size(d), str(ranks),
            f"{one['message_bytes']:.0f}", f"{1e3 * one['reduce']:.3g}", f"{1e3 * one['kernels']:.3g}",
            f"{one['of_kernels']:.2f}", f"{one['of_kernels_processor']:.2f}", f"{1e3 * one['bound']:.3g}",
            f"{one['of_bound']:.2f}", *dense]) + " |")
    return "\n".join(lines) + "\n"


def summary(cases):
    above = sorted(((one["of_kernels"], one["of_kernels_processor"], one["label"], d, ranks)
                    for (_, d, ranks), one in cases.items() if one["of_kernels"] > TOO_MUCH), reverse=True)
    if not above:
        return f"Of {len(cases)} steps none takes more than {TOO_MUCH} times as long as its kernels.\n"
    listed = [f"`{label}`, {size(d)} numbers, {ranks} ranks: {ratio:.2f} (processor time {processor:.2f})"
              for ratio, processor, label, d, ranks in above]
    return f"Of {len(cases)} steps {len(above)} take more than {TOO_MUCH} times as long as their kernels:\n\n- " + \
        "\n- ".join(listed) + "\n"


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("program")
    words.add_argument("--only", default="", metavar="PREFIX", help="of the names of cases")
    words.add_argument("--runs", type=int, default=3, metavar="N")
    words.add_argument("--table", metavar="FILE", help="where the table goes, too")
    words.add_argument("--json", metavar="FILE", help="where all numbers go")
    asked = words.parse_args()
    cases = measured(asked.program, asked.only, asked.runs)
    if not cases:
        sys.exit(f"no case begins with {asked.only}")
    text = f"{processor_name()}, {asked.runs} runs.\n\n{table(cases)}\n{summary(cases)}"
    print(text, end="")
    if asked.table:
        with open(asked.table, "w") as file:
            file.write(text)
    if asked.json:
        with open(asked.json, "w") as file:
            json.dump([{"case": "/".join(map(str, case)), **one} for case, one in cases.items()], file, indent=1)


if __name__ == "__main__":
    main()
