#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reference.py RACE DOCS [--write]: whether the pages of DOCS/reference are what the code says; with --write, makes them so.

A page has a section for each name that `race --list` prints, except its last part, the methods that race does not run. In it the
signature, what the value is, its source, its fields and the comment of its header are the code's. What stands between the marks
BY_HAND and FROM_CODE is written by hand and kept: when to take it, and a command of race. Below that is the part of the command's
output that is the same on every machine.
"""

import itertools
import math
import pathlib
import re
import shlex
import subprocess
import sys

BY_HAND, FROM_CODE = "<!-- by hand -->", "<!-- from the code -->"
PAGES = {  # in the order of race --list: the folders of the headers
    "methods": ["method", "decentralized", "second_order"],
    "compressors": ["compress", "any"],
    "collectives": ["collective", "transport"],
    "reductions": ["reduction"],
    "costs": ["core"],
    "steps": ["optim"],
}
TYPES = {  # of the names that are not those of their types
    "auto": ["automatic"],
    "gather": ["gather_all"],
    "gadmm": ["gadmm", "ggadmm"],
    "quantize": ["quantizer"],
    "split_all_gather": ["split_all_gather", "compressed_split_all_gather"],
    **{name: ["short_float"] for name in ("fp16", "bf16", "float8_e4m3", "float8_e5m2")},
}
VALUES = {  # of fields whose types have a reader of their own, which race --list has no words for
    "step": "a number, or a multiple of 1/L such as `1/L`",
    "compressor": "a compressor without its level",
    "or": "a compressor without its level",
    "length": "a count",
}
SHOWN = ("method", "rounds", "up/worker", "down/worker", "f - f*", "cost", "on network")  # the columns that are shown
ROOT = pathlib.Path(__file__).resolve().parent.parent


def listed(text):
    """What race --list prints: for each page the names, and for each name its variants."""
    for part in text.strip("\n").split("\n\n"):
        entries = [[line.strip() for line in entry.splitlines()] for entry in re.split(r"\n(?! )", part)]
        yield [(name, list(group)) for name, group in itertools.groupby(entries, lambda e: e[0].split("(")[0])]


def comment_of(kind, folders):
    """The comment above a type, and its header."""
    above = re.compile(r"((?:^ *///.*\n)+)(?: *(?:template|requires) .*\n)*"
                       rf" *(?:(?:template|requires) .*)?(?:struct|class|using) {kind}\b", re.M)
    for folder in folders:
        for header in sorted((ROOT / "include/laconic" / folder).rglob("*.hpp")):
            if found := above.search(header.read_text(encoding="utf-8")):
                return found[1], header.relative_to(ROOT)
    return None


def as_markdown(comment):
    """A comment as paragraphs, and what is indented in it as blocks of code."""
    blocks = []
    for line in comment.splitlines():
        line = line.strip()[3:].removeprefix(" ")
        kind = "code" if line.startswith("  ") else "text" if line else ""
        if line.startswith("- "):
            blocks.append(("list", []))
        elif blocks and blocks[-1][0] == "list" and re.match("  [^ ]", line):
            kind = "list"
        kind = "list" if line.startswith("- ") else kind
        if not blocks or blocks[-1][0] != kind:
            blocks.append((kind, []))
        blocks[-1][1].append(line)
    made = []
    for kind, lines in blocks:
        if kind == "code":
            least = min(len(line) - len(line.lstrip()) for line in lines)
            made.append("\n".join("    " + line[least:] for line in lines))
        elif kind:
            parts = re.split(r"(`[^`]*`)", " ".join(line.strip() for line in lines))
            made.append("".join(p if p.startswith("`") else re.sub(r"([*_\\])", r"\\\1", p).replace("<", "&lt;") for p in parts))
    return "\n\n".join(made)


def in_words(values):
    """Bounds that are powers of two as such."""
    def power(match):
        exponent = math.log2(float(match[0])) if float(match[0]) > 0 else 0.5
        return f"2^{exponent:.0f}" if exponent == round(exponent) and abs(exponent) > 20 else match[0]

    return re.sub(r"\d[\d.e+-]*", power, values)


def described(name, variants, folders):
    """The part of a section that is the code's, above what is written by hand."""
    text = "".join(f"    {v[0]}\n" for v in variants) + "\n"
    rows, seen = {}, set()
    for signature, about, *rest in variants:
        parameters = re.findall(r"[(,] ?(\w+)(=(?:[^,()]|\([^)]*\))*)?(?=[,)])", signature)
        fields = {f: line.removeprefix(f + ": ") for f, _ in parameters for line in rest if line.startswith(f + ": ")}
        source = [line for line in rest if not any(line.startswith(f + ": ") for f, _ in parameters)]
        if (about, *source) not in seen:
            text += f"*What:* {about}." + "".join(f" *Source:* {s}." for s in source) + "\n\n"
        seen.add((about, *source))
        for f, default in parameters:
            given = {"=": "by the theorem, if there is one" if f in ("step", "memory", "alpha") else "none", "": "must be given"}
            if f != "C":
                rows.setdefault((f, in_words(fields.get(f) or VALUES[f])), {})[given.get(default, f"`{default[1:]}`")] = None
    if rows:
        text += "| field | may be | default |\n|---|---|---|\n" + "".join(f"| `{f}` | {v} | {' or '.join(d)} |\n" for (f, v), d in rows.items()) + "\n"
    for kind in TYPES.get(name, [name]):
        if found := comment_of(kind, folders):
            text += as_markdown(found[0]) + "\n\n"
    header = next((f[1] for f in (comment_of(k, folders) for k in TYPES.get(name, [name])) if f), None)
    return text + (f"Header: [`{header.relative_to('include')}`](../../{header})\n\n" if header else "")


