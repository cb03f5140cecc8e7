#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""names.py RACE PAGE [--write]: whether PAGE, docs/names.md, is what `race --list` prints; with --write, makes it so.

The list has four parts with an empty line between; an entry is a line with its text, and under it, indented, what it is
and its source.
"""

import pathlib
import re
import subprocess
import sys

HEAD = """# Names

Methods, compressors, collectives and costs as texts: in `race --method` and its other options, in `compiled::descend` and
`compiled::reducer`, and in `parse_method`, `parse_compressor`, `parse_collective` and `parse_cost`. In C++ the same names are types
with the same fields in braces: `diana(rand_k(0.1))` is `diana{rand_k{0.1}}`. What has a default may be left out; `step=` and the
like have theirs from a theorem. `build/demo/examples/race --list` prints this page's tables.

"""
PARTS = {
    "Methods": "`g` is the gradient that a worker takes, `C` the compressor of the difference to the shift, `alpha` the pace of "
               "the shift, and `decay` that of the residual: [design](design.md) has the equation.",
    "Compressors": "[Compressors](compressors.md) has constants, ranges and edges. `C | D` compresses the numbers that `C` keeps by `D`.",
    "Collectives": "As `over=` of a method or a reduction, and as `race --collective`.",
    "Costs": "As `race --cost`, and `cost=` of `cat` and `best_level`; unless said otherwise, in units of the first.",
}


def page(listed):
    text = HEAD
    for (title, intro), part in zip(PARTS.items(), listed.strip("\n").split("\n\n"), strict=True):
        text += f"## {title}\n\n{intro}\n\n| text | is | source |\n|---|---|---|\n"
        for entry in re.split(r"\n(?! )", part):
            name, *rest = [line.strip().replace("|", "\\|") for line in entry.splitlines()]
            what, source = (rest + ["", ""])[:2]
            text += f"| `{name}` | {what} | {source} |\n"
        text += "\n"
    return text.rstrip("\n") + "\n"


def main():
    race, path = sys.argv[1], pathlib.Path(sys.argv[2])
    made = page(subprocess.run([race, "--list"], capture_output=True, text=True, check=True).stdout)
    if "--write" in sys.argv[3:]:
        path.write_text(made, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != made:
        sys.exit(f"{path} is not what race --list prints: cmake/names.py {race} {path} --write makes it so")


if __name__ == "__main__":
    main()
