#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explorer.py HEADER PROGRAM...: for each program a link to Compiler Explorer, which holds its source.

There it includes HEADER, the public address of a laconic-single.hpp, in place of the library's headers. --source prints
the source that the links hold in their place.
"""

import base64
import json
import pathlib
import re
import sys
import urllib.parse


def link(source):
    compiler = {"id": "g122", "libs": [], "options": "-std=c++20 -O2 -pthread"}
    session = {"id": 1, "language": "c++", "source": source, "compilers": [], "executors": [{"compiler": compiler}]}
    state = base64.b64encode(json.dumps({"sessions": [session]}).encode()).decode()
    return "https://godbolt.org/clientstate/" + urllib.parse.quote(state, safe="")


def source_in(address):
    state = urllib.parse.unquote(address.rpartition("/")[2])
    return json.loads(base64.b64decode(state))["sessions"][0]["source"]


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
