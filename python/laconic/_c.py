# SPDX-License-Identifier: Apache-2.0
"""laconic_c.h through ctypes: the functions, their structs, and their errors as exceptions."""

import ctypes as c
import os
import pathlib

VERSION = 1  # LACONIC_C_VERSION of the header that the declarations below repeat


class Error(Exception):
    """The base of all errors of this package; raised itself for those that have no class below."""


class ArgumentError(Error, ValueError):
    """An argument outside its range."""


class ParseError(ArgumentError):
    """A text that cannot be read; the message has the place in it and the valid names."""


class TheoryError(Error, ValueError):
    """No theorem covers the reduction: ``unproved(...)`` around it takes it as it is."""


class ShapeError(Error, ValueError):
    """A vector of another length, or the state of another reducer."""


class AgreementError(Error):
    """Ranks disagree on the reduction, layers, options, step or length. Raised on all ranks."""


class NonFiniteError(Error, ArithmeticError):
    """A rank's vector has a NaN or an infinity, or overflows. Raised on all ranks; nothing has changed."""


class CompressionError(Error):
    """A rank could not make its message. Raised on all ranks; nothing has changed."""


class WireError(Error, ValueError):
    """Damaged bytes."""


class CommError(Error, ConnectionError):
    """A rank failed or left, or the communicator's functions raised what is this error's ``__cause__``."""


_kinds = {
    1: Error,
    2: ArgumentError,
    3: ParseError,
    4: TheoryError,
    5: ShapeError,
    6: AgreementError,
    7: NonFiniteError,
    8: CompressionError,
    9: WireError,
    10: CommError,
    11: MemoryError,
}
for _kind in list(_kinds.values())[:-1]:
    _kind.__module__ = "laconic"  # where users find it

START = c.CFUNCTYPE(c.c_int32, c.c_void_p, c.c_int32, c.c_void_p, c.c_size_t, c.c_void_p)
FINISH = c.CFUNCTYPE(c.c_int32, c.c_void_p, c.c_int32)


class Engine(c.Structure):
    _fields_ = [
        ("rank", c.c_int32),
        ("size", c.c_int32),
        ("context", c.c_void_p),
        ("start", START),
        ("finish", FINISH),
    ]


class Layer(c.Structure):
    _fields_ = [("name", c.c_char_p), ("size", c.c_size_t), ("in_full", c.c_int32), ("rows", c.c_size_t)]


class ReducerOptions(c.Structure):
    _fields_ = [
        ("seed", c.c_uint64),
        ("has_seed", c.c_int32),
        ("propagate_non_finite", c.c_int32),
        ("missing_layer", c.c_int32),
        ("skip_zero_layers", c.c_int32),
        ("steps_vary", c.c_int32),
        ("correlated", c.c_int32),
        ("dense_below", c.c_uint64),
        ("dense_rounds", c.c_uint64),
        ("share_below", c.c_uint64),
        ("probe_every", c.c_uint64),
        ("verify_every", c.c_uint64),
        ("in_full", c.POINTER(c.c_char_p)),
        ("in_full_count", c.c_size_t),
    ]


class StepOptions(c.Structure):
    _fields_ = [("loss_scale", c.c_double), ("step_size", c.c_double), ("weight", c.c_double), ("dense", c.c_int32)]


class Statistics(c.Structure):
    _fields_ = [
        ("steps", c.c_uint64),
        ("seed", c.c_uint64),
        ("bytes_sent", c.c_uint64),
        ("bytes_received", c.c_uint64),
        ("bytes_on_link", c.c_uint64),
        ("bytes_in_full", c.c_uint64),
        ("bytes_watching", c.c_uint64),
        ("bytes_of_state", c.c_uint64),
        ("seconds_compressing", c.c_double),
        ("seconds_waiting", c.c_double),
        ("seconds_adding", c.c_double),
        ("seconds_committing", c.c_double),
        ("probe_step", c.c_uint64),
        ("probe_cosine", c.c_double),
        ("probe_relative_error", c.c_double),
        ("probe_gradient_norm", c.c_double),
        ("probe_residual_norm", c.c_double),
    ]


