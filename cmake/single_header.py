#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""single_header.py INCLUDE HEADER OUTPUT: one file in place of HEADER and all of the library that it reaches; a header,
or, where OUTPUT ends in .cppm, the module `laconic`.

Headers stand in the order in which they include each other, each once. What is included under an #if stands there, in a
guard of its own, as another branch or a later header may include it, too. Where xsimd is absent, kernels are plain loops.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s+([<"])([^>"]+)[>"]')


class Single:
    def __init__(self, include):
        self.include = include
        self.seen, self.guarded, self.outer = set(), set(), set()

    def lines(self, header, conditional=False):
        """The lines of a header, and of those that it includes and that do not stand anywhere yet."""
        if header in self.seen:
            return
        if conditional:
            self.guarded.add(header)
        else:
            self.seen.add(header)
        guard = "LACONIC_SINGLE_" + re.sub(r"\W", "_", header).upper() if header in self.guarded else None
        if guard:
            yield from (f"#ifndef {guard}", f"#define {guard}")
        depth = 0
        for line in (self.include / header).read_text(encoding="utf-8").splitlines():
            depth += bool(re.match(r"\s*#\s*if", line)) - bool(re.match(r"\s*#\s*endif", line))
            found = INCLUDE.match(line)
            if line == "#pragma once" or line.startswith("// SPDX-"):
                continue
            if found and found[1] == '"':
                yield from self.lines(found[2], conditional or depth > 0)
            elif found and (re.fullmatch("[a-z_]+", found[2]) or depth == 0 and not conditional):
                self.outer.add(found[2])  # the standard library's, or always
            else:
                yield line
        if guard:
            yield f"#endif  // {guard}"


def main(include, header, output):
    single = Single(pathlib.Path(include))
    body = "\n".join(single.lines(header))
    body = re.sub(r"\n{3,}", "\n\n", body)
    begin = "#pragma once"
    if output.endswith(".cppm"):
        begin = "module;"
        # In front of the module, what the body includes by itself. extern "C++": its types are those of the headers.
        body = "\n".join([
            "#ifndef LACONIC_SCALAR",
            "#include <xsimd/xsimd.hpp>",
            "#endif",
            "export module laconic;",
            'export extern "C++" {',
            body,
            "}",
        ])
    text = "\n".join([
        "// SPDX-License-Identifier: Apache-2.0",
        f"// {header} and all of laconic that it reaches, which cmake/single_header.py wrote.",
        begin,
        "#if !__has_include(<xsimd/xsimd.hpp>) && !defined(LACONIC_SCALAR)",
        "#define LACONIC_SCALAR",
        "#endif",
        *(f"#include <{name}>" for name in sorted(single.outer)),
        body,
        "",
    ])
    pathlib.Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
