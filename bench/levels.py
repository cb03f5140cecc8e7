#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Races gradient descent with fixed levels of sparsification, from one number to all, with and without quantization,
against cat, which chooses in each round, under several prices of communication. Prints a table in Markdown and draws
the cost of f - f* = 1e-6 against the level.

    bench/levels.py RACE DATA OUT_FOLDER

RACE is the program, build/demo/examples/race, say; DATA is dna_scale as LIBSVM text (plain, .gz, .xz). OUT_FOLDER gets
what the race says; what is there already is not raced again. A fixed level is raced once, as what it sends does not
depend on the price, and priced round by round. It has ROUNDS rounds; the script ends if one that has not come to 1e-6
by then has cost less than cat in all. Needs gnuplot for the drawing, levels.svg in OUT_FOLDER."""
import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# What a message of so many bits costs, and how the drawing names it.
PRICES = {
    "lossy(affine(1, 64), 0.005)": (lambda bits: (bits + 64) / 0.995**bits, "a link that loses 0.5 % of the bits"),
    "affine(1, 1000)": (lambda bits: bits + 1000, "1 a bit, 1000 a message"),
    "affine(1, 10000)": (lambda bits: bits + 10000, "1 a bit, 10,000 a message"),
}
DIMENSION = 540
LEVELS = sorted({min(round(1.1**i), DIMENSION) for i in range(70)})
ROUNDS = 20000
FIXED = {"S": "dcgd(top_k({}), step=1/L)", "S+Q": "dcgd(top_k({}) | scaled_sign, step=1/L)"}
ADAPTIVE = ["cat(top_k, step=1/L)", "cat(top_k | scaled_sign, step=1/L)", "cat(top_k, top_k | scaled_sign, step=1/L)",
            "cat(top_k, top_k | scaled_sign, sizes=written, step=1/L)"]


def raced(race, data, out, methods, cost):
    """What the race says of these methods, with the price that cat adapts to."""
    if not os.path.exists(out):
        command = [race, "--data", data, "--objective", "softmax", "--lambda", "1", "--workers", "1", "--rounds",
                   str(ROUNDS), "--threads", "1", "--quiet", "--cost", cost, "--json", out + ".part"]
        for method in methods:
            command += ["--method", method]
        subprocess.run(command, check=True)
        os.rename(out + ".part", out)
    with open(out) as file:
        return json.load(file)["methods"]


def priced(method, price):
    """The cost of the target, or of all that was sent, and whether that came to the target. The trace has every round up
    to the 10,000th, and of later ones some, between which all messages count as equally long."""
    cost, marks = 0, method["trace"]
    for (before, sent_before, *_), (now, sent, *_) in zip(marks, marks[1:]):
        cost += (now - before) * price((sent - sent_before) / (now - before))
    return cost, method["round_reaching_target"] is not None


def curves_under(price, fixed, adaptive, name):
    least, curves = min(adaptive), {}
    for family, methods in fixed.items():
        curves[family] = []
        for level, method in zip(LEVELS, methods):
            cost, reached = priced(method, price)
            if reached:
                curves[family].append((level, cost))
            elif cost < least:
                raise SystemExit(f"{name}: {method['method']} may still cost less; give it more rounds")
    return curves


def draw(results, file):
    script = ["set terminal svg size 960,360 dynamic background rgb 'white' font 'sans,12'", f"set output '{file}'",
              f"set multiplot layout 1,{len(results)}", "set logscale xy", "set format y '10^{%T}'", "set grid",
              "set xlabel 'numbers a message'", "set key top left", f"set xrange [1:{DIMENSION}]"]
    for i, (price, (curves, adaptive)) in enumerate(results.items()):
        least = min(adaptive + [c for costs in curves.values() for _, c in costs])
        script.append(f"set title \"{PRICES[price][1]}\"\nset yrange [{least / 2}:{least * 200}]")
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

    def in_folder(name):
        return os.path.join(folder, "".join(c if c.isalnum() or c in "+." else "-" for c in name) + ".json")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        fixed = {name: pool.submit(raced, race, data, in_folder(name), [form.format(k) for k in LEVELS], "bits")
                 for name, form in FIXED.items()}
        adapted = {price: pool.submit(raced, race, data, in_folder(price), ADAPTIVE, price) for price in PRICES}
    fixed = {name: run.result() for name, run in fixed.items()}
    results = {}
    for name, (price, _) in PRICES.items():
        adaptive = [m["cost_reaching_target"] or math.inf for m in adapted[name].result()]
        results[name] = curves_under(price, fixed, adaptive, name), adaptive
    titles = [m.replace(", step=1/L", "").replace("|", "\\|") for m in ADAPTIVE]
    print("| cost | best fixed level | its cost | " + " | ".join(f"`{t}`" for t in titles) + " |\n|---|---|---|"
          + "---|" * len(titles))
    for price, (curves, adaptive) in results.items():
        best, name, level = min((c, name, k) for name, costs in curves.items() for k, c in costs)
        ratios = ["-" if a == math.inf else f"{a / best:.3f}" for a in adaptive]
        print(f"| `{price}` | {level} ({name}) | {best:.4g} | " + " | ".join(ratios) + " |")
    draw(results, os.path.join(folder, "levels.svg"))


if __name__ == "__main__":
    main()
