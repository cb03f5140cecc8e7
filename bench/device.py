#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs bench_device, and torch.topk on the same GPU, and prints one table in Markdown.

    bench/device.py BENCH_DEVICE [--n N] [--table FILE]

BENCH_DEVICE is the program, build/cuda/bench/bench_device, say; N is how many floats, 2^28 unless told. torch.topk is
measured as the kernels are: numbers uniform in (-1, 1), the least time of ten runs by the GPU's clock after two for its
memory, for the same k, and finds what select_largest finds: the places of the largest magnitudes (in no order). It is
left out, and the last line says so, where there is no torch with CUDA. Exits with 77 where there is no GPU."""
import argparse
import re
import subprocess
import sys

try:
    import torch
except ImportError:
    torch = None

SHARES = (0.001, 0.01, 0.1)


def milliseconds(call):
    times = []
    for _ in range(12):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return min(times[2:])


def of_torch(n, copy_speed):
    """Lines of the table; copy_speed is in GB/s."""
    x = torch.rand(n, device="cuda") * 2 - 1
    lines = []
    for share in SHARES:
        k = int(share * n)
        time = milliseconds(lambda: x.abs().topk(k, sorted=False).indices)
        size = 4 * (n + k)  # as of select_largest: torch's places are twice as long
        speed = size / time / 1e6
        lines.append(
            f"| torch.topk, k = {share:g} n | {time:.4g} | {size / 1e6:.4g} | {speed:.4g} | {speed / copy_speed:.2f} |"
        )
    return lines


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("program")
    words.add_argument("--n", type=int, default=1 << 28, help="how many floats")
    words.add_argument("--table", metavar="FILE", help="where the table goes, too")
    asked = words.parse_args()
    try:
        ran = subprocess.run([asked.program, str(asked.n)], stdout=subprocess.PIPE, text=True)
    except OSError as error:
        sys.exit(f"{asked.program}: {error.strerror}")
    text = ran.stdout
    if ran.returncode == 0:
        if torch is not None and torch.cuda.is_available():
            copy = re.search(r"^\| copy \| \S+ \| \S+ \| (\S+) \|", text, re.MULTILINE)
            text += "\n".join(of_torch(asked.n, float(copy.group(1)))) + "\n"
        else:
            why = "torch is not installed" if torch is None else "torch finds no GPU"
            text += f"\nNot measured: torch.topk, as {why}.\n"
    print(text, end="")
    if ran.returncode == 0 and asked.table:
        with open(asked.table, "w") as file:
            file.write(text)
    sys.exit(ran.returncode)


if __name__ == "__main__":
    main()
