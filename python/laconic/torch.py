# SPDX-License-Identifier: Apache-2.0
"""Short messages in place of PyTorch's all-reduce of gradients, for models on CPUs.

    model = DistributedDataParallel(model)
    laconic.torch.register(model, "error_feedback(top_k(0.1) | quantize(7, bucket=128))", exclude=["*.bias"])

and the loop stays as it is. ``Attached`` does the same without DistributedDataParallel. ``LocalRounds`` is for ranks that
communicate after every so many steps (DiLoCo, FedAvg).
"""

import contextlib
import copy
import os
import socket

import torch
import torch.distributed as dist

import laconic

_numbers = {torch.float32: 0, torch.float64: 1, torch.float16: 2, torch.bfloat16: 3}


def _own_host():
    """This host's address on the interface that GLOO_SOCKET_IFNAME names or, without it, by which it reaches MASTER_ADDR
    or, without that, its own name's."""
    name = os.environ.get("GLOO_SOCKET_IFNAME", "").split(",")[0]
    if name:
        import fcntl

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            found = fcntl.ioctl(any_socket, 0x8915, name.encode().ljust(40, b"\0"))  # SIOCGIFADDR of Linux
        return socket.inet_ntoa(found[20:24])
    host = os.environ.get("MASTER_ADDR") or socket.gethostname()
    family, kind, _, _, place = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as to:
        to.connect(place)  # which sends nothing
        return to.getsockname()[0]


def _over_tcp(group):
    """Ranks tell each other over the group where they listen."""
    try:
        host = _own_host()
        listener = laconic.Listener(f"[{host}]:0" if ":" in host else f"{host}:0")
        mine = listener.address
    except (laconic.Error, OSError) as error:
        mine = error  # for all ranks
    everyone = [None] * dist.get_world_size(group)
    dist.all_gather_object(everyone, mine, group=group)
    for rank, found in enumerate(everyone):
        if isinstance(found, Exception):
            raise laconic.CommError(f"rank {rank} cannot listen: {found}") from found
    return listener.connect(dist.get_rank(group), everyone)


def comm_of(group=None, engine="c10d"):
    """A communicator over a process group of torch.distributed. None: of all ranks; all of them call it then.

    Args:
        engine: "c10d": the group carries the messages, as tensors of the CPU, such as gloo's does; a new gloo group where
            none is given, so that they do not mix with other traffic. "tcp": laconic.Tcp, whose ranks exchange their
            addresses over the group. They listen on the interface that GLOO_SOCKET_IFNAME names, or else on that by which
            they reach MASTER_ADDR, or their own name.
    """
    if engine == "tcp":
        return _over_tcp(group)
    if engine != "c10d":
        raise laconic.ArgumentError(f"engine is {engine!r}: it must be 'c10d' or 'tcp'")
    if group is None:
        group = dist.new_group(backend="gloo")
    works = {}

    def start(lane, mine, everything):
        blocks = list(torch.from_numpy(everything).unbind(0))
        works[lane] = dist.all_gather(blocks, torch.from_numpy(mine), group=group, async_op=True)

    return laconic.Comm(dist.get_rank(group), dist.get_world_size(group), start, lambda lane: works.pop(lane).wait())


def _spec(parameter):
    if parameter.dtype not in _numbers:
        raise laconic.ArgumentError(f"a parameter of {parameter.dtype}: it must be of {', '.join(map(str, _numbers))}")
    return parameter.numel(), _numbers[parameter.dtype], parameter.shape[0] if parameter.dim() > 1 else 0


def _where(gradient):
    if gradient.device.type != "cpu":
        raise laconic.ArgumentError(f"a gradient on {gradient.device}: laconic.torch reduces tensors of the CPU")
    return gradient.data_ptr(), *_spec(gradient)[:2]


