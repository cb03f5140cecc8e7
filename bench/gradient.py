#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The gradients of a round of the race beside numpy's and scipy's, on the same rows, workers and threads.

    bench/gradient.py BENCH_GRADIENT [--threads T] [--runs N] [DATA...]

BENCH_GRADIENT is the program, build/bench/bench/bench_gradient, say. DATA is fashion-mnist (of Debian's package
dataset-fashion-mnist, as in the race), news20 (drawn rows of news20.binary's shape: 19996 x 1355191, 455 numbers a
row, columns by Zipf's law) or a LIBSVM file; both sets where none is named. Logistic regression, with one worker and
with ten. numpy has the rows as one dense matrix, where it fits into 4 GB, and the threads of its BLAS; scipy a CSR
matrix for each worker, and T threads that share the workers. All run in turns, N times; times are medians of medians in
milliseconds, and a ratio, the median of those of each turn, is above 1 where numpy or scipy takes longer than we do.
"round" is a whole round of gd, with its messages. It ends where the gradients differ."""
import argparse
import gzip
import lzma
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

THREADS = int(sys.argv[sys.argv.index("--threads") + 1]) if "--threads" in sys.argv else os.cpu_count()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)  # before numpy reads them
import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402

LAMBDA = 0.1


def fashion_mnist():
    def read(name, skip):
        with gzip.open(f"/usr/share/datasets/fashion-mnist/train-{name}-ubyte.gz") as f:
            return np.frombuffer(f.read(), np.uint8, offset=skip)

    y = read("labels-idx1", 8)
    x = read("images-idx3", 16).reshape(len(y), -1)
    kept = (y == 0) | (y == 6)
    return sp.csr_matrix(x[kept] / 255.0), np.where(y[kept] == 0, -1.0, 1.0)


def news20():
    draw = np.random.default_rng(1)
    n, d = 19996, 1355191
    count = np.minimum(draw.lognormal(5.95, 1, n).astype(int) + 1, 16000)
    row = np.repeat(np.arange(n), count)
    column = np.minimum(d ** draw.random(len(row)), d).astype(np.int64) - 1
    a = sp.csr_matrix((np.ones(len(row)), (row, column)), shape=(n, d))
    a.data = 1 / np.sqrt(np.repeat(np.diff(a.indptr), np.diff(a.indptr)))
    return a, draw.choice([-1.0, 1.0], n)


def libsvm(path):
    rows, column, value, label = [0], [], [], []
    with (lzma.open if path.endswith(".xz") else open)(path, "rt") as f:
        for line in f:
            y, *numbers = line.split()
            label.append(float(y))
            for one in numbers:
                at, v = one.split(":")
                column.append(int(at) - 1)
                value.append(float(v))
            rows.append(len(column))
    label = np.array(label)
    return sp.csr_matrix((value, column, rows)), np.where(label == label.min(), -1.0, 1.0)


def parts(n, workers):
    cuts = [i * (n // workers) + min(i, n % workers) for i in range(workers + 1)]
    return [slice(*c) for c in zip(cuts, cuts[1:])]


def gradient(a, at, y, x):
    return at @ (-y / (1 + np.exp(y * (a @ x))) / len(y)) + LAMBDA * x


def median_ms(run):
    took, until = [], time.perf_counter() + 1.5
    while time.perf_counter() < until or len(took) < 5:
        start = time.perf_counter()
        run()
        took.append(1e3 * (time.perf_counter() - start))
    return statistics.median(took)


def main():
    parser = argparse.ArgumentParser(description="the race's gradients beside numpy's and scipy's")
    parser.add_argument("program")
    parser.add_argument("data", nargs="*", default=["fashion-mnist", "news20"])
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_intermixed_args()
    print("| data | workers | threads | ours, ms | numpy | ratio | scipy | ratio | round of gd |")
    print("|---|---|---|---|---|---|---|---|---|")
    for data in asked.data:
        a, y = {"fashion-mnist": fashion_mnist, "news20": news20}.get(data, lambda: libsvm(data))()
        x = np.sin(np.arange(a.shape[1]))
        dense = a.toarray() if a.shape[0] * a.shape[1] * 8 < 4e9 else None
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(THREADS) as pool:
            for name, array, kind in (("shape", a.shape, np.int64), ("begin", a.indptr, np.int64),
                                      ("column", a.indices, np.int64), ("value", a.data, float), ("label", y, float)):
                np.asarray(array, kind).tofile(f"{folder}/{name}")
            for workers in (1, 10):
                cuts = parts(len(y), workers)
                sparse = [(a[c], a[c].T, y[c], x) for c in cuts]
                one_by_one = [(dense[c], dense[c].T, y[c], x) for c in cuts] if dense is not None else []
                ours, rounds, by_numpy, by_scipy = [], [], [], []
                for _ in range(asked.runs):
                    run = [asked.program, folder, str(workers), str(THREADS)]
                    found = subprocess.run(run, stdout=subprocess.PIPE, check=True, text=True).stdout.split()
                    ours.append(float(found[0]))
                    rounds.append(float(found[1]))
                    if dense is not None:
                        by_numpy.append(median_ms(lambda: [gradient(*p) for p in one_by_one]))
                    by_scipy.append(median_ms(lambda: list(pool.map(lambda p: gradient(*p), sparse))))
                mean = sum(gradient(*p) for p in sparse) / workers
                if abs(np.linalg.norm(mean) / float(found[2]) - 1) > 1e-12:
                    raise SystemExit(f"{data}: |gradient| is {found[2]}, and scipy's {np.linalg.norm(mean)}")

                def column(peer):
                    if not peer:
                        return ["", ""]
                    ratio = statistics.median(p / o for p, o in zip(peer, ours))
                    return [f"{statistics.median(peer):.3g}", f"{ratio:.2f}"]

                figures = [f"{statistics.median(ours):.3g}", *column(by_numpy), *column(by_scipy),
                           f"{statistics.median(rounds):.3g}"]
                print("|", " | ".join([os.path.basename(data), str(workers), str(THREADS), *figures]), "|", flush=True)


if __name__ == "__main__":
    main()
