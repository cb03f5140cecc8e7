#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Races every linearly convergent method on a folder of data sets and prints a table in Markdown: the Mbit that a
worker sends until f - f* is at most 1e-6, and how near it came where it did not come to 1e-10.

    bench/methods.py RACE DATA_FOLDER [SET...]

RACE is the program, build/demo/examples/race, say; the folder holds LIBSVM files as SET.xz. A method stops after SECONDS_EACH seconds (in the environment; 60)."""
import json
import os
import subprocess
import sys
import tempfile

WORKERS = 10
# Objective and weight of the penalty: ridge for regression, logistic regression for two classes.
SETS = {
    "heart_scale": ("logistic", 1e-3),
    "ionosphere": ("logistic", 1e-3),
    "derm": ("logistic", 1e-3),
    "splice": ("logistic", 1e-1),
    "mushrooms": ("logistic", 1e-3),
    "a9a": ("logistic", 1e-3),
    "german_scale": ("logistic", 1e-3),
    "colon_norm": ("logistic", 1e-1),
    "housing": ("ridge", 1e-3),
    "bodyfat": ("ridge", 1e-3),
    "abalone": ("ridge", 1e-3),
    "cpusmall_scale": ("ridge", 1e-3),
}
METHODS = [
    "gd",
    "ef21(top_k(0.25))",
    "diana(rand_k(0.25))",
    "diana(natural)",
    "diana(rand_k(0.25) | natural)",
    "diana(quantize(1, p=inf))",
    "vr_diana_saga(natural, batch=8)",
    "vr_diana(natural, batch=8)",
    "marina(rand_k(0.25))",
    "isega(tau=0.25, block=2)",
    "gd_sec(xi=5, beta=0.01)",
    "quantized_gd_sec(natural, xi=5, beta=0.01)",
    "lag_wk(xi=0.05, D=10)",
    "lag_ps(xi=0.05, D=10)",
    "proxskip",
    "bidirectional(diana(natural), natural, memory=0.5)",
]


def megabits(bits):
    return f"{bits / 1e6:.3g}"


def main():
    race, folder, chosen = sys.argv[1], sys.argv[2], sys.argv[3:] or list(SETS)
    columns = {}
    for name in chosen:
        objective, weight = SETS[name]
        with tempfile.TemporaryDirectory() as scratch:
            out = os.path.join(scratch, "race.json")
            command = [race, "--data", os.path.join(folder, name + ".xz"), "--objective", objective,
                       "--lambda", str(weight), "--workers", str(WORKERS), "--rounds", "1000000",
                       "--seconds", os.environ.get("SECONDS_EACH", "60"), "--target", "1e-10", "--quiet", "--json", out]
            for method in METHODS:
                command += ["--method", method]
            subprocess.run(command, check=True)
            with open(out) as file:
                result = json.load(file)
        problem = result["problem"]
        column = {"d": problem["dimension"], "kappa": problem["smoothness"] / problem["strong_convexity"]}
        for text, method in zip(METHODS, result["methods"]):
            first = next((bits for _, bits, gap in method["trace"] if gap <= 1e-6), None)
            reached = method["round_reaching_target"]
            column[text] = ("-" if first is None else megabits(first)) + (
                "" if reached is not None else f" (stopped at {method['final_suboptimality']:.0e})")
        columns[name] = column
        print(f"{name}: done", file=sys.stderr)
    print("| Mbit up per worker | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    print("| objective, lambda | " + " | ".join(f"{SETS[n][0]}, {SETS[n][1]:g}" for n in columns) + " |")
    print("| d | " + " | ".join(str(c["d"]) for c in columns.values()) + " |")
    print("| L / mu | " + " | ".join(f"{c['kappa']:.3g}" for c in columns.values()) + " |")
    for text in METHODS:
        print(f"| `{text}` | " + " | ".join(c[text] for c in columns.values()) + " |")


if __name__ == "__main__":
    main()
