#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it takes to compile the umbrella headers, each header alone, and small programs that use some of them.

    bench/compile.py [--cxx g++] [--flags "-std=c++20 -O2"] [--include FOLDER]... [--repeat 3] [PART_OF_A_NAME]...

Prints a table in Markdown: seconds of one core, the least of some runs; the lines that the compiler reads after
preprocessing; the bytes of code and data in the object, which for a header alone should be none; and the seconds as
multiples of the baseline, Eigen/Core, xsimd and regex together. Without names, all
headers that a compiler without MPI can read. --include is for Eigen and xsimd where they are not found by themselves."""
import argparse
import os
import pathlib
import resource
import subprocess
import tempfile

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include"
# A compressor alone, with as few headers as that takes, and with the umbrella.
PROGRAM = """
#include <cstdio>
#include <span>
#include <vector>
int main() {
    using namespace laconic;
    std::vector<double> const x{3, -1, 4, -1, 5};
    std::vector<double> y(5);
    host on;
    top_k<>::message<double, host> m;
    top_k{2}(on, std::span<double const>(x), key{1}, m);
    add_message(on, std::span<double>(y), 1.0, m);
    std::printf("%g\\n", y[4]);
}
"""
FEW = ["backend/host.hpp", "compress/top_k.hpp"]
# The baseline of the column of ratios: what a program that uses Eigen, xsimd and regular expressions reads anyway.
BASELINE = "#include <Eigen/Core>\n#include <xsimd/xsimd.hpp>\n#include <regex>\n"
# A training loop with the first page's reducer.
LOOP = """
#include <cstdio>
#include <vector>
int main() {
    laconic::threads::run(4, [](auto& comm) {
        std::vector<float> gradient(1000);
        laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.01}}, comm, gradient);
        for (int k = 0; k < 10; ++k) {
            for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = float(i % 7) * float(comm.rank() + k);
            reduce(gradient);
        }
        if (comm.rank() == 0) std::printf("%g\\n", gradient[6]);
    });
}
"""
LOOPS = ["comm/threads.hpp", "compress/top_k.hpp", "reducer.hpp"]
# The same over nodes of two ranks.
NODES = LOOP.replace("        laconic::reducer", """        auto inside = comm.split(comm.rank() / 2, 0), across = comm.split(comm.rank() % 2, 0);
        laconic::reducer""").replace("comm, gradient)", "laconic::hierarchy{inside, across}, gradient)")

# What the first objective uses of laconic.hpp.
EXAMPLE = ["comm/metered.hpp", "comm/threads.hpp", "compress/natural.hpp", "compress/rand_k.hpp", "method/diana.hpp", "run.hpp"]


def first_objective():
    return (INCLUDE.parent / "examples" / "first" / "objective.cpp").read_text()


def compiled_example(text):
    text = text.replace("#include <laconic/laconic.hpp>\n", include("comm/metered.hpp", "comm/threads.hpp", "compiled.hpp"))
    return text.replace("descend(laconic::diana{laconic::rand_k{0.1} | laconic::natural{}}",
                        'laconic::compiled::descend("diana(rand_k(0.1) | natural)"')


def include(*headers):
    return "".join(f"#include <laconic/{h}>\n" for h in headers)


def seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(how, text):
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "a.cpp"), os.path.join(folder, "a.o")
        with open(source, "w") as file:
            file.write(text)
        before = seconds_of_children()
        subprocess.run([*how.command, "-c", source, "-o", binary], check=True)
        seconds = seconds_of_children() - before
        read = subprocess.run([*how.command, "-E", "-P", source], check=True, capture_output=True).stdout.count(b"\n")
        sizes = subprocess.run(["size", binary], check=True, capture_output=True, text=True).stdout.split("\n")[1].split()
        return seconds, read, sum(map(int, sizes[:3]))


def measure_all(how, todo):
    """The least of some rounds over all programs: what slows the machine for a while does not meet all runs of one."""
    rounds = [[measure(how, text) for _, text in todo] for _ in range(how.repeat)]
    return [(name, *min(runs)) for (name, _), *runs in zip(todo, *rounds)]


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--cxx", default=os.environ.get("CXX", "c++"))
    ask.add_argument("--flags", default="-std=c++20 -O2")
    ask.add_argument("--include", action="append", default=["/usr/include/eigen3"])
    ask.add_argument("--repeat", type=int, default=3)
    ask.add_argument("names", nargs="*")
    how = ask.parse_args()
    how.command = [how.cxx, *how.flags.split(), f"-I{INCLUDE}", *(f"-isystem{i}" for i in how.include)]

    headers = sorted(str(h.relative_to(INCLUDE / "laconic")) for h in (INCLUDE / "laconic").rglob("*.hpp"))
    other = ("comm/mpi", "comm/nccl", "backend/device", "backend/host/impl/")  # which need MPI, CUDA or another processor
    headers = [h for h in headers if not h.startswith(other) and any(n in h for n in how.names or [""])]
    todo = [("nothing", ""), ("the standard headers alone", "#include <algorithm>\n#include <span>\n#include <string>\n#include <vector>\n")]
    example = first_objective()
    todo += [("`Eigen/Core`, `xsimd.hpp` and `regex`", BASELINE), ("`laconic.hpp`", include("laconic.hpp")),
             ("`all.hpp`", include("all.hpp")),
             ("a compressor, `laconic.hpp`", include("laconic.hpp") + PROGRAM),
             (f"a compressor, {len(FEW)} headers", include(*FEW) + PROGRAM),
             ("the first objective, `laconic.hpp`", example),
             (f"the first objective, {len(EXAMPLE)} headers",
              example.replace("#include <laconic/laconic.hpp>\n", include(*EXAMPLE) + "#include <vector>\n")),
             ("the first objective, `laconic::compiled`", compiled_example(example)),
             (f"a loop with a reducer, {len(LOOPS)} headers", include(*LOOPS) + LOOP),
             (f"the same over a hierarchy, {len(LOOPS) + 1} headers", include(*LOOPS, "hierarchy.hpp") + NODES)]
    headers = [h for h in headers if h not in ("laconic.hpp", "all.hpp")]
    rows = measure_all(how, todo + [(f"`{h}`", include(h)) for h in headers])
    rows[len(todo):] = sorted(rows[len(todo):], key=lambda row: -row[1])
    version = subprocess.run([how.cxx, "--version"], check=True, capture_output=True, text=True).stdout.split("\n")[0]
    baseline = next(seconds for name, seconds, *_ in rows if "regex" in name)
    print(f"{version}, {how.flags}\n\n| | seconds | of the baseline | lines read | bytes made |\n|---|---|---|---|---|")
    for name, seconds, lines, made in rows:
        print(f"| {name} | {seconds:.2f} | {seconds / baseline:.2f} | {lines} | {made} |")


if __name__ == "__main__":
    main()
