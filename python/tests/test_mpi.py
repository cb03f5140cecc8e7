# SPDX-License-Identifier: Apache-2.0
"""The library's own MPI under mpi4py: mpirun -n 2 python3 test_mpi.py."""

import laconic
import numpy as np
from mpi4py import MPI

over = MPI.COMM_WORLD.Split(0, -MPI.COMM_WORLD.rank)  # the other way round: the handle is the one that counts
comm = laconic.Mpi(over)
assert (comm.rank, comm.size) == (over.rank, over.size) and comm.size > 1
ranks = comm.size

x = np.arange(1000.0, dtype=np.float32) + comm.rank
laconic.sum(x, comm)  # a ring
np.testing.assert_array_equal(x, ranks * np.arange(1000.0) + sum(range(ranks)))

# Collectives that need messages in pairs. Over mpi4py's communicator itself there are none.
for text in ("plain(over=two_shot)", "error_feedback(top_k(0.1), over=gtop_k)", "error_feedback(top_k(0.1))"):
    reduce = laconic.Reducer(text, comm, np.zeros(1000, np.float32))
    for step in range(3):
        x = np.random.default_rng(comm.rank + 10 * step).normal(size=1000).astype(np.float32)
        mean = over.allreduce(x.astype(float)) / ranks
        reduce(x)
        assert len(set(over.allgather(x.tobytes()))) == 1, text
        if text.startswith("plain"):
            np.testing.assert_allclose(x, mean, atol=0.03)
        else:
            assert 0 < np.count_nonzero(x) <= 100 * ranks, text
    try:
        laconic.Reducer(text, over, np.zeros(1000, np.float32))(x)
        assert "over" not in text
    except laconic.ArgumentError as error:
        assert "not PointToPoint" in str(error)

try:  # the handle of another MPI is never used
    laconic._c.made("comm_mpi", over.py2f(), b"Some MPI v9")
    raise SystemExit("another MPI's handle was taken")
except laconic.ArgumentError as error:
    assert 'the caller "Some MPI v9"' in str(error), error