def outputs(race, commands):
    """What race prints for each command: those that differ only in the method are one race."""
    def key(command):
        words = shlex.split(command)
        return words[1:words.index("--method")], words[words.index("--method") + 1]

    races, shown = {}, {}
    for command in commands:
        if command.startswith("mpirun"):  # which not every machine has
            shown[command] = ""
            continue
        arguments, method = key(command)
        races.setdefault(tuple(arguments), {}).setdefault(method, []).append(command)
    for arguments, methods in races.items():
        wanted = [word for m in methods for word in ("--method", m)]
        ran = subprocess.run([race, *arguments, *wanted], capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            sys.exit(f"{shlex.join(['race', *arguments, *wanted])}: {ran.stderr}")
        lines = ran.stdout.rstrip("\n").splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("---"))
        spans = [m.span() for m in re.finditer("-+", lines[at])]
        table = [[line[a:b].strip() for a, b in spans] for line in (lines[at - 1], *lines[at + 1:at + 1 + len(methods)])]
        columns = [i for i, title in enumerate(table[0]) if title in SHOWN]
        for row, same in zip(table[1:], methods.values(), strict=True):
            cells = [(table[0][i], row[i]) for i in columns]
            widths = [max(map(len, cell)) for cell in cells]
            two = ["  ".join(c[line].ljust(w) if n == 0 else c[line].rjust(w) for n, (c, w) in enumerate(zip(cells, widths)))
                   for line in (0, 1)]
            for command in same:
                shown[command] = "".join(f"    {line.rstrip()}\n" for line in two)
    return shown


def page(path, names, folders, race):
    """A page with its names; its introduction and what is written by hand are kept."""
    intro, *sections = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.M)
    by_hand = {}
    for section in sections:
        by_hand[section.split("\n")[0]] = section.partition(BY_HAND)[2].partition(FROM_CODE)[0].strip("\n")
    commands = {name: re.findall(r"^    (?:race|mpirun -n 4 race) .*$", by_hand.get(name, ""), re.M) for name, _ in names}
    if missing := [name for name, found in commands.items() if len(found) != 1]:
        sys.exit(f"{path}: no command of race, or no section with {BY_HAND} and {FROM_CODE}, for {', '.join(missing)}")
    printed = outputs(race, [found[0].strip() for found in commands.values()])
    return intro + "\n".join(
        f"## {name}\n\n{described(name, variants, folders)}{BY_HAND}\n\n{by_hand[name]}\n\n{FROM_CODE}\n\n{printed[commands[name][0].strip()]}"
        for name, variants in names)


def same(made, there):
    """Whether two lines are the same; the last digits that race prints depend on the machine."""
    def near(a, b):
        try:
            return abs(float(a) - float(b)) <= 0.02 * abs(float(b))
        except ValueError:
            return a == b

    a, b = made.split(), there.split()
    return made == there or (made.startswith("    ") and len(a) == len(b) and all(map(near, a, b)))


def main():
    race, docs = sys.argv[1], pathlib.Path(sys.argv[2])
    *parts, _ = listed(subprocess.run([race, "--list"], capture_output=True, text=True, check=True).stdout)
    made = {docs / "llms.txt": (docs / "llms.txt").read_text(encoding="utf-8")}
    for (title, folders), names in zip(PAGES.items(), parts, strict=True):
        made[docs / "reference" / f"{title}.md"] = page(docs / "reference" / f"{title}.md", names, folders, race)
        line = f"- [{title.capitalize()}](reference/{title}.html), each at `#` and its name: {', '.join(n for n, _ in names)}"
        made[docs / "llms.txt"] = re.sub(rf"^- \[\w+\]\(reference/{title}\.html\).*$", line, made[docs / "llms.txt"], flags=re.M)
    for path, text in made.items():
        old, new = path.read_text(encoding="utf-8").splitlines(), text.splitlines()
        if len(old) == len(new) and all(map(same, new, old)):
            continue
        if "--write" not in sys.argv[3:]:
            first = next((f"{n}, not {o}" for n, o in zip(new, old) if not same(n, o)), "more or fewer lines")
            sys.exit(f"{path} is not what the code says: {first}\ncmake/reference.py {race} {docs} --write makes it so")
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
