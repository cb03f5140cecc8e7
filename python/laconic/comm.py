# SPDX-License-Identifier: Apache-2.0
"""Communicators: how the bytes of the ranks travel."""

import ctypes as c
import itertools
import weakref

import numpy as np

from laconic import _c


def _view(address, n):
    """The n bytes at this address, as an array of uint8 that does not own them."""
    if n == 0:
        return np.empty(0, np.uint8)
    return np.ctypeslib.as_array((c.c_uint8 * n).from_address(address))


class Comm:
    """A communicator of ``size`` ranks over an all-gather of blocks of equal length.

    ``start(lane, mine, all)`` starts to gather: ``mine`` is an array of n bytes (uint8), with the same n on all ranks,
    and rank r's bytes come to ``all[r]`` of the array ``all``, of shape (size, n). Both stay where they are until
    ``finish(lane)`` has waited for it. Lanes are 0 to 7. All ranks start and finish in the same order, in which a lane
    may be started and finished again while older lanes are in flight. Where nothing runs in the background, gather in
    ``finish``. What they raise becomes the ``__cause__`` of a CommError.
    """

    def __init__(self, rank, size, start, finish):
        size = int(size)
        # The functions below hold a weak reference: the library's handle is freed with this object.
        me = weakref.ref(self)

        def guarded(function, *arguments):
            try:
                function(*arguments)
                return 0
            except BaseException as error:  # which C could not pass on
                me().raised = error
                return 1

        def start_in_c(_, lane, mine, n, everything):
            return guarded(start, lane, _view(mine, n), _view(everything, n * size).reshape(size, n))

        self._functions = _c.START(start_in_c), _c.FINISH(lambda _, lane: guarded(finish, lane))
        self._hold(rank, size, _c.made("comm_new", c.byref(_c.Engine(int(rank), size, None, *self._functions))))

    def _hold(self, rank, size, handle):
        self.rank, self.size, self.handle, self.raised = int(rank), size, handle, None
        weakref.finalize(self, _c.library.laconic_comm_free, handle)

    def allgather(self, mine):
        """A list of all ranks' bytes, any number from each. Not while a step of a reducer is in progress."""
        mine, everything, sizes = bytes(mine), c.c_void_p(), (c.c_size_t * self.size)()
        self.call("comm_all_gather", self.handle, mine, len(mine), c.byref(everything), sizes)
        everything, ends = _c.bytes_from(everything), list(itertools.accumulate(sizes))
        return [everything[end - n : end] for n, end in zip(sizes, ends)]

    def call(self, name, *arguments):
        """Calls a function that communicates: where the communicator raised, that is the error's cause, also if it raised
        in an earlier call of a step, which ends in this one."""
        try:
            _c.call(name, *arguments)
        except _c.CommError as error:
            raised, self.raised = self.raised, None
            if raised is None:
                raise
            if not isinstance(raised, Exception):
                raise raised  # such as KeyboardInterrupt
            raise _c.CommError(f"{error}: {raised}") from raised


class Tcp(Comm):
    """A communicator of ranks that are connected by TCP, each with each other; messages travel while a rank computes.

        comm = laconic.Tcp(rank, size, "10.0.0.1:29400")

    Args:
        meet: "HOST:PORT" or "[HOST]:PORT", where rank 0 listens: an address of its own. The others connect, however late
            it does.
        deadline: in seconds: a longer wait for another rank is a CommError that names it. 0: no limit.

    Nothing is encrypted or authenticated: for the loopback and networks of your own.
    """

    def __init__(self, rank, size, meet, deadline=1800.0):
        self._hold(rank, int(size), _c.made("comm_tcp", rank, size, _c.text("the address", meet), deadline))


class Listener:
    """Where a rank listens before it knows the others, for a Tcp whose ranks exchange addresses by other means. ``own`` is
    an address by which the others reach it, such as "10.0.0.1:0" (0: a port that is free), ``address`` what it became."""

    def __init__(self, own):
        self._handle = _c.made("listener_new", _c.text("the address", own))
        weakref.finalize(self, _c.library.laconic_listener_free, self._handle)
        self.address = _c.library.laconic_listener_address(self._handle).decode()

    def connect(self, rank, addresses, deadline=1800.0):
        """The Tcp of the ranks that listen at these addresses, in their order. All of them call it."""
        all_of_them = (c.c_char_p * len(addresses))(*(_c.text("an address", a) for a in addresses))
        comm = Tcp.__new__(Tcp)
        made = _c.made("comm_tcp_connect", self._handle, rank, len(addresses), all_of_them, deadline)
        comm._hold(rank, len(addresses), made)
        return comm


class Mpi(Comm):
    """A communicator over mpi4py's ``comm`` for collectives that need messages in pairs, such as ``two_shot``, which no
    gather carries. The library itself calls MPI: it has to be installed by ``LACONIC_MPI=ON pip install ./python``, for
    the MPI that mpi4py has; an ArgumentError says where that is not so. All ranks of ``comm`` make it, and let it go
    together: the first waits for the others."""

    def __init__(self, comm):
        from mpi4py import MPI

        version = MPI.Get_library_version().encode()
        self._hold(comm.Get_rank(), comm.Get_size(), _c.made("comm_mpi", comm.py2f(), version))


def _of_mpi4py(comm):
    requests = {}

    def start(lane, mine, everything):
        requests[lane] = comm.Iallgather(mine, everything)

    return Comm(comm.Get_rank(), comm.Get_size(), start, lambda lane: requests.pop(lane).Wait())


def _of_bytes(comm):
    started = {}

    def start(lane, mine, everything):
        started[lane] = mine, everything

    def finish(lane):
        mine, everything = started.pop(lane)
        theirs = comm.allgather(mine.tobytes())
        if len(theirs) != len(everything):
            raise _c.ArgumentError(f"allgather() returned {len(theirs)} blocks of {len(everything)} ranks")
        for to, block in zip(everything, theirs):
            to[:] = np.frombuffer(block, np.uint8)

    return Comm(_number(comm, "rank"), _number(comm, "size"), start, finish)


def _number(comm, name):
    found = getattr(comm, name)
    return found() if callable(found) else found


def as_comm(comm):
    """``comm`` as a Comm: itself; mpi4py's; any object with ``rank``, ``size`` (numbers or methods) and
    ``allgather(bytes)``, which returns a list of all ranks' bytes; or None, one rank alone."""
    if isinstance(comm, Comm):
        return comm
    if comm is None:
        started = {}
        return Comm(0, 1, lambda lane, *blocks: started.update({lane: blocks}),
                    lambda lane: np.copyto(started[lane][1][0], started[lane][0]))  # fmt: skip
    if hasattr(comm, "Iallgather"):
        return _of_mpi4py(comm)
    if all(hasattr(comm, name) for name in ("rank", "size", "allgather")):
        return _of_bytes(comm)
    raise _c.ArgumentError(
        f"{type(comm).__name__} is no communicator: pass mpi4py's, an object with rank, size and allgather(bytes), "
        "a laconic.Comm, or None for one rank alone"
    )
