#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs bench_kernel, and what Python users would take instead, and prints one table in Markdown.

    bench/kernel.py BENCH_KERNEL [--only PREFIX] [--table FILE]

BENCH_KERNEL is the program, build/bench/bench/bench_kernel, say. PREFIX is that of the names of cases that are run:
top_k/float/gauss, say. The program's own peers are in its output, KERNEL.PEER/..; torch and numpy are measured here, on
numbers of the same kind, for vectors up to 2^24, on one thread, where they are installed. All times are those of the
processor. A row is the fastest of five runs, in each of which kernel and ceiling took turns; its fraction is the median
of the five, each of which is the median time of a pass of the ceiling over that of the kernel. A peer's figure is its
time over that of the kernel."""
import argparse
import json
import re
import statistics
import subprocess
import sys
import time

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
    torch.set_num_threads(1)
except ImportError:
    torch = None

LONGEST = 1 << 24  # of the vectors that Python gets
BLOCK = 256


def numbers(kind, scalar, d):
    """As bench/kernel/inputs.cpp has them."""
    draw = numpy.random.default_rng(1)
    x = draw.standard_t(2, d) if kind == "heavy" else draw.standard_normal(d)
    if kind.startswith("zero"):
        zero = int(kind[-2:]) / 100
        blocks = kind.startswith("zero_blocks")
        is_0 = draw.random(d // BLOCK + 1 if blocks else d) < zero
        x[(numpy.repeat(is_0, BLOCK) if blocks else is_0)[:d]] = 0
    if kind == "sorted":
        x = x[numpy.argsort(numpy.abs(x))]
    if kind == "equal":
        x[:] = 1
    if kind == "one_block":
        x[d // 2:d // 2 + d // 64] *= 1000
    return x.astype("float32" if scalar == "float" else "float64")


def torch_top_k(x, k):
    t = torch.from_numpy(x)
    return lambda: t[t.abs().topk(k, sorted=False).indices]


def numpy_top_k(x, k):
    def run():
        sizes = numpy.abs(x)
        at = numpy.flatnonzero(sizes >= numpy.partition(sizes, len(x) - k)[len(x) - k])
        return at, x[at]
    return run


def torch_rand_k(x, k):
    t = torch.from_numpy(x)
    return lambda: t[torch.randperm(len(x))[:k]]


def numpy_rand_k(x, k):
    draw = numpy.random.default_rng(2)
    return lambda: x[draw.choice(len(x), k, replace=False)]


def torch_quantize(x, _):
    """QSGD as GRACE computes it, to one byte for each number. The time does not depend on the number of levels."""
    t, levels = torch.from_numpy(x), 7

    def run():
        scaled = levels * t.abs() / t.norm()
        below = scaled.floor()
        up = (torch.rand_like(t) < scaled - below).type(t.dtype)
        return (t.sign() * (below + up)).type(torch.int8)
    return run


# For kernels with such names.
PEERS = [("top_k$", "torch", torch_top_k), ("top_k$", "numpy", numpy_top_k), ("rand_k$", "torch", torch_rand_k),
         ("rand_k$", "numpy", numpy_rand_k), ("quantize_[248]_bits$", "torch", torch_quantize)]


def seconds(run):
    """Once at least, then as often as fits into half a second."""
    times, begin = [], time.process_time()
    while len(times) < 1 or (time.process_time() - begin < 0.5 and len(times) < 5):
        t = time.process_time()
        run()
        times.append(time.process_time() - t)
    return min(times)


def measured(program, only):
    """Name -> what was counted in the fastest of five runs, but the median of their fractions, in the program's order."""
    run = [program, "--benchmark_format=json", "--benchmark_repetitions=5", "--benchmark_min_time=0.05",
           f"--benchmark_filter=^{only}"]
    out = subprocess.run(run, stdout=subprocess.PIPE, check=True).stdout
    runs = {}
    for one in json.loads(out)["benchmarks"] if out.strip() else []:
        if one["run_type"] == "iteration":
            runs.setdefault(one.get("run_name", one["name"]), []).append(one)
    fastest = {}
    for name, five in runs.items():
        fastest[name] = min(five, key=lambda one: one["cpu_time"])
        for fraction in [key for key in five[0] if key.startswith("fraction_of_")]:
            fastest[name][fraction] = statistics.median(one[fraction] for one in five)
    return fastest


def of_python(cases):
    """(case, peer) -> seconds."""
    found, last, x = {}, None, None
    for name in cases:
        kernel, scalar, kind, *sizes = name.split("/")
        size = dict(s.split(":") for s in sizes)
        d = int(size["d"])
        for pattern, peer, make in PEERS:
            there = torch is not None and numpy is not None if peer == "torch" else numpy is not None
            if re.match(pattern, kernel) and there and d <= LONGEST:
                if (kind, scalar, d) != last:
                    last, x = (kind, scalar, d), numbers(kind, scalar, d)
                found[name, peer] = seconds(make(x, int(size.get("k", 0))))
    return found


def table(runs, python):
    lines = ["| case | ms | GB/s | fraction of the ceiling | million items/s | peers, times as long |", "|---|---|---|---|---|---|"]
    for name, run in runs.items():
        kernel, rest = name.split("/", 1)
        if "." in kernel:
            continue
        ours = run["cpu_time"]  # microseconds
        peers = [(other.split("/")[0].split(".")[1], it["cpu_time"]) for other, it in runs.items()
                 if other.split("/")[0].startswith(kernel + ".") and other.split("/", 1)[1] == rest]
        peers += [(peer, 1e6 * t) for (case, peer), t in python.items() if case == name]
        ceiling = ("read", "triad")["fraction_of_triad" in run]
        fraction = f"{run['fraction_of_' + ceiling]:.2f}" + (" of the triad" if ceiling == "triad" else "")
        items = f"{run['items_per_second'] / 1e6:.3g}" if "items_per_second" in run else ""
        beside = ", ".join(f"{peer} {t / ours:.3g}" for peer, t in peers)
        lines.append(f"| `{name}` | {ours / 1e3:.3g} | {run['bytes_per_second'] / 1e9:.3g} | {fraction} | {items} | {beside} |")
    return "\n".join(lines) + "\n"


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("program")
    words.add_argument("--only", default="", metavar="PREFIX", help="of the names of cases")
    words.add_argument("--table", metavar="FILE", help="where the table goes, too")
    asked = words.parse_args()
    runs = measured(asked.program, asked.only)
    if not runs:
        sys.exit(f"no case begins with {asked.only}")
    text = table(runs, of_python([name for name in runs if "." not in name.split("/")[0]]))
    missing = [name for name, module in (("numpy", numpy), ("torch", torch)) if module is None]
    if missing:
        text += f"\nNot measured, as not installed: {' and '.join(missing)}.\n"
    print(text, end="")
    if asked.table:
        with open(asked.table, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
