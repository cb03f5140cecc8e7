# SPDX-License-Identifier: Apache-2.0
"""LightGBM over three ranks of mpi4py's gives the trees that it gives over its own sockets: test_lightgbm.py [MPIEXEC -n]"""

import importlib.util
import os
import socket
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
example = os.path.join(here, "../../examples/python/lightgbm_ranks.py")
ranks = 3


def trees(mpiexec, folder, *options):
    model = os.path.join(folder, "model")
    run = [*mpiexec, str(ranks), sys.executable, example, "--model", model, *options]
    ran = subprocess.run(run, capture_output=True, text=True, timeout=100)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # Over functions LightGBM does not connect, and over sockets it connects each rank with the others.
    connected = ran.stdout.count("Connected to rank")
    assert connected == (ranks * (ranks - 1) if options else 0), ran.stdout
    assert f"30 trees, mean squared error 0.216 over {ranks} ranks\n" in ran.stdout, ran.stdout
    with open(model) as file:
        return file.read()


def main():
    mpiexec = sys.argv[1:] or ["mpiexec", "-n"]
    missing = [name for name in ("numpy", "mpi4py", "lightgbm") if not importlib.util.find_spec(name)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        ours = trees(mpiexec, folder)
        taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(ranks)]
        machines = ",".join("127.0.0.1:%d" % one.getsockname()[1] for one in taken)
        for one in taken:
            one.close()
        theirs = trees(mpiexec, folder, "--machines", machines)
    assert ours.count("\nTree=") == 30
    assert ours == theirs, "the trees differ from those over LightGBM's sockets"
    print("ok: the trees are those over LightGBM's sockets")


if __name__ == "__main__":
    main()
