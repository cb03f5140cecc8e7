# SPDX-License-Identifier: Apache-2.0
# LightGBM's data-parallel trees over a communicator of laconic's, here of processes over TCP, in place of LightGBM's
# own sockets. python3 lightgbm_ranks.py; --help has the options.
import argparse
import contextlib
import ctypes as c
import multiprocessing
import os
import pathlib
import socket
import traceback

import laconic
import lightgbm
import numpy as np

# As LightGBM's meta.h has them: sizes and offsets in bytes, and a pointer to the address of a function.
Number, Numbers, At = c.c_int32, c.POINTER(c.c_int32), c.c_void_p
Reduce = c.CFUNCTYPE(None, At, At, Number, Number)
ReduceScatter = c.CFUNCTYPE(None, At, Number, Number, Numbers, Numbers, Number, At, Number, c.POINTER(Reduce))
AllGather = c.CFUNCTYPE(None, At, Number, Numbers, Numbers, Number, At, Number)


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
    """LightGBM's network within this block and thread, over a laconic.Comm."""

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


def train(rank, addresses, how):
    comm = laconic.Tcp(rank, how.ranks, addresses[0])
    rng = np.random.default_rng(1)
    x = rng.normal(size=(6000, 20))
    y = x[:, 0] * x[:, 1] + np.sin(x[:, 2]) + 0.1 * rng.normal(size=6000)
    x, y = x[rank :: how.ranks], y[rank :: how.ranks]  # this rank's rows
    options = {"objective": "regression", "tree_learner": "data", "num_machines": how.ranks, "pre_partition": True,
               "num_threads": 1, "verbosity": -1}  # fmt: skip
    if how.sockets:
        options.update(machines=",".join(addresses[1:]), local_listen_port=int(addresses[rank + 1].split(":")[1]))
    with contextlib.nullcontext() if how.sockets else network(comm):
        model = lightgbm.train(options, lightgbm.Dataset(x, y, params=options), 30)
    trees = model.model_to_string().split("\nparameters:")[0]
    errors = np.array([np.sum((model.predict(x) - y) ** 2), len(y)])
    laconic.sum(errors, comm)
    if rank == 0:
        print(f"{model.num_trees()} trees, mean squared error {errors[0] / errors[1]:.3f} over {how.ranks} ranks")
        if how.model:
            pathlib.Path(how.model).write_text(trees)
    assert len(set(comm.allgather(trees.encode()))) == 1, "ranks have other trees"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--sockets", action="store_true", help="over LightGBM's own sockets, to compare")
    parser.add_argument("--model", help="a file for the trees")
    how = parser.parse_args()
    with contextlib.ExitStack() as taken:
        free = [taken.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(how.ranks + 1)]
        addresses = ["127.0.0.1:%d" % one.getsockname()[1] for one in free]
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=train, args=(rank, addresses, how)) for rank in range(how.ranks)]
    for process in processes:
        process.start()
    raise SystemExit(max(process.join() or abs(process.exitcode) for process in processes))
