# SPDX-License-Identifier: Apache-2.0
"""Short messages in place of whole gradients: reducers, sums and encoded vectors over numpy arrays.

    reduce = laconic.Reducer("error_feedback(top_k(0.01))", comm, gradients)
    for batch in data:
        gradients = backward(model, batch)   # {"w": array, ..}
        reduce(gradients)                    # in place: the estimate of the mean of all ranks' gradients
        optimizer.step(model, gradients)

``laconic.torch`` has the same for PyTorch.
"""

import ctypes as c
import dataclasses
import warnings
import weakref

import numpy as np

from laconic import _c
from laconic._c import (
    AgreementError, ArgumentError, CommError, CompressionError, Error, NonFiniteError, ParseError, ShapeError,
    TheoryError, WireError,
)  # fmt: skip
from laconic.comm import Comm, Listener, Mpi, Tcp, as_comm
from laconic.rounds import LocalRounds, Momentum

__version__ = _c.version
__all__ = [
    "AgreementError", "ArgumentError", "Comm", "CommError", "CompressionError", "Error", "Listener",
    "LocalRounds", "Momentum", "Mpi", "NonFiniteError", "ParseError", "Reducer", "ShapeError", "Statistics", "Tcp",
    "TheoryError", "WireError", "decode", "encode", "mean", "as_comm", "names", "reduce_scatter", "sum",
]  # fmt: skip

_numbers = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 3}  # the last is that of ml_dtypes


def _number(dtype):
    dtype = np.dtype(dtype)
    name = dtype.name if dtype.isnative else f"{dtype.name} in another byte order"
    if name not in _numbers:
        raise ArgumentError(f"an array of {name}: it must be of float32, float64, float16 or bfloat16 (ml_dtypes)")
    return _numbers[name]


def _writable(x, name="the array"):
    """x's address, length and type of numbers. Raises unless it is an array that can be written in place."""
    if not isinstance(x, np.ndarray):
        raise ArgumentError(f"{name} is of {type(x).__name__}: it must be a numpy array, which is changed in place")
    if not (x.flags.c_contiguous or x.flags.f_contiguous):
        raise ArgumentError(f"{name} is not contiguous, so that it cannot be changed in place: take a copy")
    if not x.flags.writeable:
        raise ArgumentError(f"{name} is read-only: take a copy")
    return x.ctypes.data, x.size, _number(x.dtype)


def _like(x):
    """The length and type of numbers of x, an array, and its rows as it lies in memory; or these three themselves."""
    if isinstance(x, tuple):
        return x
    x = np.asarray(x)
    return x.size, _number(x.dtype), x.shape[0 if x.flags.c_contiguous else -1] if x.ndim > 1 else 0


def _choice(name, value, choices):
    if value not in choices:
        raise ArgumentError(f"{name} is {value!r}: it must be {' or '.join(map(repr, choices))}")
    return choices.index(value)


@dataclasses.dataclass(frozen=True)
class Probe:
    """A step's estimate compared with the mean of all ranks' gradients."""

    step: int  #: counted from 1
    cosine: float
    relative_error: float  #: |estimate - mean| / |mean|
    gradient_norm: float  #: |mean|
    residual_norm: float  #: of this rank


@dataclasses.dataclass(frozen=True)
class Statistics:
    """What a reducer has done since it was made, on this rank."""

    steps: int
    bytes_sent: int  #: of messages; a message to all ranks counts once
    bytes_received: int  #: of other ranks' messages
    bytes_on_link: int  #: in the busier direction of this rank's link, if it sends to each rank by itself
    bytes_in_full: int  #: of the arrays themselves, in all steps
    bytes_watching: int  #: for probes and comparisons
    bytes_of_state: int  #: of residuals and shifts
    seconds_compressing: float  #: to make and write messages
    seconds_waiting: float  #: for other ranks
    seconds_adding: float  #: to read messages and add them up
    seconds_committing: float  #: to update residuals and shifts, and to write the estimates
    last_probe: "Probe | None"


def _probe(s):
    return Probe(s.probe_step, s.probe_cosine, s.probe_relative_error, s.probe_gradient_norm, s.probe_residual_norm)


