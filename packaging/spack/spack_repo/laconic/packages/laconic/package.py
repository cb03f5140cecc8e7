# SPDX-License-Identifier: Apache-2.0
import os
import tempfile

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Laconic(CMakePackage):
    """Communication-efficient distributed optimization, header-only."""

    maintainers("seed-0cb3b446-maintainers")

    license("Apache-2.0")

    # Of a checkout: spack develop --path CHECKOUT laconic@0.1.0
    version("0.1.0")

    variant("mpi", default=False, description="Bring the MPI that laconic/comm/mpi.hpp needs")

    variant("device", default=False, description="Bring the Thrust that laconic/backend/device.hpp needs")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")

    depends_on("eigen@3.4:5")
    depends_on("xsimd@8.1:14")
    depends_on("mpi", when="+mpi")
    depends_on("cuda", when="+device")

    depends_on("doctest", type="test")
    depends_on("nlohmann-json", type="test")

    conflicts("%gcc@:11", msg="laconic needs C++20 as g++ 12 and clang++ 14 have it")
    conflicts("%clang@:13", msg="laconic needs C++20 as g++ 12 and clang++ 14 have it")
    # Nothing has been tried on other systems.
    conflicts("platform=windows", msg="laconic is tested on Linux alone")

    @property
    def build_directory(self):
        # Not in the checkout that is developed.
        return os.path.join(tempfile.gettempdir(), f"laconic-{self.spec.dag_hash()}")

    def cmake_args(self):
        return [
            self.define("LACONIC_TESTS", self.run_tests),
            self.define("LACONIC_EXAMPLES", False),
            self.define("LACONIC_NCCL", False),
            self.define("LACONIC_DEVICE", False),
            self.define_from_variant("LACONIC_MPI", "mpi"),
        ]
