# SPDX-License-Identifier: Apache-2.0
import os

from conan import ConanFile
from conan.tools.files import copy


class Headers(ConanFile):
    """Stands for Conan Center's eigen or xsimd: HEADERS names the folder of this machine that holds them."""

    package_type = "header-library"

    def package(self):
        folder = {"eigen": "Eigen", "xsimd": "xsimd"}[self.name]
        copy(self, f"{folder}/*", os.environ["HEADERS"], os.path.join(self.package_folder, "include"))

    def package_info(self):
        file, target = {"eigen": ("Eigen3", "Eigen3::Eigen"), "xsimd": ("xsimd", "xsimd")}[self.name]
        self.cpp_info.set_property("cmake_file_name", file)
        self.cpp_info.set_property("cmake_target_name", target)
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
