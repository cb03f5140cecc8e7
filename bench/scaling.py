#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates collectives among 4 to 4096 ranks, prints tables in Markdown and draws seconds against ranks.

    bench/scaling.py SCALING OUT_FOLDER [MOST_RANKS]

SCALING is the program, build/bench/bench/scaling, say. OUT_FOLDER gets scaling.csv, what the program says, and
scaling.svg; a scaling.csv that is there is not computed again. Ends where the program does: if a simulated time is more
than 5 % off a formula that is exact. Needs gnuplot for the drawing."""
import csv
import os
import subprocess
import sys

# What is drawn, of which model, and how the drawing names it.
DRAWN = {("ResNet-50", "1 Gbit/s"): "ResNet-50, 1 Gbit/s", ("ResNet-50", "10 Gbit/s"): "ResNet-50, 10 Gbit/s",
         ("ResNet-50", "100 Gbit/s"): "ResNet-50, 100 Gbit/s", ("sensors", "10 Mbit/s"): "100,000 numbers, 10 Mbit/s",
         ("sensors", "250 kbit/s radio"): "100,000 numbers, 250 kbit/s radio"}
COLOURS = ["#7f7f7f", "#1f1f1f", "#56b4e9", "#0072b2", "#009e73", "#66a61e", "#e69f00", "#cc79a7", "#8c564b", "#d62728"]
IN_RACKS = ("ResNet-50", "10 Gbit/s in racks")


def simulated(program, folder, most):
    file = os.path.join(folder, "scaling.csv")
    if not os.path.exists(file):
        with open(file + ".part", "w") as out:
            subprocess.run([program] + most, stdout=out, check=True)
        os.rename(file + ".part", file)
    with open(file) as lines:
        return list(csv.DictReader(lines))


def seconds(x):
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if x >= unit or name == "us":
            return f"{x / unit:.3g} {name}"


def time_of(row):
    """By the formula at full size, which is checked; where it is but a bound, what was simulated, to scale."""
    exact = row["exact"] == "yes" or not row["simulated"]
    return float(row["formula"]) * (1 if exact else float(row["ratio"]))


def table(rows, title):
    ranks = sorted({int(r["ranks"]) for r in rows})
    names = list(dict.fromkeys(r["collective"] for r in rows))
    of = {(r["collective"], int(r["ranks"])): r for r in rows}
    print(f"\n### {title}\n\n| ranks | " + " | ".join(str(p) for p in ranks) + " |\n|---|" + "---|" * len(ranks))
    for name in names:
        cells = []
        for p in ranks:
            row = of[name, p]
            cells.append(seconds(time_of(row)) + ("" if row["simulated"] else " (f)"))
        print(f"| `{name}` | " + " | ".join(cells) + " |")


def racks(rows, flat):
    ranks = sorted({int(r["ranks"]) for r in rows if int(r["ranks"]) > 16})
    of = {(r["collective"], int(r["ranks"])): r for r in rows}
    bare = {(r["collective"], int(r["ranks"])): r for r in flat}
    print("\n### In racks\n\n| times as long | " + " | ".join(str(p) for p in ranks) + " |\n|---|" + "---|" * len(ranks))
    for name in dict.fromkeys(r["collective"] for r in rows):
        cells = [f"{float(of[name, p]['ratio']) / float(bare[name, p]['ratio']):.2f}" if of[name, p]["simulated"] else "-"
                 for p in ranks]
        print(f"| `{name}` | " + " | ".join(cells) + " |")


def draw(rows, file):
    script = ["set terminal svg size 1080,640 dynamic background rgb 'white' font 'sans,11'", f"set output '{file}'",
              "set multiplot layout 2,3", "set logscale x 2", "set logscale y", "set format y '10^{%T}'", "set grid",
              "set xlabel 'ranks'", "unset key"]
    names = list(dict.fromkeys(r["collective"] for r in rows))
    for i, (drawn, title) in enumerate(DRAWN.items()):
        script += [f"set title '{title}'", "set ylabel 'seconds'" if i % 3 == 0 else "unset ylabel"]
        plots = []
        for j, name in enumerate(names):
            mine = [r for r in rows if r["collective"] == name and (r["model"], r["network"]) == drawn]
            line, dots = f"$line{i}_{j}", f"$dots{i}_{j}"
            script += [f"{line} << END", *(f"{r['ranks']} {time_of(r)}" for r in mine), "END"]
            plots.append(f"{line} with lines linewidth 1.5 linecolor rgb '{COLOURS[j]}'")
            if checked := [f"{r['ranks']} {time_of(r)}" for r in mine if r["simulated"]]:
                script += [f"{dots} << END", *checked, "END"]
                plots.append(f"{dots} with points pointtype 7 pointsize 0.5 linecolor rgb '{COLOURS[j]}'")
        script.append("plot " + ", ".join(plots))
    # The last place names the lines.
    script += ["unset title", "unset xlabel", "unset ylabel", "unset tics", "unset border", "unset grid",
               "unset logscale", "set key center center", "set xrange [0:1]", "set yrange [0:1]"]
    script.append("plot " + ", ".join(f"-1 with linespoints linewidth 1.5 pointtype 7 pointsize 0.5 linecolor rgb '{COLOURS[j]}' "
                                      f"title '{name}' noenhanced" for j, name in enumerate(names)))
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def main():
    program, folder, *most = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    rows = simulated(program, folder, most)
    checked = [float(r["ratio"]) for r in rows if r["exact"] == "yes" and r["simulated"]]
    print(f"{len(checked)} simulated times are {min(checked):.4f} to {max(checked):.4f} times what the formula says.")
    for drawn, title in DRAWN.items():
        table([r for r in rows if (r["model"], r["network"]) == drawn], title)
    racks([r for r in rows if (r["model"], r["network"]) == IN_RACKS],
          [r for r in rows if (r["model"], r["network"]) == ("ResNet-50", "10 Gbit/s")])
    draw(rows, os.path.join(folder, "scaling.svg"))


if __name__ == "__main__":
    main()