class _Steps:
    """A reducer whose layers are parameters. It follows a change of the order in which their gradients come."""

    def __init__(self, reduction, group, engine, exclude, warm_up, loss_scale, step_size, options):
        self._how = reduction, {"non_finite": "propagate", "in_full": exclude, "dense_rounds": warm_up, **options}
        self._comm = comm_of(group, engine)
        self._scale, self._step_size = loss_scale, step_size
        self._reducer = None
        self._saved = None

    def _make(self, named):
        """Makes the reducer for these parameters, a list of pairs of name and parameter."""
        reduction, options = self._how
        self._reducer = laconic.Reducer(reduction, self._comm, {n: _spec(p) for n, p in named}, **options)
        self._layers = {p: l for l, (_, p) in enumerate(named)}
        self._order, self._last, self._learned = [], [], None
        if self._saved is not None:
            self._reducer.restore(self._saved)

    def _start(self, parameter, gradient):
        if parameter not in self._layers:
            raise laconic.ArgumentError("a gradient of a parameter that the model did not have, or had frozen, before")
        layer = self._layers[parameter]
        self._order.append(layer)
        step = {"loss_scale": self._scale()} if self._scale else {}
        if self._step_size:
            step["step_size"] = self._step_size()
        self._reducer._start(layer, _where(gradient), gradient, **step)

    def _finish(self):
        order, self._order = self._order, []
        self._reducer.finish()
        # DistributedDataParallel lays its buckets anew in one of the first steps: two steps in a row have another order.
        if self._learned is None:
            self._learned = order
        elif order != self._learned and order == self._last:
            self._reducer.reorder()
            self._learned = order
        self._last = order

    def _drop(self):
        """Drops the step, if one is in progress: so the others' fails, too, and the next one may follow."""
        if self._order:
            self._order = []
            with contextlib.suppress(laconic.Error):
                self._reducer.drop()

    @property
    def reducer(self):
        """The laconic.Reducer, whose layers are the parameters by name; None before the first step of a State that was
        made without a module."""
        return self._reducer

    @property
    def bytes_sent(self):
        """Of messages: one to all ranks counts once."""
        return self._reducer.statistics.bytes_sent if self._reducer else 0

    def state_dict(self):
        """This rank's residuals, as a tensor of uint8: save one a rank."""
        return {"laconic": torch.frombuffer(bytearray(self._reducer.state()), dtype=torch.uint8)}

    def load_state_dict(self, state, strict=True):
        """Restores this rank's state_dict(), or, from a list of all saved ranks', in their order, on any number of
        ranks. All ranks call it. Not ``strict``: what can be kept is restored of a state with another reduction, other
        options or layers, as Reducer.resume() does, and a list of what was not is returned."""
        states = [state] if isinstance(state, dict) else list(state)
        saved = [bytes(s["laconic"].numpy()) for s in states]
        if not strict:
            return self._reducer.resume(saved)
        self._saved = saved
        if self._reducer:
            self._reducer.restore(saved)
        return []


class State(_Steps):
    """The state of the communication hook ``hook``, for what takes such a pair, as Lightning's DDPStrategy does.

    Args:
        reduction: such as "error_feedback(top_k(0.1) | quantize(7, bucket=128))".
        module: names the layers; None: they are "0", "1", .. in the order of the first step's gradients.
        group: a process group; None: of all ranks, which all make this.
        engine: what carries the messages, "c10d", the group, or "tcp": as comm_of() has it.
        exclude: patterns of names, in which * stands for any text, such as ["*.bias"]: these parameters are not
            compressed.
        warm_up: the number of first steps that are dense.
        loss_scale: a function that returns the factor by which the loss is multiplied, such as scaler.get_scale.
        step_size: a function that returns the learning rate: where it changes, residuals are rescaled.
        options: those of laconic.Reducer. Where a rank's gradient has NaN or infinity, all ranks' become NaN, which
            GradScaler looks for.
    """

    def __init__(self, reduction, module=None, group=None, *, engine="c10d", exclude=(), warm_up=0, loss_scale=None,
                 step_size=None, **options):  # fmt: skip
        super().__init__(reduction, group, engine, exclude, warm_up, loss_scale, step_size, options)
        self._buckets = []
        if module is not None:
            self._make([(n, p) for n, p in module.named_parameters() if p.requires_grad])

    def _add(self, bucket):
        future = torch.futures.Future()
        gradients = list(zip(bucket.parameters(), bucket.gradients()))
        self._buckets.append((future, bucket.buffer(), gradients))
        if self._reducer:
            for p, g in gradients:
                self._start(p, g)
        if bucket.is_last():
            buckets, self._buckets = self._buckets, []
            if not self._reducer:
                started = [pair for _, _, pairs in buckets for pair in pairs]
                self._make([(str(i), p) for i, (p, _) in enumerate(started)])
                for p, g in started:
                    self._start(p, g)
            self._finish()
            for of_bucket, buffer, _ in buckets:
                of_bucket.set_result(buffer)
        return future


