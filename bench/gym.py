#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""EXO Gym's comparison of strategies beside the same methods through laconic.torch: four ranks, the same perceptron on
Fashion-MNIST, the same batches, and the settings of its example/mnist.py. Prints a table in Markdown.

    git clone https://github.com/exo-explore/gym && pip install ./python torch numpy tqdm einops psutil
    PYTHONPATH=gym OMP_NUM_THREADS=1 bench/gym.py

Without exogym its columns are left out. The loss is that of the 10,000 test images, of the mean of the ranks' models.
Bytes are those on a rank's link in the busier direction: of laconic's messages as the library counts them, and of
SPARTA and of exogym by the tensors that are handed to torch.distributed, where an all-reduce of m bytes by a ring moves
2 (n - 1) / n m, an all-gather (n - 1) m and a broadcast m."""
import argparse
import gzip
import itertools
import math
import os
import tempfile

import laconic.torch
import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from language import nesterov
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

try:
    import exogym.trainer as gym
    from exogym.strategy import demo, diloco, federated_averaging, optim, sparta, strategy
except ImportError:
    gym = None

RANKS, BATCH, EVERY, RATE, DECAY, WARM_UP, SPARSE = 4, 256, 20, 3e-4, 1e-4, 100, 0.005
DEMO = "error_feedback(dct | top_k(32, chunk=4096), decay=0.999)"
NAMES = ["AllReduce", "FedAvg", "DiLoCo", "SPARTA", "DeMo"]


def images(folder, name):
    with gzip.open(os.path.join(folder, f"{name}-images-idx3-ubyte.gz")) as file:
        x = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / np.float32(255) - np.float32(0.3)
    with gzip.open(os.path.join(folder, f"{name}-labels-idx1-ubyte.gz")) as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y))


class Loss(torch.nn.Module):
    """Of a batch: what exogym takes for a model."""

    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.of = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))

    def forward(self, batch):
        return torch.nn.functional.cross_entropy(self.of(batch[0]), batch[1])


class Signs(torch.optim.Optimizer):
    """Each weight moves by the rate, against the sign of its gradient."""

    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p -= group["lr"] * p.grad.sign()


# exogym's ranks are processes that import this file: there its steps count what they hand to torch.distributed.
if gym:
    link = {"bytes": 0.0, "counts": False}

    def counting(name, share, which=0):
        call = getattr(dist, name)

        def counted(*args, **options):
            if link["counts"]:
                link["bytes"] += share * args[which].nbytes
            return call(*args, **options)

        setattr(dist, name, counted)

    counting("all_reduce", 2 * (RANKS - 1) / RANKS)
    counting("broadcast", 1)
    counting("all_gather", RANKS - 1, which=1)
    step_of, train_of = gym.TrainNode._train_step, gym.TrainNode.train

    def counted_step(node):
        link["counts"] = True
        step_of(node)
        link["counts"] = False

    def counted_train(node):
        model = train_of(node)
        return {**model, "bytes": torch.tensor(link["bytes"], dtype=torch.float64)}

    gym.TrainNode._train_step, gym.TrainNode.train = counted_step, counted_train
    # exogym's own names an interface of macOS.
    gym.init_process_group_portsafe = lambda *args, **options: dist.init_process_group(*args, **options)

    class Copying(diloco.DiLoCoStrategy):
        """Rank 0 copies the master model. On CPUs exogym's DiLoCo trains on in the master model's own memory."""

        def _init_node(self, model, rank, num_nodes):
            super()._init_node(model, rank, num_nodes)
            self.diloco_comm._synchronize_master_model = self.copy

        @torch.no_grad()
        def copy(self, model):
            for p, master in zip(model.parameters(), self.diloco_comm.master_model.parameters()):
                p.copy_(master)


def of_exogym(name, how):
    """The mean of the ranks' models, and the bytes on a link."""
    of = {
        "AllReduce": strategy.SimpleReduceStrategy,
        "FedAvg": federated_averaging.FedAvgStrategy,
        "DiLoCo": Copying,
        "DiLoCo as it is": diloco.DiLoCoStrategy,
        "SPARTA": sparta.SPARTAStrategy,
        "DeMo": demo.DeMoStrategy,
    }[name]
    schedule = {"warmup_steps": WARM_UP, "cosine_anneal": True}
    adamw = optim.OptimSpec(torch.optim.AdamW, lr=RATE, weight_decay=DECAY)
    options = {} if name == "DeMo" else {"optim_spec": adamw, "H": EVERY}
    options = {**options, "lr_scheduler": "lambda_cosine", "lr_scheduler_kwargs": schedule}
    model = Loss(how.seed)
    model.register_buffer("bytes", torch.zeros((), dtype=torch.float64))
    trainer = gym.Trainer(model, images(how.data, "train"), images(how.data, "t10k"))
    model = trainer.fit(num_epochs=1, max_steps=how.steps, strategy=of(**options), num_nodes=RANKS, device="cpu",
                        batch_size=BATCH, minibatch_size=BATCH, val_size=0, disable_logging=True)  # fmt: skip
    return model, model.bytes.item()


