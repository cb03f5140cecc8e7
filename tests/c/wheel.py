# SPDX-License-Identifier: Apache-2.0
"""wheel.py CHECKOUT LIBRARY FOLDER: packs the library as pip does, installs that into the folder, and runs the program of
python/README.md, which must print what that page says. 77, with a word, where a package of Python is missing."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

checkout, library, work = map(pathlib.Path, sys.argv[1:])
for module in ("numpy", "pip", "setuptools", "wheel"):
    if not importlib.util.find_spec(module):
        print(f"python.wheel is skipped: {sys.executable} has no {module}")
        sys.exit(77)

shutil.rmtree(work, ignore_errors=True)
copy = work / "checkout"  # setuptools writes beside what it packs
shutil.copytree(checkout / "python", copy / "python", ignore=shutil.ignore_patterns("build", "*.egg-info", "*.so"))
for name in ("LICENSE", "include/laconic/core/version.hpp"):
    (copy / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(checkout / name, copy / name)
environment = dict(os.environ, LACONIC_LIBRARY=str(library), PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INDEX="1")


def pip(*arguments):
    subprocess.run([sys.executable, "-m", "pip", *arguments], env=environment, check=True)


pip("wheel", "--no-build-isolation", "--no-deps", "-w", work / "made", copy / "python")
(wheel,) = (work / "made").iterdir()
assert re.fullmatch(r"laconic-\d+\.\d+\.\d+-py3-none-linux_\w+\.whl", wheel.name), wheel.name
packed = zipfile.ZipFile(wheel).namelist()
for name in (r"laconic/__init__\.py", r"laconic/liblaconic_c\.so", r"laconic-.*\.dist-info/(licenses/)?LICENSE"):
    assert any(re.fullmatch(name, p) for p in packed), (name, packed)
pip("install", "--no-deps", "--target", work / "site", wheel)

readme = (checkout / "python/README.md").read_text()
program = re.search(r"```python\n(.*?)```", readme, re.DOTALL).group(1) + "print(laconic.__file__)\n"
del environment["LACONIC_LIBRARY"]
environment["PYTHONPATH"] = str(work / "site")
ran = subprocess.run([sys.executable, "-c", program], env=environment, cwd=work, check=True, stdout=subprocess.PIPE)
*printed, place = ran.stdout.decode().splitlines()
print(*printed, place, sep="\n")
assert pathlib.Path(place).is_relative_to(work / "site"), place
for line in printed:
    assert f"\n    {line}\n" in readme, f"python/README.md does not show `{line}`"