def hook(state, bucket):
    """A communication hook of DistributedDataParallel: ``ddp.register_comm_hook(State(..), hook)``."""
    try:
        return state._add(bucket)
    except BaseException:
        state._buckets = []
        state._drop()
        raise


def register(ddp, reduction, **options):
    """Registers the hook at a DistributedDataParallel model, with the State of these options, which it returns. Where
    the model has find_unused_parameters, which throws the estimate of a parameter away that no rank used,
    skip_zero_layers is True by default, so that its residual stays."""
    options.setdefault("skip_zero_layers", ddp.find_unused_parameters)
    state = State(reduction, ddp.module, **options)
    ddp.register_comm_hook(state, hook)
    return state


class Attached(_Steps):
    """Reduces a module's gradients without DistributedDataParallel: each starts to travel as soon as the backward pass
    has it, and the optimizer's step waits for all, or wait(), which must come before gradients are clipped or unscaled.
    Parameters and buffers become those of rank 0. Needs torch 2.1. Arguments as State's; all ranks make one."""

    def __init__(self, module, optimizer, reduction, group=None, *, engine="c10d", exclude=(), warm_up=0,
                 loss_scale=None, step_size=None, **options):  # fmt: skip
        super().__init__(reduction, group, engine, exclude, warm_up, loss_scale, step_size, options)
        named = [(n, p) for n, p in module.named_parameters() if p.requires_grad]
        first = 0 if group is None else dist.get_global_rank(group, 0)
        for tensor in [*module.parameters(), *module.buffers()]:
            dist.broadcast(tensor.detach(), first, group=group)
        self._make(named)
        self._syncs, self._waited = True, False
        self._handles = [p.register_post_accumulate_grad_hook(self._ready) for _, p in named]
        self._handles.append(optimizer.register_step_pre_hook(lambda *_: self._before_step()))

    def _ready(self, parameter):
        if self._syncs:
            self._waited = False
            self._start(parameter, parameter.grad)

    def wait(self):
        """The gradients become the estimates now. All ranks call it between the backward pass and what reads gradients
        before the optimizer's step: clip_grad_norm_(), a GradScaler's unscale_() or step()."""
        self._finish()
        self._waited = True

    def _before_step(self):
        if not self._waited:
            self._finish()
        self._waited = False

    @contextlib.contextmanager
    def no_sync(self):
        """Backward passes inside only accumulate gradients; the last one, outside, sends their sum."""
        self._syncs = False
        try:
            yield
        finally:
            self._syncs = True

    def remove(self):
        """Takes the hooks off the module and the optimizer."""
        for handle in self._handles:
            handle.remove()


class _Optimizer:
    """An optimizer of torch.optim as an outer step."""

    def __init__(self, of):
        self.of = of

    def __call__(self, x, d):
        for name, tensor in x.items():
            tensor.grad = d[name]
        self.of.step()

    def state(self):
        return copy.deepcopy(self.of.state_dict())

    def restore(self, state):
        self.of.load_state_dict(copy.deepcopy(state))  # which would take its tensors


