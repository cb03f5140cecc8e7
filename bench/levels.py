#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Races gradient descent with fixed levels of sparsification, from one number to all, with and without quantization, against cat, which
chooses between all of them in each round, under several prices of communication; prints a table in Markdown and draws
the cost of f - f* = 1e-6 against the level.

    bench/levels.py RACE DATA OUT_FOLDER [LAMBDA]

RACE is the program, build/demo/examples/race, say; DATA is dna_scale as LIBSVM text (plain, .gz, .xz). OUT_FOLDER gets
what the race says under each price; a price that is there already is not raced again. LAMBDA is 1 unless given. Needs gnuplot for the drawing,
levels.svg in OUT_FOLDER."""
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# What a message costs, and how the drawing names it.
PRICES = {
    "packets:16,16,0": "packets of 16 bytes with headers of 16",
    "affine:1,1000": "1 a bit, 1000 a message",
    "affine:1,10000": "1 a bit, 10,000 a message",
}
DIMENSION = 540
LEVELS = sorted({min(round(1.05**i), DIMENSION) for i in range(130)})  # 1, 2, 3, ... 540, at most 5 % apart from 20 on
FIXED = {"S": "dcgd(top_k({}), step=1/L)", "S+Q": "dcgd(top_k({}) | sign, step=1/L)"}
ADAPTIVE = ["cat(top_k, step=1/L)", "cat(top_k | sign, step=1/L)", "cat(top_k, top_k | sign, step=1/L)",
            "cat(top_k, top_k | sign, sizes=written, step=1/L)"]


def race_under(price, race, data, weight, out):
    if not os.path.exists(out):
        command = [race, "--data", data, "--objective", "softmax", "--lambda", weight, "--workers", "1", "--rounds",
                   "1000000", "--threads", "1", "--quiet", "--cost", price, "--json", out + ".part"]
        for form in FIXED.values():
            for level in LEVELS:
                command += ["--method", form.format(level)]
        for method in ADAPTIVE:
            command += ["--method", method]
        subprocess.run(command, check=True)
        os.rename(out + ".part", out)
    with open(out) as file:
        methods = json.load(file)["methods"]
    costs = [m["cost_reaching_target"] for m in methods]
    curves = {name: list(zip(LEVELS, costs[i * len(LEVELS):])) for i, name in enumerate(FIXED)}
    return curves, costs[-len(ADAPTIVE):]


def draw(results, file):
    script = ["set terminal svg size 900,360 dynamic background rgb 'white' font 'sans,12'", f"set output '{file}'",
              f"set multiplot layout 1,{len(results)}", "set logscale xy", "set format y '10^{%T}'", "set grid",
              "set xlabel 'numbers a message'", "set key bottom right", f"set xrange [1:{DIMENSION}]"]
    for i, (price, (curves, adaptive)) in enumerate(results.items()):
        script.append(f"set title \"{PRICES[price]}\"")
        script.append("set ylabel 'cost of f - f* = 1e-6'" if i == 0 else "unset ylabel")
        plots = []
        for name, costs in curves.items():
            block = f"$d{i}{len(plots)}"
            script += [f"{block} << END", *(f"{k} {c}" for k, c in costs if c is not None), "END"]
            plots.append(f"{block} with lines linewidth 2 title '{name}, fixed'")
        script.append("plot " + ", ".join(plots + [f"{adaptive[2]} with lines linewidth 2 dashtype 2 title 'cat'"]))
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def main():
    race, data, folder, weight = *sys.argv[1:4], (sys.argv[4:] or ["1"])[0]
    os.makedirs(folder, exist_ok=True)
    out = {price: os.path.join(folder, price.replace(":", "-") + ".json") for price in PRICES}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(PRICES, pool.map(lambda p: race_under(p, race, data, weight, out[p]), PRICES)))
    titles = [m.replace(", step=1/L", "").replace("|", "\\|") for m in ADAPTIVE]
    print("| cost | best fixed level | its cost | " + " | ".join(f"`{t}`" for t in titles) + " |\n|---|---|---|"
          + "---|" * len(titles))
    for price, (curves, adaptive) in results.items():
        best, name, level = min((c, name, k) for name, costs in curves.items() for k, c in costs if c is not None)
        ratios = [f"{a / best:.3f}" for a in adaptive]
        print(f"| `{price}` | {level} ({name}) | {best:.4g} | " + " | ".join(ratios) + " |")
    draw(results, os.path.join(folder, "levels.svg"))


if __name__ == "__main__":
    main()