def of_laconic(rank, meet, how, results):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meet, rank=rank, world_size=RANKS)
    data = images(how.data, "train")
    for name in NAMES:
        comm = laconic.torch.comm_of(engine="tcp")
        model = loss = Loss(how.seed)
        parameters = list(model.parameters())
        sender, rounds, sent = None, None, 0
        draws = torch.Generator().manual_seed(how.seed)
        if name in ("FedAvg", "DiLoCo"):
            outer = nesterov if name == "DiLoCo" else None
            options = {"every": EVERY, "first": EVERY + 1, "outer": outer}  # exogym's first round has a step more
            sender = rounds = laconic.torch.LocalRounds(parameters, "plain(over=ring)", comm, **options)
        elif name in ("AllReduce", "DeMo"):
            loss = DistributedDataParallel(model)
            text, options = "plain(over=ring)", {}
            if name == "DeMo":  # keeps what its messages leave out in units of its steps, whose first is 0
                text, options = DEMO, {"step_size": lambda: max(rate(), 1e-9)}
            sender = laconic.torch.register(loss, text, engine="tcp", **options)
        adamw = torch.optim.AdamW(parameters, lr=RATE, weight_decay=DECAY)
        inner = Signs(parameters, lr=1e-3) if name == "DeMo" else adamw

        def rate():
            return inner.param_groups[0]["lr"]

        def share(step):
            if step < WARM_UP:
                return step / WARM_UP
            return 0.1 + 0.45 * (1 + math.cos(math.pi * (step - WARM_UP) / (how.steps - WARM_UP)))

        schedule = torch.optim.lr_scheduler.LambdaLR(inner, share)
        loader = DataLoader(data, BATCH, sampler=DistributedSampler(data, RANKS, rank))
        batches = itertools.chain.from_iterable(itertools.repeat(loader))
        for step, batch in zip(range(how.steps), batches):
            inner.zero_grad()
            loss(batch).backward()
            inner.step()
            schedule.step()
            if rounds:
                rounds.step()
            if name == "SPARTA":  # the mean of the weights that all ranks draw alike
                chosen = [torch.rand(p.shape, generator=draws) < SPARSE for p in parameters]
                some = torch.cat([p.detach()[c] for p, c in zip(parameters, chosen)])
                laconic.mean(some.numpy(), comm)
                sent += 2 * (RANKS - 1) * 4 * some.numel() // RANKS  # a ring of floats
                for p, c, mean in zip(parameters, chosen, some.split([int(c.sum()) for c in chosen])):
                    p.detach()[c] = mean
        if sender:
            sent = sender.reducer.statistics.bytes_on_link
        for p in parameters:
            laconic.mean(p.detach().numpy(), comm)
        if rank == 0:
            results.put((name, loss_of(model, how), sent))
    dist.destroy_process_group()


def loss_of(model, how):
    with torch.no_grad():
        return model(images(how.data, "t10k").tensors).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1, help="of the first model")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="a folder with the four IDX files")
    how = parser.parse_args()
    results = mp.get_context("spawn").SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(of_laconic, (f"file://{folder}/meet", how, results), RANKS)
    rows = [results.get() for _ in NAMES]
    print("| strategy | laconic: loss | MB | exogym: loss | MB |\n|---|---|---|---|---|")
    for name, loss, sent in rows + ([("DiLoCo as it is", math.nan, 0)] if gym else []):
        model, sent_by_gym = of_exogym(name, how) if gym else (None, 0)
        theirs = f"{loss_of(model, how):.4f} | {sent_by_gym / 1e6:.2f}" if gym else "| "
        print(f"| {name} | {loss:.4f} | {sent / 1e6:.2f} | {theirs} |", flush=True)


if __name__ == "__main__":
    main()
