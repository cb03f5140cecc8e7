# SPDX-License-Identifier: Apache-2.0
"""LightGBM over three ranks of laconic's gives the trees that it gives over its own sockets."""

import importlib.util
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
example = os.path.join(here, "../../examples/python/lightgbm_ranks.py")
ranks = 3


def trees(folder, *options):
    model = os.path.join(folder, "model")
    run = [sys.executable, example, "--ranks", str(ranks), "--model", model, *options]
    ran = subprocess.run(run, capture_output=True, text=True, timeout=100)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # Over functions LightGBM does not connect, and over sockets it connects each rank with the others.
    connected = ran.stdout.count("Connected to rank")
    assert connected == (ranks * (ranks - 1) if options else 0), ran.stdout
    assert f"30 trees, mean squared error 0.216 over {ranks} ranks\n" in ran.stdout, ran.stdout
    with open(model) as file:
        return file.read()


def main():
    missing = [name for name in ("numpy", "lightgbm") if not importlib.util.find_spec(name)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = trees(folder), trees(folder, "--sockets")
    assert ours.count("\nTree=") == 30
    assert ours == theirs, "the trees differ from those over LightGBM's sockets"
    print("ok: the trees are those over LightGBM's sockets")


if __name__ == "__main__":
    main()
