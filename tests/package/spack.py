# SPDX-License-Identifier: Apache-2.0
# spack.py RECIPE
# Reads the recipe as Spack does, over a stand-in for what it imports, as Spack is no package of a registry. Prints its
# directives, one a line, and what it gives cmake: without MPI and tests, and with both.
import sys
import types

lines = []


def directive(name):
    def note(*positional, **named):
        words = [repr(p) for p in positional] + [f"{key}={value!r}" for key, value in sorted(named.items())]
        lines.append(f"{name}({', '.join(words)})")

    return note


class CMakePackage:
    class spec:
        @staticmethod
        def dag_hash():
            return "0123abcd"

    run_tests = False
    variants = ()

    def define(self, name, value):
        kind, text = ("BOOL", "ON" if value else "OFF") if isinstance(value, bool) else ("STRING", str(value))
        return f"-D{name}:{kind}={text}"

    def define_from_variant(self, name, variant):
        if f"variant({variant!r}," not in "".join(lines):
            raise KeyError(f"the recipe has no variant {variant}")
        return self.define(name, variant in self.variants)


def module(name, **names):
    made = types.ModuleType(name)
    made.__path__ = []
    vars(made).update(names)
    sys.modules[name] = made


for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
    module(name)
module("spack_repo.builtin.build_systems.cmake", CMakePackage=CMakePackage)
known = ("conflicts", "depends_on", "license", "maintainers", "variant", "version")
module("spack.package", **{name: directive(name) for name in known})

sys.dont_write_bytecode = True
recipe = {}
with open(sys.argv[1]) as file:
    exec(compile(file.read(), sys.argv[1], "exec"), recipe)
package = recipe["Laconic"]()
assert isinstance(package, CMakePackage) and package.__doc__
print("\n".join(lines))
print("builds in", package.build_directory)
print("cmake", " ".join(package.cmake_args()))
package.run_tests, package.variants = True, ("mpi",)
print("cmake with mpi and tests", " ".join(package.cmake_args()))
