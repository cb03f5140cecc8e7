#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explorer.py HEADER PROGRAM...: for each program a link to Compiler Explorer, which holds its source.

There it includes HEADER, the public address of a laconic-single.hpp, in place of the library's headers, with Eigen 3.4 and
plain loops in place of xsimd. --source prints the source that the links hold in their place.
"""

import base64
import json
import pathlib
import re
import sys
import zlib

# As Compiler Explorer's docs/API.md describes, with the names of its configuration.
SITE = "https://godbolt.org/clientstate/"
COMPILER = {
    "id": "g143",
    "libs": [{"name": "eigen", "ver": "340"}],
    "options": "-O2 -std=c++20 -march=x86-64-v3 -pthread",
}


def link(source):
    session = {"id": 1, "language": "c++", "source": source, "compilers": [], "executors": [{"compiler": COMPILER}]}
    return SITE + base64.urlsafe_b64encode(zlib.compress(json.dumps({"sessions": [session]}).encode(), 9)).decode()


def source_in(address):
    return json.loads(zlib.decompress(base64.urlsafe_b64decode(address[len(SITE):])))["sessions"][0]["source"]


def main(header, *programs):
    show = "--source" in programs
    for program in programs:
        if program != "--source":
            source = pathlib.Path(program).read_text(encoding="utf-8")
            source, count = re.subn(r"(#include <laconic/.*>\n)+", f"#include <{header}>\n", source)
            if count != 1:
                sys.exit(f"{program}: its includes of the library are not together")
            address = link(source)
            print(source_in(address) if show else address, end="" if show else "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
