# SPDX-License-Identifier: Apache-2.0
# LightGBM's data-parallel trees over whatever carries laconic's messages, here mpi4py's communicator, in place of
# LightGBM's own sockets. mpirun -n 3 python3 lightgbm_ranks.py; --help has the options.
import argparse
import contextlib
import ctypes as c
import os
import traceback

import laconic
import lightgbm
import numpy as np
from mpi4py import MPI

# As LightGBM's meta.h has them: sizes and offsets in bytes, and a pointer to the address of a function.
Numbers = c.POINTER(c.c_int32)
Reduce = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_int, c.c_int32)
ReduceScatter = c.CFUNCTYPE(
    None, c.c_void_p, c.c_int32, c.c_int, Numbers, Numbers, c.c_int, c.c_void_p, c.c_int32, c.POINTER(Reduce)
)
AllGather = c.CFUNCTYPE(None, c.c_void_p, c.c_int32, Numbers, Numbers, c.c_int, c.c_void_p, c.c_int32)


def or_exit(function):
    """The function, which ends the process where it raises: LightGBM would go on with what it has."""

    def guarded(*arguments):
        try:
            function(*arguments)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    return guarded


@contextlib.contextmanager
def network(comm):
    """LightGBM's network within this block and thread: `comm` has rank, size and allgather(bytes), as laconic's have."""

    @or_exit
    def all_gather(mine, size, starts, lengths, ranks, to, room):
        for start, block in zip(starts[:ranks], comm.allgather(c.string_at(mine, size))):
            c.memmove(to + start, block, len(block))

    @or_exit
    def reduce_scatter(mine, size, of, starts, lengths, ranks, to, room, reduce):
        start, length = starts[comm.rank], lengths[comm.rank]
        first, *others = comm.allgather(c.string_at(mine, size))
        c.memmove(to, first[start : start + length], length)
        for other in others:
            reduce[0](other[start : start + length], to, of, length)  # to <- to + other, or what else LightGBM wants

    library = c.CDLL(lightgbm.libpath._find_lib_path()[0])
    functions = ReduceScatter(reduce_scatter), AllGather(all_gather)
    if library.LGBM_NetworkInitWithFunctions(comm.size, comm.rank, *functions):
        raise RuntimeError("LightGBM refuses the network")
    try:
        yield
    finally:
        library.LGBM_NetworkFree()


parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
parser.add_argument("--machines", help="host:port,.. of the ranks: LightGBM's own sockets, to compare")
parser.add_argument("--model", help="a file for the trees")
how = parser.parse_args()
comm = MPI.COMM_WORLD
rng = np.random.default_rng(1)
x = rng.normal(size=(6000, 20))
y = x[:, 0] * x[:, 1] + np.sin(x[:, 2]) + 0.1 * rng.normal(size=6000)
x, y = x[comm.rank :: comm.size], y[comm.rank :: comm.size]  # this rank's rows
options = {"objective": "regression", "tree_learner": "data", "num_machines": comm.size, "pre_partition": True,
           "num_threads": 1, "verbosity": -1}  # fmt: skip
if how.machines:
    options.update(machines=how.machines, local_listen_port=int(how.machines.split(",")[comm.rank].split(":")[1]))
with contextlib.nullcontext() if how.machines else network(comm):
    model = lightgbm.train(options, lightgbm.Dataset(x, y, params=options), 30)
trees = model.model_to_string().split("\nparameters:")[0]
errors = np.array([np.sum((model.predict(x) - y) ** 2), len(y)])
laconic.sum(errors, comm)
if comm.rank == 0:
    print(f"{model.num_trees()} trees, mean squared error {errors[0] / errors[1]:.3f} over {comm.size} ranks")
    if how.model:
        with open(how.model, "w") as file:
            file.write(trees)
if len(set(comm.allgather(trees))) > 1:
    raise SystemExit("ranks have other trees")