class LocalRounds(laconic.LocalRounds):
    """One call after each step of the local optimizer, in a loop whose ranks communicate after every so many of them:
    local SGD, FedAvg, SlowMo, DiLoCo. The words and the formula are laconic.LocalRounds'.

        inner = torch.optim.AdamW(model.parameters())
        rounds = laconic.torch.LocalRounds(
            model.parameters(), "plain", every=30,
            outer=lambda x: torch.optim.SGD(x, lr=0.7, momentum=0.9, nesterov=True))   # DiLoCo
        for batch in data:
            inner.zero_grad()
            loss(model, batch).backward()
            inner.step()
            rounds.step()

    Args:
        parameters: the model's, or pairs of name and parameter as named_parameters() yields them, which ``in_full``
            needs; without names the layers are "0", "1", .. . Those that require no gradient are left as they are.
        reduction: such as "error_feedback(top_k(0.01) | quantize(7, bucket=128))".
        comm: a communicator, such as comm_of(group, engine="tcp"); None: comm_of(), all ranks of torch.distributed.
        outer: a function that makes the outer optimizer of a list of tensors, which are x, and whose ``grad`` is d.
            None: SGD with a rate of 1, which makes x the mean of the models.
        options: ``every``, ``keep``, ``delay``, ``first`` and those of the Reducer, as laconic.LocalRounds has them.

    ``rounds.outer`` is the outer optimizer, such as for a schedule. All ranks make one, with the same arguments.
    """

    def __init__(self, parameters, reduction, comm=None, *, outer=None, **options):
        named = [p if isinstance(p, tuple) else (str(i), p) for i, p in enumerate(parameters)]
        self._named = {name: p for name, p in named if p.requires_grad}
        super().__init__(reduction, comm_of() if comm is None else comm, self._tensors(), **options)
        self.outer = (outer or (lambda x: torch.optim.SGD(x, lr=1.0)))(list(self._x.values()))
        self._outer = _Optimizer(self.outer)

    def _tensors(self):
        return {name: p.detach() for name, p in self._named.items()}

    def step(self, weight=1.0):
        """To be called after each local step. Returns True where it has ended a round: the model is x then.
        ``weight``: of this local step, as laconic.LocalRounds.step() has it."""
        return super().step(self._tensors(), weight)

    def reset(self, model=None):
        """The model <- x: after a round that failed, or where x was restored without it."""
        super().reset(self._tensors())

    def agreed(self):
        """A context in which the model is x, the one to evaluate; afterwards it is what it was."""
        return super().agreed(self._tensors())

    def state_dict(self):
        """This rank's state, of tensors and numbers: save one a rank. Not while a round is in progress. The model and
        the local optimizer have their own."""
        state = self.state()
        return {**state, "reducer": torch.frombuffer(bytearray(state["reducer"]), dtype=torch.uint8)}

    def load_state_dict(self, state):
        """Restores this rank's state_dict(), or, from a list of all saved ranks', in their order, on any number of
        ranks. The model stays as it is. All ranks call it."""
        states = [state] if isinstance(state, dict) else list(state)
        self.restore([{**of, "reducer": bytes(of["reducer"].numpy())} for of in states])

    @staticmethod
    def _check(name, y):
        if y.device.type != "cpu":
            raise laconic.ArgumentError(f"parameter {name} on {y.device}: laconic.torch reduces tensors of the CPU")

    @classmethod
    def _wide(cls, name, y):
        cls._check(name, y)
        wide = torch.float64 if _spec(y)[1] == 1 else torch.float32
        return y.to(wide, copy=True, memory_format=torch.contiguous_format)

    @staticmethod
    def _as(x, other):
        return x.to(other.dtype)

    @staticmethod
    def _numpy(x):
        return x.numpy()
