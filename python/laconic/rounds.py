# SPDX-License-Identifier: Apache-2.0
"""Rounds of local steps: ranks that communicate rarely."""

import contextlib
import copy

import numpy as np

import laconic
from laconic._c import AgreementError, ArgumentError, ShapeError


class Momentum:
    """An outer step: u <- beta u + d, where u begins as 0, and x <- x - rate u or, with ``nesterov``,
    x <- x - rate (d + beta u), as torch.optim.SGD has it.

    Rate 1 and beta 0 make x the mean of the models (local SGD; with weights FedAvg, McMahan et al., AISTATS 2017), and
    beta 0.4 to 0.8 SlowMo (Wang et al., ICLR 2020). Momentum(0.7, 0.9, nesterov=True) is DiLoCo's (Douillard et al.,
    2023).
    """

    def __init__(self, rate=1.0, beta=0.0, nesterov=False):
        if not (rate > 0 and 0 <= beta < 1):
            raise ArgumentError(f"Momentum({rate}, {beta}): the rate must be above 0, and beta in [0, 1)")
        self.rate, self.beta, self.nesterov = rate, beta, nesterov
        self._u = {}

    def __call__(self, x, d):
        for name, to in x.items():
            move = d[name]
            if self.beta:
                u = self._u[name] = self.beta * self._u.get(name, 0) + move
                move = move + self.beta * u if self.nesterov else u
            to -= self.rate * move

    def state(self):
        return copy.deepcopy(self._u)

    def restore(self, state):
        self._u = copy.deepcopy(state)


