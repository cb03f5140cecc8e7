#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Races gradient descent with fixed levels of sparsification, from one number to all, with and without quantization,
against cat, which chooses in each round, under several prices of communication. Prints a table in Markdown and draws
the cost of f - f* = 1e-6 against the level.

    bench/levels.py RACE DATA OUT_FOLDER

RACE is the program, build/demo/examples/race, say; DATA is mnist_t10k_scale as LIBSVM text (plain, .gz, .xz).
OUT_FOLDER gets what the race says under each price; a price that is there already is not raced again. A fixed level has
ROUNDS rounds; the script ends if one that has not come to 1e-6 by then has cost less than cat in all. Needs gnuplot for
the drawing, levels.svg in OUT_FOLDER."""
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# What a message costs, and how the drawing names it.
PRICES = {
    "affine:1,1000": "1 a bit, 1000 a message",
    "packets:1460,40,60": "packets of 1460 + 40 bytes, 60 a message",
    "affine:1,100000": "1 a bit, 100,000 a message",
}
DIMENSION = 7780
LEVELS = sorted({round(1.5**i) for i in range(22)} | {DIMENSION})
ROUNDS = 2000
FIXED = {"S": "dcgd(top_k({}), step=1/L)", "S+Q": "dcgd(top_k({}) | sign, step=1/L)"}
ADAPTIVE = ["cat(top_k, step=1/L)", "cat(top_k | sign, step=1/L)", "cat(top_k, top_k | sign, step=1/L)",
            "cat(top_k, top_k | sign, sizes=written, step=1/L)"]


def race_under(price, race, data, out):
    if not os.path.exists(out):
        command = [race, "--data", data, "--objective", "softmax", "--lambda", "1", "--workers", "1", "--rounds",
                   str(ROUNDS), "--threads", "1", "--quiet", "--cost", price, "--json", out + ".part"]
        for method in [form.format(level) for form in FIXED.values() for level in LEVELS] + ADAPTIVE:
            command += ["--method", method]
        subprocess.run(command, check=True)
        os.rename(out + ".part", out)
    with open(out) as file:
        methods = json.load(file)["methods"]
    adaptive = [m["cost_reaching_target"] for m in methods[-len(ADAPTIVE):]]
    curves = {}
    for i, name in enumerate(FIXED):
        curves[name] = []
        for level, method in zip(LEVELS, methods[i * len(LEVELS):]):
            if method["cost_reaching_target"] is not None:
                curves[name].append((level, method["cost_reaching_target"]))
            elif method["cost"] < min(a for a in adaptive if a is not None):
                raise SystemExit(f"{price}: {method['method']} may still cost less; give it more rounds")
    return curves, adaptive


def draw(results, file):
    script = ["set terminal svg size 960,360 dynamic background rgb 'white' font 'sans,12'", f"set output '{file}'",
              f"set multiplot layout 1,{len(results)}", "set logscale xy", "set format y '10^{%T}'", "set grid",
              "set xlabel 'numbers a message'", "set key top left", f"set xrange [1:{DIMENSION}]"]
    for i, (price, (curves, adaptive)) in enumerate(results.items()):
        least = min(adaptive + [c for costs in curves.values() for _, c in costs])
        script.append(f"set title \"{PRICES[price]}\"\nset yrange [{least / 2}:{least * 200}]")
        script.append("set ylabel 'cost of f - f* = 1e-6'" if i == 0 else "unset ylabel")
        plots = []
        for name, costs in curves.items():
            block = f"$d{i}{len(plots)}"
            script += [f"{block} << END", *(f"{k} {c}" for k, c in costs), "END"]
            plots.append(f"{block} with linespoints linewidth 2 title '{name}, fixed'")
        plots.append(f"{adaptive[-1]} with lines linewidth 2 dashtype 2 title 'cat'")
        script.append("plot " + ", ".join(plots))
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def main():
    race, data, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    out = {price: os.path.join(folder, price.replace(":", "-") + ".json") for price in PRICES}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(PRICES, pool.map(lambda p: race_under(p, race, data, out[p]), PRICES)))
    titles = [m.replace(", step=1/L", "").replace("|", "\\|") for m in ADAPTIVE]
    print("| cost | best fixed level | its cost | " + " | ".join(f"`{t}`" for t in titles) + " |\n|---|---|---|"
          + "---|" * len(titles))
    for price, (curves, adaptive) in results.items():
        best, name, level = min((c, name, k) for name, costs in curves.items() for k, c in costs)
        ratios = ["-" if a is None else f"{a / best:.3f}" for a in adaptive]
        print(f"| `{price}` | {level} ({name}) | {best:.4g} | " + " | ".join(ratios) + " |")
    draw(results, os.path.join(folder, "levels.svg"))


if __name__ == "__main__":
    main()
