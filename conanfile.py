# SPDX-License-Identifier: Apache-2.0
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load

required_conan_version = ">=2.1"


class Laconic(ConanFile):
    name = "laconic"
    description = "Communication-efficient distributed optimization"
    license = "Apache-2.0"
    topics = ("optimization", "distributed", "compression", "machine-learning", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    exports_sources = "include/*", "LICENSE"
    no_copy_source = True

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "include", "laconic", "core", "version.hpp"))
        self.version = ".".join(re.search(rf"version_{part} = (\d+);", text)[1] for part in ("major", "minor", "patch"))

    def requirements(self):
        self.requires("eigen/[>=3.4.0 <6]", transitive_headers=True)
        self.requires("xsimd/[>=8.1.0 <15]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        # Headers are the same for every compiler and processor.
        self.info.clear()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*.hpp", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))

    def package_info(self):
        # As an installed laconic is found without Conan.
        self.cpp_info.set_property("cmake_file_name", "laconic")
        self.cpp_info.set_property("cmake_target_name", "laconic::laconic")
        self.cpp_info.set_property("pkg_config_name", "laconic")
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["m", "pthread"]