class _Watch:
    """Warns once where probes show that a residual grows faster than it is sent: in three probes in a row the cosine is
    below half of the first probe's, and the residual, in norms of the gradient, above twice the first one's."""

    def __init__(self):
        self._first, self._bad = None, 0

    def __call__(self, probe):
        if probe.step == 0 or probe.gradient_norm == 0:
            return
        cosine, residual = probe.cosine, probe.residual_norm / probe.gradient_norm
        if self._first is None:
            self._first = probe.step, cosine, residual
        step, first_cosine, first_residual = self._first
        self._bad = self._bad + 1 if cosine < first_cosine / 2 and residual > 2 * first_residual else 0
        if self._bad == 3:
            warnings.warn(
                f"step {probe.step}: the estimate's cosine with the mean gradient is {cosine:.2f}, and was "
                f"{first_cosine:.2f} at step {step}; the residual is {residual:.1f} times the gradient, and was "
                f"{first_residual:.1f} times: more is left unsent than is sent. Try a tenth of the learning rate, a "
                "larger k, more bits, or a decay below 1",
                RuntimeWarning,
                stacklevel=4,
            )


class Reducer:
    """Replaces arrays by an estimate of the mean of all ranks' arrays, for which it sends short messages.

    Args:
        reduction: such as ``"error_feedback(top_k(0.01))"``; ``laconic.names("reductions")`` lists what there is.
        comm: mpi4py's, an object with rank, size and allgather(bytes), a ``Comm``, or None.
        layers: a dict of arrays by name, in any order, or one array: only names, shapes and types are kept. Numbers are
            of float32, float16 and bfloat16 in any mixture, or of float64.
        seed: from which compressors draw; None: rank 0 draws one for all.
        in_full: patterns of names, in which * stands for any text, such as ``["*.bias"]``, whose layers are dense: sent
            uncompressed, without a state.
        dense_below, dense_rounds: layers of fewer numbers, and the first so many steps, are dense.
        share_below: layers of fewer numbers share messages, unless a collective sums them, one after another.
        non_finite: "raise" NonFiniteError where a rank has NaN, or "propagate": all numbers become NaN.
        missing_layer: what a layer that a rank does not start in a step does: "raise", count as "zero", or "skip".
        skip_zero_layers: a layer whose numbers are zeros on all ranks in a step keeps its residual in it.
        steps_vary: steps may have weights, and be dense.
        correlated: ranks round at random by thresholds that are spread evenly, so that their errors cancel in the mean.
        probe_every: every so many steps the estimate is compared with the exact mean, which costs a dense step. Rank 0
            warns (RuntimeWarning) where the residual grows and the estimate's cosine falls.
        verify_every: every so many steps ranks compare digests of what must be the same on all.

    All ranks make one with the same arguments, and make the same calls. A step that raises has changed nothing.
    """

    def __init__(self, reduction, comm, layers, *, seed=None, in_full=(), dense_below=0, dense_rounds=0,
                 share_below=None, non_finite="raise", missing_layer="raise", skip_zero_layers=False, steps_vary=False,
                 probe_every=0, verify_every=0, correlated=False):  # fmt: skip
        if not isinstance(layers, dict):
            layers = {"": layers}
        self._comm = as_comm(comm)
        self._places = {name: l for l, name in enumerate(layers)}
        self._held = {}
        self._probe_every, self._watch = probe_every if self._comm.rank == 0 else 0, _Watch()
        layers = {name: _like(x) for name, x in layers.items()}
        self._sizes = [size for size, _, _ in layers.values()]
        types = {number for _, number, _ in layers.values()}
        self._number = 1 if 1 in types else 0
        if len(types) > 1 and 1 in types:
            raise ArgumentError("a reducer of float64 and of other numbers: make one for each")
        listed = (_c.Layer * len(layers))(
            *(_c.Layer(_c.text("a layer's name", name), size, 0, rows) for name, (size, _, rows) in layers.items())
        )
        options = _c.ReducerOptions()
        _c.library.laconic_reducer_options_default(c.byref(options))
        counts = {"seed": seed, "dense_below": dense_below, "dense_rounds": dense_rounds, "share_below": share_below,
                  "probe_every": probe_every, "verify_every": verify_every}  # fmt: skip
        for name, count in counts.items():
            if count is not None:
                if not 0 <= count < 2**64:
                    raise ArgumentError(f"{name} is {count}: it must be from 0 to 2^64 - 1")
                setattr(options, name, count)
        options.has_seed = seed is not None
        options.propagate_non_finite = _choice("non_finite", non_finite, ["raise", "propagate"])
        options.missing_layer = _choice("missing_layer", missing_layer, ["raise", "zero", "skip"])
        options.skip_zero_layers, options.steps_vary = bool(skip_zero_layers), bool(steps_vary)
        options.correlated = bool(correlated)
        patterns = [in_full] if isinstance(in_full, str) else list(in_full)
        options.in_full = (c.c_char_p * len(patterns))(*(_c.text("a pattern of in_full", p) for p in patterns))
        options.in_full_count = len(patterns)
        made = c.c_void_p()
        self._comm.call("reducer_new", _c.text("the reduction", reduction), self._comm.handle, listed, len(listed),
                        self._number, c.byref(options), c.byref(made))  # fmt: skip
        self._handle = made
        # The communicator is freed after the reducer: its functions stay as long as this object's finalizer.
        weakref.finalize(self, lambda handle, _: _c.library.laconic_reducer_free(handle), made, self._comm)

    def __call__(self, arrays, **step):
        """Replaces all layers' arrays, a dict or the one array, by the estimate, in place. ``step``: as start()."""
        self._start_all(arrays, **step)
        self.finish()

    def _start_all(self, arrays, **step):
        try:
            arrays = arrays if isinstance(arrays, dict) else {"": arrays}
            given = [(self._place(name), self._numbers(name, x), x) for name, x in arrays.items()]
            self._step(**step)
        except Exception:
            self._fail(step)
            raise
        try:
            for layer, numbers, x in given:
                self._start(layer, numbers, x, **step)
        except BaseException:
            self.drop()  # else the next call would start layers twice
            raise

    def _fail(self, step):
        """Ends a step that this rank cannot take, and of which it has started no layer, by layers of other lengths: the
        others, which wait for it, get an error."""
        try:
            self._step(**step)
        except Exception:
            step = {}  # these were refused
        none = np.empty(1, np.float64)
        try:
            for layer, size in enumerate(self._sizes):
                self._start(layer, (none.ctypes.data, 0 if size else 1, self._number), none, **step)
            self.finish()
        except Error:
            pass  # the caller gets the reason

    def start(self, name, x, **step):
        """Starts a layer: x, its array, which finish() replaces, must not change before.

        Args:
            loss_scale: by which the gradient was multiplied, and the estimate will be.
            step_size: the learning rate: where it changes, the residual is rescaled.
            weight: of this rank's gradient in the mean; needs ``steps_vary``.
            dense: all layers are sent uncompressed in this step; needs ``steps_vary``.
        """
        self._start(self._place(name), self._numbers(name, x), x, **step)

    def bind(self, name, x):
        """Binds x to a layer for all steps, as missing_layer="zero" needs."""
        self._comm.call("reducer_bind", self._handle, self._place(name), *self._numbers(name, x))
        self._held[name] = x

    def finish(self, **step):
        """Replaces the arrays of all started layers by the estimate. If it raises, none has changed."""
        self._comm.call("reducer_finish", self._handle, self._step(**step))
        self._held = {name: x for name, x in self._held.items() if isinstance(name, str)}
        if self._probe_every and (now := self._statistics()).steps % self._probe_every == 0:
            self._watch(_probe(now))

    def reorder(self):
        """The next step learns anew in which order layers are started, and so messages leave. All ranks call it between
        the same two finish()."""
        self._comm.call("reducer_reorder", self._handle)

    def broadcast(self, arrays, root=0):
        """Replaces arrays, a dict or one, by rank root's, in place: the first weights. All ranks call it, with as many
        numbers of the same types, which need not be those of the layers; not while a step is in progress."""
        for x in arrays.values() if isinstance(arrays, dict) else [arrays]:
            self._comm.call("reducer_broadcast", self._handle, *_writable(x), root)

    def drop(self):
        """Drops a step that was started; every rank must."""
        self._comm.call("reducer_drop", self._handle)
        self._comm.raised = None  # what a communicator raised in this step is no later error's cause

    def state(self):
        """This rank's state, as bytes, on which the next steps depend."""
        return _c.made_bytes("reducer_save", self._handle)

    def restore(self, state):
        """Restores this rank's state, or, from a list of those of all ranks of the saved reducer, in their order, one
        for any number of ranks. All ranks call it."""
        self._comm.call("reducer_restore", self._handle, *self._states(state))

    def resume(self, state):
        """Restores what can be kept of the state of a reducer that was made otherwise: with other options, another k,
        decay or compressor, or layers that are new, gone or of another size. Of a list of states one may be b"", a file
        that was lost. Returns a list of what was not restored, empty where all was. All ranks call it."""
        told = c.c_void_p()
        self._comm.call("reducer_resume", self._handle, *self._states(state), c.byref(told))
        return _c.bytes_from(told).decode().splitlines()

    def residual(self, name=""):
        """A copy of a layer's residual: what this rank has not sent yet, an array of float32."""
        x = np.empty(self._sizes[self._place(name)], np.float32)
        _c.call("reducer_residual", self._handle, self._place(name), x.ctypes.data, x.size)
        return x

    def set_residual(self, x, name=""):
        """Replaces a layer's residual by x, between steps."""
        x = np.ascontiguousarray(x, np.float32)
        _c.call("reducer_set_residual", self._handle, self._place(name), x.ctypes.data, x.size)

    @staticmethod
    def _states(state):
        states = [state] if isinstance(state, (bytes, bytearray, memoryview)) else list(state)
        states = [bytes(s) for s in states]
        return (c.c_char_p * len(states))(*states), (c.c_size_t * len(states))(*map(len, states)), len(states)

    def rebind(self, comm):
        """Goes on over another communicator, such as that of the ranks that are left; each of them calls it."""
        comm = as_comm(comm)
        comm.call("reducer_rebind", self._handle, comm.handle)
        weakref.finalize(self, lambda _: None, comm)  # which outlives the handle
        self._comm = comm

    @property
    def steps(self):
        """The number of steps that have succeeded, also before a state was saved."""
        return self._statistics().steps

    @property
    def seed(self):
        return self._statistics().seed

    @property
    def statistics(self):
        s = self._statistics()
        fields = [f.name for f in dataclasses.fields(Statistics)][:-1]
        return Statistics(*(getattr(s, name) for name in fields), _probe(s) if s.probe_step else None)

    def _statistics(self):
        found = _c.Statistics()
        _c.call("reducer_statistics", self._handle, c.byref(found))
        return found

    def _place(self, name):
        if name not in self._places:
            raise ArgumentError(f"there is no layer {name!r}: they are {', '.join(map(repr, self._places))}")
        return self._places[name]

    def _numbers(self, name, x):
        what = f"layer {name!r}" if name else "the array"
        numbers = _writable(x, what)
        if (numbers[2] == 1) != (self._number == 1):
            takes = "float64" if self._number == 1 else "float32, float16 and bfloat16"
            raise ArgumentError(f"{what} is of {x.dtype}: this reducer takes {takes}")
        return numbers

    def _start(self, layer, numbers, owner, **step):
        self._comm.call("reducer_start", self._handle, layer, *numbers, self._step(**step))
        self._held[layer] = owner  # its memory stays until finish() succeeds, or the layer's next start

    @staticmethod
    def _step(loss_scale=1.0, step_size=None, weight=1.0, dense=False):
        if step_size is not None and not step_size > 0:
            raise ArgumentError(f"a step size of {step_size}, which must be above 0")
        return c.byref(_c.StepOptions(loss_scale, step_size or 0.0, weight, dense))


