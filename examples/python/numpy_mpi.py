# SPDX-License-Identifier: Apache-2.0
# A loop over numpy arrays whose ranks are MPI processes: least squares, each rank with rows of its own.
# mpirun -n 4 python3 numpy_mpi.py
import laconic
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rng = np.random.default_rng(comm.rank)
truth = np.linspace(-1, 1, 1000)
rows = rng.normal(size=(500, 1000))
target = rows @ truth

x = np.zeros(1000)
reduce = laconic.Reducer("error_feedback(top_k(0.1))", comm, x)
for step in range(400):
    gradient = rows.T @ (rows @ x - target) / len(rows)
    reduce(gradient)  # in place: an estimate of the mean of all ranks' gradients, the same on each
    x -= 0.1 * gradient

if comm.rank == 0:
    error = np.linalg.norm(x - truth) / np.linalg.norm(truth)
    s = reduce.statistics
    print(f"relative error {error:.0e} after {s.steps} steps of {s.bytes_sent // s.steps} bytes, not 8000")
