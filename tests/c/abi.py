# SPDX-License-Identifier: Apache-2.0
"""abi.py CHECKOUT LIBRARY: the symbols that the library shows are those of symbols.txt, and so are the functions of laconic_c.h
and of the Python package, which has as many arguments for each."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

checkout, library = map(pathlib.Path, sys.argv[1:])
listed = set((pathlib.Path(__file__).with_name("symbols.txt")).read_text().split())

shown = subprocess.run(["nm", "-D", "--defined-only", library], check=True, stdout=subprocess.PIPE).stdout.decode()
found = {"the library": {line.split()[-1] for line in shown.splitlines()}}

header = re.sub(r"/\*.*?\*/", "", (checkout / "include/laconic_c.h").read_text(), flags=re.DOTALL)
declared = dict(re.findall(r"LACONIC_C_API [^;(]*?\b(laconic_\w+)\(([^)]*)\);", header))
found["laconic_c.h"] = set(declared)

os.environ["LACONIC_LIBRARY"] = str(library)
spec = importlib.util.spec_from_file_location("_c", checkout / "python/laconic/_c.py")
_c = importlib.util.module_from_spec(spec)
spec.loader.exec_module(_c)
used = {name: function for name, function in vars(_c.library).items() if name.startswith("laconic_")}
found["_c.py"] = set(used)

wrong = [f"{where} lacks {name}" for where, names in found.items() for name in sorted(listed - names)]
wrong += [f"{where} has {name}, and symbols.txt does not" for where, names in found.items() for name in sorted(names - listed)]
for name, arguments in declared.items():
    counted = 0 if arguments in ("", "void") else arguments.count(",") + 1
    if name in used and len(used[name].argtypes or ()) != counted:
        wrong.append(f"{name} has {counted} arguments, in _c.py {len(used[name].argtypes or ())}")
print(*wrong, sep="\n")
sys.exit(1 if wrong else 0)