def sum(x, comm):
    """x <- the sum of all ranks' x, in place, with the same bits on all ranks. Over a Tcp or Mpi it is a ring
    all-reduce; over any other communicator every rank receives all others' arrays."""
    comm = as_comm(comm)
    comm.call("sum", comm.handle, *_writable(x))


def mean(x, comm):
    """x <- the mean of all ranks' x, in place, likewise."""
    comm = as_comm(comm)
    comm.call("mean", comm.handle, *_writable(x))


def reduce_scatter(x, comm):
    """This rank's part of the sum of all ranks' x, as a view of it: x[first:last] is replaced by it, and the rest of x
    stays. The ranks' parts follow each other, and differ in length by at most 1. Over a Tcp or Mpi it sends half of what
    sum() does."""
    comm = as_comm(comm)
    first, count = c.c_size_t(), c.c_size_t()
    comm.call("reduce_scatter", comm.handle, *_writable(x), c.byref(first), c.byref(count))
    return x.reshape(-1, order="A")[first.value : first.value + count.value]


def encode(compressor, x, seed=0, stream=0):
    """The bytes of the array x (float32 or float64) as a compressor such as "top_k(0.01) | natural" encodes it. What it
    draws it draws from (seed, stream): give each message another pair, and decode with the same."""
    x = np.ascontiguousarray(x)
    compressor = _c.text("the compressor", compressor)
    return _c.made_bytes("encode", compressor, x.ctypes.data, x.size, _number(x.dtype), seed, stream)


def decode(compressor, encoded, x, seed=0, stream=0):
    """x <- the array that encode() encoded, of x's length and type. WireError for damaged bytes; then x is as it was."""
    _writable(x)
    encoded = bytes(encoded)
    rows = x if x.flags.c_contiguous else np.empty(x.shape, x.dtype)  # row after row, as encode() has it
    _c.call("decode", _c.text("the compressor", compressor), encoded, len(encoded), *_writable(rows), seed, stream)
    if rows is not x:
        x[...] = rows


def names(what):
    """The "reductions", "compressors" or "collectives" that texts may name: a dict of their forms and descriptions."""
    lines = _c.made_bytes("list", _c.text("what to list", what)).decode().splitlines()
    return dict(line.split("\t", 1) for line in lines)