class LocalRounds:
    """One call after each local step, in a loop whose ranks communicate after every so many of them.

        rounds = laconic.LocalRounds("plain", comm, model, every=30, outer=laconic.Momentum(0.7, 0.9, nesterov=True))
        for batch in data:
            optimizer.step(model, backward(model, batch))   # a local step: model is {"w": array, ..}
            rounds.step(model)

    With x the agreed model, which is the same on all ranks, and y_i that of rank i, a round makes

        d = the reducer's estimate of mean_i(x - y_i),    x <- outer step(x, d),    y_i <- keep y_i + (1 - keep) x .

    The local optimizer's state stays with its rank.

    Args:
        reduction, comm: as Reducer's.
        model: a dict of arrays by name, or one array, which becomes rank 0's on all ranks. x of numbers of 16 bits has
            32; in x - y_i it is rounded to 16, as in the models that a round writes.
        every: local steps in a round.
        outer: the outer step, called as outer(x, d) with two dicts of arrays by name, of which it changes x in place;
            its state() and restore(state), if it has any, save what it remembers. None: Momentum(), the mean of the
            models.
        keep: the share of its own model that a rank keeps in a round, in [0, 1). Above 0 only for Streaming DiLoCo
            (Douillard et al., 2025), as then the ranks' models end farther from the optimum.
        delay: a round's messages leave so many local steps before it ends, and travel meanwhile (Streaming DiLoCo).
        first: the local steps of the first round; None: ``every``. Parts of a model that take turns have a LocalRounds
            each, with first = every / parts, 2 every / parts, ..
        options: Reducer's, without non_finite, missing_layer and skip_zero_layers.

    All ranks make one with the same arguments, and make the same calls. A round that raises does so on all ranks, and
    has changed neither x nor a model; the next one, ``every`` local steps later, has these steps, too. Memory: x, d,
    and what the outer step and the reducer remember.
    """

    def __init__(self, reduction, comm, model, *, every=30, outer=None, keep=0.0, delay=0, first=None, **options):
        first = every if first is None else first
        if not 0 <= delay < min(every, first):
            raise ArgumentError(f"a delay of {delay}: it must be from 0 to below every = {every} and first = {first}")
        if not 0 <= keep < 1:
            raise ArgumentError(f"keep is {keep}: it must be in [0, 1)")
        for name in ("non_finite", "missing_layer", "skip_zero_layers"):
            if name in options:
                raise ArgumentError(f"{name}: a round takes all layers, and raises where a number is not finite")
        model = model if isinstance(model, dict) else {"": model}
        self._x = {name: self._wide(name, y) for name, y in model.items()}
        self._d = {name: self._wide(name, x) for name, x in self._x.items()}
        comm = laconic.as_comm(comm)
        made = [text.decode() for text in comm.allgather(f"{every=}, {first=}, {delay=}, {keep=}".encode())]
        for rank, other in enumerate(made):
            if other != made[0]:
                raise AgreementError(f"rank {rank} makes a LocalRounds of {other}, and rank 0 of {made[0]}")
        self._reduce = laconic.Reducer(reduction, comm, self._arrays(self._x), **options)
        self._every, self._delay, self._keep, self._left = every, delay, keep, first
        self._outer = outer or Momentum()
        self._comm, self._model = comm, None
        self._weight, self._weighed = 0.0, 0  # the sum of the weights since the last start, and how many they are
        self._reduce.broadcast(self._arrays(self._x))
        self.reset(model)

    def step(self, model, weight=1.0):
        """To be called after each local step. Returns True where it has ended a round: the model is x then.

        Args:
            model: of the same names and shapes as the first. With a ``delay`` a round ends by writing into the arrays
                of the call that started it.
            weight: of this local step, such as the number of its samples: the mean of those of a round is the rank's
                weight in it. Others than 1 need steps_vary=True.
        """
        self._weight, self._weighed = self._weight + weight, self._weighed + 1
        self._left -= 1
        if self._left == self._delay:
            try:
                self._start(model)
            except BaseException:
                self._left += self._every  # the others' round fails, too, and the next is that of all
                raise
        if self._left:
            return False
        self._left = self._every
        self._finish()
        return True

    def _start(self, model):
        weight, self._weight, self._weighed = self._weight / self._weighed, 0.0, 0
        try:
            self._model = self._by_name(model)
            for name, y in self._model.items():
                x = self._x[name]
                self._d[name][...] = self._as(x, y) - self._as(y, x)
        except Exception:
            self._reduce._fail({})
            raise
        self._reduce._start_all(self._arrays(self._d), weight=weight)

    def _finish(self):
        model, self._model = self._model, None
        self._reduce.finish()
        self._outer(self._x, self._d)
        for name, y in model.items():
            x = self._x[name]
            y[...] = self._keep * self._as(y, x) + (1 - self._keep) * x if self._keep else x

    def reset(self, model):
        """The model <- x: after a round that failed, or where x was restored without it."""
        for name, y in self._by_name(model).items():
            y[...] = self._x[name]

    def rebind(self, comm):
        """Goes on over another communicator, such as that of the ranks that are left; each of them calls it. It drops a
        round in progress: the next one ends ``every`` local steps later. x becomes the new rank 0's, and so do the
        arrays of the outer step's state(); the model stays as it is. Raises AgreementError, and nothing has changed,
        where these states have not the same parts, as where one rank alone has taken a first outer step, or ``every``,
        ``delay`` or ``keep`` differ."""
        comm = laconic.as_comm(comm)
        has_state = hasattr(self._outer, "state") and hasattr(self._outer, "restore")
        state, arrays = self._outer.state() if has_state else None, []
        made = f"every={self._every}, delay={self._delay}, keep={self._keep}"
        parts = f"{made}, and its outer step remembers {self._parts(state, arrays)}".encode()
        for rank, other in enumerate(comm.allgather(parts)):
            if other != parts:
                raise AgreementError(f"rank {rank} has a LocalRounds of {other.decode()}: here {parts.decode()}")
        self._reduce.rebind(comm)
        self._comm, self._model, self._left = comm, None, self._every
        self._weight, self._weighed = 0.0, 0
        self._reduce.broadcast(self._arrays(self._x))
        for x in arrays:
            self._reduce.broadcast(x)
        if has_state:
            self._outer.restore(state)

    @classmethod
    def _parts(cls, state, arrays):
        """What a state is but for the numbers of its arrays, which are appended to ``arrays``."""
        if isinstance(state, dict):
            return [(key, cls._parts(value, arrays)) for key, value in state.items()]
        if isinstance(state, (list, tuple)):
            return [cls._parts(value, arrays) for value in state]
        if not hasattr(state, "shape") or isinstance(state, np.generic):
            return state
        x = state if isinstance(state, np.ndarray) else cls._numpy(state)
        arrays.append(x)
        return tuple(x.shape), str(x.dtype)

    @contextlib.contextmanager
    def agreed(self, model):
        """Inside, the model is x, the one to evaluate; afterwards it is what it was."""
        own = copy.deepcopy(self._by_name(model))
        self.reset(model)
        try:
            yield
        finally:
            for name, y in self._by_name(model).items():
                y[...] = own[name]

    @property
    def x(self):
        """The agreed model, a dict of arrays by name or the one array: to be read."""
        return self._x[""] if list(self._x) == [""] else self._x

    @property
    def reducer(self):
        """The Reducer of the differences x - y_i: its ``steps`` are the rounds so far, ``statistics`` counts bytes."""
        return self._reduce

    def state(self):
        """This rank's state, on which the next rounds depend: a dict of numbers, arrays and bytes. Not while a round is
        in progress. The model and the local optimizer's state are the caller's to save."""
        outer = self._outer.state() if hasattr(self._outer, "state") else None
        return {"x": copy.deepcopy(self._x), "outer": outer, "reducer": self._reduce.state(), "left": self._left,
                "weight": self._weight, "weighed": self._weighed}  # fmt: skip

    def restore(self, state):
        """Restores this rank's state(), or, from a list of those of all ranks that saved, in their order, one for any
        number of ranks; on another number they go on with rank 0's weights of the round that has begun. The model stays
        as it is. All ranks call it. Raises ArgumentError, and nothing has changed, where with this ``delay`` that round
        would have left already."""
        states = [state] if isinstance(state, dict) else list(state)
        state = states[0]
        shapes = [{name: tuple(x.shape) for name, x in of.items()} for of in (state["x"], self._x)]
        if shapes[0] != shapes[1]:
            raise ShapeError(f"the state of a LocalRounds over {shapes[0]}, and this one is over {shapes[1]}")
        if not state["left"] > self._delay:
            left = state["left"]
            raise ArgumentError(f"{left} local steps are left of the saved round, and the delay is {self._delay}")
        own = states[self._comm.rank] if len(states) == self._comm.size else state
        self._reduce.restore([of["reducer"] for of in states])
        for name, x in self._x.items():
            x[...] = state["x"][name]
        if hasattr(self._outer, "restore"):
            self._outer.restore(state["outer"])
        self._left, self._weight, self._weighed = state["left"], own["weight"], own["weighed"]

    def _by_name(self, model):
        """The model's arrays by name. Raises unless they are like x's."""
        model = model if isinstance(model, dict) else {"": model}
        if model.keys() != self._x.keys():
            raise ShapeError(f"a model of {', '.join(model)}: this LocalRounds is over {', '.join(self._x)}")
        for name, y in model.items():
            self._check(name, y)
            if y.shape != self._x[name].shape:
                was = tuple(self._x[name].shape)
                raise ShapeError(f"{name or 'the model'} is of shape {tuple(y.shape)}: it was {was}")
        return model

    def _arrays(self, of):
        return {name: self._numpy(x) for name, x in of.items()}

    # What differs between numpy's arrays and torch's tensors.
    @staticmethod
    def _check(name, y):
        """Raises unless y can be changed in place."""
        if not isinstance(y, np.ndarray) or not y.flags.writeable:
            raise ArgumentError(f"{name or 'the model'} must be a numpy array that can be changed in place")

    @classmethod
    def _wide(cls, name, y):
        """A copy of y, row after row, in at least 32 bits."""
        cls._check(name, y)
        return np.array(y, np.float64 if laconic._number(y.dtype) == 1 else np.float32, order="C")

    @staticmethod
    def _as(x, other):
        return x.astype(other.dtype, copy=False)

    @staticmethod
    def _numpy(x):
        return x