_handle, _out, _size, _number = c.c_void_p, c.POINTER(c.c_void_p), c.c_size_t, c.c_int
_functions = {
    "comm_new": [c.POINTER(Engine), _out],
    "comm_mpi": [c.c_int32, c.c_char_p, _out],
    "comm_tcp": [c.c_int32, c.c_int32, c.c_char_p, c.c_double, _out],
    "listener_new": [c.c_char_p, _out],
    "comm_tcp_connect": [_handle, c.c_int32, c.c_int32, c.POINTER(c.c_char_p), c.c_double, _out],
    "comm_all_gather": [_handle, c.c_char_p, _size, _out, c.POINTER(_size)],
    "reducer_new": [
        c.c_char_p, _handle, c.POINTER(Layer), _size, _number, c.POINTER(ReducerOptions), _out
    ],  # fmt: skip
    "reducer_start": [_handle, _size, c.c_void_p, _size, _number, c.POINTER(StepOptions)],
    "reducer_bind": [_handle, _size, c.c_void_p, _size, _number],
    "reducer_finish": [_handle, c.POINTER(StepOptions)],
    "reducer_reorder": [_handle],
    "reducer_broadcast": [_handle, c.c_void_p, _size, _number, c.c_int32],
    "reducer_drop": [_handle],
    "reducer_save": [_handle, _out],
    "reducer_restore": [_handle, c.POINTER(c.c_char_p), c.POINTER(_size), _size],
    "reducer_resume": [_handle, c.POINTER(c.c_char_p), c.POINTER(_size), _size, _out],
    "reducer_residual": [_handle, _size, c.c_void_p, _size],
    "reducer_set_residual": [_handle, _size, c.c_void_p, _size],
    "reducer_rebind": [_handle, _handle],
    "reducer_statistics": [_handle, c.POINTER(Statistics)],
    "sum": [_handle, c.c_void_p, _size, _number],
    "mean": [_handle, c.c_void_p, _size, _number],
    "reduce_scatter": [_handle, c.c_void_p, _size, _number, c.POINTER(_size), c.POINTER(_size)],
    "encode": [c.c_char_p, c.c_void_p, _size, _number, c.c_uint64, c.c_uint64, _out],
    "decode": [c.c_char_p, c.c_char_p, _size, c.c_void_p, _size, _number, c.c_uint64, c.c_uint64],
    "list": [c.c_char_p, _out],
}


def _load():
    path = os.environ.get("LACONIC_LIBRARY") or pathlib.Path(__file__).with_name("liblaconic_c.so")
    library = c.CDLL(os.fspath(path))
    library.laconic_c_version.restype = c.c_uint32
    if library.laconic_c_version() != VERSION:
        raise ImportError(f"{path} has version {library.laconic_c_version()} of laconic_c.h, and not {VERSION}")
    for name in ("version", "last_error"):
        getattr(library, "laconic_" + name).restype = c.c_char_p
    for name, arguments in _functions.items():
        getattr(library, "laconic_" + name).argtypes = arguments
        getattr(library, "laconic_" + name).restype = c.c_int
    for name in ("comm_free", "listener_free", "reducer_free", "bytes_free"):
        getattr(library, "laconic_" + name).argtypes = [_handle]
        getattr(library, "laconic_" + name).restype = None
    library.laconic_bytes_data.argtypes = library.laconic_bytes_size.argtypes = [_handle]
    library.laconic_bytes_data.restype = c.c_void_p
    library.laconic_listener_address.argtypes = [_handle]
    library.laconic_listener_address.restype = c.c_char_p
    library.laconic_bytes_size.restype = c.c_size_t
    for name, options in ("reducer", ReducerOptions), ("step", StepOptions):
        getattr(library, f"laconic_{name}_options_default").argtypes = [c.POINTER(options)]
        getattr(library, f"laconic_{name}_options_default").restype = None
    return library


library = _load()
version = library.laconic_version().decode()


def call(name, *arguments):
    """Calls laconic_<name>() and raises its error."""
    status = getattr(library, "laconic_" + name)(*arguments)
    if status != 0:
        raise _kinds.get(status, Error)(library.laconic_last_error().decode(errors="replace"))


def made(name, *arguments):
    """Calls a function whose last argument is where it writes a handle, and returns that."""
    handle = c.c_void_p()
    call(name, *arguments, c.byref(handle))
    return handle


def bytes_from(handle):
    """A copy of the bytes behind a handle, which is freed."""
    try:
        return c.string_at(library.laconic_bytes_data(handle), library.laconic_bytes_size(handle))
    finally:
        library.laconic_bytes_free(handle)


def text(what, given):
    """A text as C takes it."""
    if not isinstance(given, str) or "\0" in given:
        raise ArgumentError(f"{what} is {given!r}: it must be a text, without the character 0")
    return given.encode()


def made_bytes(name, *arguments):
    """The bytes that a function makes whose last argument is where it writes their handle."""
    return bytes_from(made(name, *arguments))
