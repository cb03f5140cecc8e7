#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Races every linearly convergent method on a folder of data sets and prints tables in Markdown: the Mbit that a worker
sends until f - f* is at most 1e-6. A number in brackets says how near a method came that did not come to 1e-10.

    bench/methods.py RACE DATA_FOLDER OUT_FOLDER [SET...]

RACE is the program, build/demo/examples/race, say; DATA_FOLDER holds LIBSVM files as SET.xz, OUT_FOLDER gets what the
race says of each; a set that is there already is not raced again. As many sets as the machine has cores run at a time.
A method stops after SECONDS_EACH seconds (in the environment; 600). Needs numpy: f* is found once more by Newton's method with conjugate
gradients, which knows nothing of the library, and must be the f* that the race measures from."""
import json
import lzma
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

WORKERS = 10
# Objective, weight of the penalty, and whether each feature is divided by its largest magnitude.
SETS = {
    "heart_scale": ("logistic", 1e-3, False),
    "ionosphere": ("logistic", 1e-3, False),
    "derm": ("logistic", 1e-3, False),
    "german_scale": ("logistic", 1e-3, False),
    "australian": ("logistic", 1e-3, True),
    "splice": ("logistic", 1e-3, True),
    "mushrooms": ("logistic", 1e-3, False),
    "a9a": ("logistic", 1e-3, False),
    "default_credit_scale": ("logistic", 1e-3, False),
    "colon_norm": ("logistic", 1e-1, False),
    "housing": ("ridge", 1e-3, False),
    "bodyfat": ("ridge", 1e-3, False),
    "abalone": ("ridge", 1e-3, False),
    "cpusmall_scale": ("ridge", 1e-3, False),
    "cadata_scale": ("ridge", 1e-3, False),
    "dna_scale": ("softmax", 1e-2, False),
    "digits": ("softmax", 1e-2, True),
    "mnist_t10k_scale": ("softmax", 1.0, False),
}
METHODS = [
    "gd",
    "ef21(top_k(0.25))",
    "diana(rand_k(0.25))",
    "diana(natural)",
    "diana(rand_k(0.25) | natural)",
    "diana(quantize(1, p=inf))",
    "vr_diana(natural, batch=8)",
    "vr_diana_saga(natural, batch=8)",
    "marina(rand_k(0.25))",
    "isega(tau=0.25, block=2)",
    "gd_sec(xi=5, beta=0.01)",
    "quantized_gd_sec(natural, xi=5, beta=0.01)",
    "lag_wk(xi=0.05, D=10)",
    "lag_ps(xi=0.05, D=10)",
    "proxskip",
    "bidirectional(diana(natural), natural, memory=0.5)",
]


def read(path, scale):
    """The rows that WORKERS equal parts hold, as a matrix, and their labels."""
    rows, labels = [], []
    with lzma.open(path, "rt") as file:
        for line in file:
            fields = line.split("#")[0].split()
            if fields:
                labels.append(float(fields[0]))
                rows.append([(int(i) - 1, float(v)) for i, v in (f.split(":") for f in fields[1:])])
    matrix = np.zeros((len(rows), 1 + max(i for row in rows for i, _ in row)))
    for j, row in enumerate(rows):
        for i, v in row:
            matrix[j, i] = v
    if scale:
        largest = np.abs(matrix).max(axis=0)
        matrix /= np.where(largest > 0, largest, 1)
    used = len(rows) // WORKERS * WORKERS
    return matrix[:used], np.array(labels[:used])


def least_value(matrix, labels, objective, weight):
    """min f, f being the objective as the library defines it."""
    n = len(labels)
    kinds, label = np.unique(labels, return_inverse=True)
    columns = len(kinds) if objective == "softmax" else 1
    truth = np.eye(columns)[label] if objective == "softmax" else None

    def outputs(x):
        z = matrix @ x
        if objective == "ridge":
            z = z - labels[:, None]
            return (z**2).sum() / (2 * n), z, lambda v: v
        if objective == "logistic":
            b = (2.0 * label - 1)[:, None]
            p = np.exp(-np.logaddexp(0, b * z))
            return np.logaddexp(0, -b * z).mean(), -b * p, lambda v: p * (1 - p) * v
        shifted = z - z.max(axis=1, keepdims=True)
        logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        p = np.exp(logs)
        return -(truth * logs).sum() / n, p - truth, lambda v: p * v - p * (p * v).sum(axis=1, keepdims=True)

    def value(x):
        return outputs(x)[0] + weight / 2 * (x**2).sum()

    x = np.zeros((matrix.shape[1], columns))
    for _ in range(100):
        loss, slopes, curved = outputs(x)
        g = matrix.T @ slopes / n + weight * x
        size = np.linalg.norm(g)
        if size**2 / weight < 1e-15:  # f - f* is at most |g|^2 / (2 weight)
            break
        step, residual = np.zeros_like(x), -g
        direction, square = residual, size**2
        for _ in range(2000):
            h = matrix.T @ curved(matrix @ direction) / n + weight * direction
            a = square / (direction * h).sum()
            step, residual = step + a * direction, residual - a * h
            last, square = square, (residual**2).sum()
            if np.sqrt(square) < min(0.1, np.sqrt(size)) * 1e-2 * size:
                break
            direction = residual + square / last * direction
        t, before = 1.0, loss + weight / 2 * (x**2).sum()
        while t > 1e-9 and value(x + t * step) > before + 1e-4 * t * (g * step).sum() + 1e-15 * abs(before):
            t /= 2
        x = x + t * step
    return value(x), size**2 / weight


def race_on(name, race, folder, out_folder):
    objective, weight, scale = SETS[name]
    path, out = os.path.join(folder, name + ".xz"), os.path.join(out_folder, name + ".json")
    if not os.path.exists(out):
        command = [race, "--data", path, "--objective", objective, "--lambda", str(weight), "--workers", str(WORKERS),
                   "--rounds", "100000000", "--seconds", os.environ.get("SECONDS_EACH", "600"), "--target", "1e-10",
                   "--threads", "1", "--quiet", "--json", out + ".part"] + ["--scale"] * scale
        for method in METHODS:
            command += ["--method", method]
        subprocess.run(command, check=True)
        os.rename(out + ".part", out)
    with open(out) as file:
        result = json.load(file)
    least, doubt = least_value(*read(path, scale), objective, weight)
    apart = abs(result["problem"]["f_star"] - least)
    if not apart <= 1e-12 * (1 + abs(least)) + doubt:
        raise SystemExit(f"{name}: the race's f* and numpy's are {apart:.1e} apart")
    print(f"{name}: f* = {least!r}, {apart:.0e} from the race's", file=sys.stderr)
    return result


def entry(method):
    first = next((bits for _, bits, gap, *_ in method["trace"] if gap <= 1e-6), None)
    text = "-" if first is None else f"{first / 1e6:.3g}"
    if method["round_reaching_target"] is None:
        text += f" ({method['final_suboptimality']:.0e})"
    return text


def table(names, results):
    def line(title, entries):
        print("| " + " | ".join([title, *entries]) + " |")

    line("Mbit", names)
    print("|---|" + "---|" * len(names))
    line("lambda", [f"{SETS[n][1]:g}" for n in names])
    line("d", [str(results[n]["problem"]["dimension"]) for n in names])
    line("L / mu", [f"{results[n]['problem']['smoothness'] / results[n]['problem']['strong_convexity']:.3g}"
                    for n in names])
    for i, text in enumerate(METHODS):
        line("`" + text.replace("|", "\\|") + "`", [entry(results[n]["methods"][i]) for n in names])


def main():
    race, folder, out_folder, chosen = *sys.argv[1:4], sys.argv[4:] or list(SETS)
    os.makedirs(out_folder, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(chosen, pool.map(lambda name: race_on(name, race, folder, out_folder), chosen)))
    for objective in "logistic", "ridge", "softmax":
        names = [n for n in chosen if SETS[n][0] == objective]
        if names:
            print(f"\n{objective}\n")
            table(names, results)


if __name__ == "__main__":
    main()
