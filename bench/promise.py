#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Races cat against every fixed level, on one worker, and prints what cat costs as a fraction of the best fixed level:
the table "What `cat` promises" of docs/results/bits.md.

    bench/promise.py RACE FOLDER OUT_FOLDER [SET...]

RACE is the program, build/demo/examples/race, say; FOLDER has the data sets, australian.xz and so on; OUT_FOLDER gets
what the race says, and what is there already is not raced again. Without SET all sets are raced, in some minutes."""
import json
import os
import subprocess
import sys

# The weight lambda, whether features are scaled, and the dimension.
SETS = {"australian": (0.01, True, 14), "german_scale": (0.01, False, 24), "ionosphere": (0.01, False, 34),
        "mushrooms": (0.1, False, 112)}
COSTS = ["bits", "affine(1, 2000)", "packets(512, 64, 0)"]
NUMBERS, SIGNS = "dcgd(top_k({}), step=1/L)", "dcgd(top_k({}) | scaled_sign, step=1/L)"
ADAPTIVE = ["cat(top_k, step=1/L)", "cat(top_k, top_k | scaled_sign, step=1/L)",
            "cat(top_k, top_k | scaled_sign, sizes=written, step=1/L)"]


def costs(race, folder, out, name, price):
    """What each method says until f - f* = 1e-6; None where it does not come there."""
    weight, scaled, dimension = SETS[name]
    levels = range(1, dimension + 1) if dimension < 40 else sorted({min(round(1.06**i), dimension) for i in range(90)})
    methods = [NUMBERS.format(k) for k in levels] + [SIGNS.format(k) for k in levels] + ADAPTIVE
    file = os.path.join(out, f"{name}-{COSTS.index(price)}.json")
    if not os.path.exists(file):
        command = [race, "--data", os.path.join(folder, name + ".xz"), "--lambda", str(weight), "--workers", "1",
                   "--rounds", "60000", "--threads", "1", "--quiet", "--target", "1e-6", "--cost", price, "--json", file]
        command += ["--scale"] if scaled else []
        for method in methods:
            command += ["--method", method]
        subprocess.run(command, check=True)
    with open(file) as lines:
        found = [method["cost_reaching_target"] for method in json.load(lines)["methods"]]
    return found[:len(levels)], found[len(levels):2 * len(levels)], found[2 * len(levels):]


def least(found):
    return min(cost for cost in found if cost is not None)


def main():
    race, folder, out, *names = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    print("| set | cost | `cat(top_k)`, of the best k | `cat(top_k, top_k \\| scaled_sign)`, of the best of both | the same, "
          "`sizes=written` |\n|---|---|---|---|---|")
    for name in names or SETS:
        for price in COSTS:
            numbers, signs, (chosen, either, written) = costs(race, folder, out, name, price)
            best = least(numbers + signs)
            print(f"| {name if price == COSTS[0] else ''} | `{price}` | {chosen / least(numbers):.3f} | "
                  f"{either / best:.3f} | {written / best:.3f} |", flush=True)


if __name__ == "__main__":
    main()
