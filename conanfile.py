# SPDX-License-Identifier: Apache-2.0
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import load
from conan.tools.scm import Version

required_conan_version = ">=2.1"


class Laconic(ConanFile):
    name = "laconic"
    description = "Communication-efficient distributed optimization"
    license = "Apache-2.0"
    topics = ("optimization", "distributed", "compression", "machine-learning", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    exports_sources = "CMakeLists.txt", "cmake/*", "include/*", "LICENSE"
    no_copy_source = True

    # What the library is tested with; of other compilers and systems nothing is known.
    tested = {"gcc": "12", "clang": "14"}

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "include", "laconic", "core", "version.hpp"))
        self.version = ".".join(re.search(r"version\[\] = {(\d+), (\d+), (\d+)};", text).groups())

    def requirements(self):
        self.requires("eigen/[>=3.4.0 <6]", transitive_headers=True)
        self.requires("xsimd/[>=8.1.0 <15]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)
        compiler = str(self.settings.compiler)
        least = self.tested.get(compiler)
        if least and Version(self.settings.compiler.version) < least:
            raise ConanInvalidConfiguration(f"laconic needs C++20 as {compiler} {least} has it")
        if not least or self.settings.os != "Linux":
            self.output.warning(f"laconic is tested on Linux with gcc and clang, not on {self.settings.os} with {compiler}")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        # The headers are installed, with the package file; what they need is looked for where they are used.
        toolchain.cache_variables.update(
            {f"LACONIC_{part}": "OFF" for part in ("TESTS", "EXAMPLES", "MPI", "NCCL", "DEVICE")}
            | {f"CMAKE_DISABLE_FIND_PACKAGE_{package}": "ON" for package in ("Eigen3", "Xsimd")}
        )
        toolchain.generate()

    def build(self):
        CMake(self).configure()

    def package_id(self):
        # Headers are the same for every compiler and processor.
        self.info.clear()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # find_package(laconic) reads the library's own package file, which has its components: compiled, c, mpi and so on.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "laconic")]
        # For build systems other than CMake.
        self.cpp_info.set_property("pkg_config_name", "laconic")
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["m", "pthread"]
