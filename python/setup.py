# SPDX-License-Identifier: Apache-2.0
"""Packs the library that laconic_c.h declares with the Python package: the file that the environment variable
LACONIC_LIBRARY names, or what CMake builds of the checkout above this folder. It suits every Python."""

import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

here = pathlib.Path(__file__).resolve().parent
checkout = here.parent
header = checkout / "include/laconic/core/version.hpp"
if not header.exists():
    raise SystemExit(f"{header} is missing: the package is built in a checkout of laconic, pip install ./python")
version = re.search(r"version\[\] = {(\d+), (\d+), (\d+)};", header.read_text())


def built(folder):
    """The library, built in this folder for every processor of this machine's kind: no -march=native."""
    options = [f"-DLACONIC_{part}=OFF" for part in ("TESTS", "EXAMPLES", "NCCL", "DEVICE")]
    options += [f"-DLACONIC_MPI={os.environ.get('LACONIC_MPI', 'OFF')}", f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={folder}"]
    options += ["-DCMAKE_BUILD_TYPE=Release"]
    try:
        subprocess.run(["cmake", "-S", checkout, "-B", folder, *options], check=True)
        jobs = str(len(os.sched_getaffinity(0)))
        subprocess.run(["cmake", "--build", folder, "--target", "laconic_c", "--parallel", jobs], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"{error}\nlaconic is compiled with cmake 3.25, a C++20 compiler, Eigen and xsimd; on Debian: "
            "apt-get install cmake g++ libeigen3-dev libxsimd-dev"
        ) from error
    return folder / "liblaconic_c.so"


class with_library(build_py):
    def run(self):
        super().run()
        folder = pathlib.Path(self.get_finalized_command("build").build_temp).resolve()
        library = os.environ.get("LACONIC_LIBRARY") or built(folder)
        package = here if getattr(self, "editable_mode", False) else pathlib.Path(self.build_lib)
        shutil.copyfile(library, package / "laconic/liblaconic_c.so")


class for_any_python(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class with_machine_code(Distribution):
    def has_ext_modules(self):
        return True


setup(
    name="laconic",
    version=".".join(version.groups()),
    description="Distributed optimization with few bits: reducers and sums over numpy arrays",
    long_description=(here / "README.md").read_text(),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    packages=["laconic"],
    python_requires=">=3.9",
    install_requires=["numpy"],
    cmdclass={"build_py": with_library, "bdist_wheel": for_any_python},
    distclass=with_machine_code,
)
