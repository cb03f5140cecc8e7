#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of PyTorch's DistributedDataParallel on CPUs: with its own all-reduce, with its hooks (fp16, bf16, PowerSGD),
and with laconic.torch. What a method adds is its time less that of the same step without communication.

    pip install ./python; bench/cluster --plain --hosts 4 --rate 1gbit python3 bench/ddp.py --model mlp

Alone, or with --ranks, it runs over loopback in processes of its own. Methods take turns in one run; a line has medians.
Bytes are those that the first host's interface has sent, the protocol's included.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

import laconic.torch

TEXTS = [
    "error_feedback(top_k(0.01))",
    "error_feedback(top_k(0.01) | quantize(7, bucket=128))",
    "error_feedback(top_k(0.1) | quantize(7, bucket=128))",
]
OVER_PAIRS = ["plain(over=two_shot)"]  # needs messages in pairs, which tcp has


def perceptron():
    layers = []
    for _ in range(6):
        layers += [torch.nn.Linear(2048, 2048), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers), torch.randn(8, 2048), torch.randn(8, 2048)


def convolutions():
    def block(n, m, stride):
        return [torch.nn.Conv2d(n, m, 3, stride, 1, bias=False), torch.nn.BatchNorm2d(m), torch.nn.ReLU()]

    layers = block(3, 64, 1)
    for n, m in ((64, 64), (64, 128), (128, 256), (256, 512)):
        layers += block(n, m, 1 if n == m else 2) + block(m, m, 1) + block(m, m, 1) + block(m, m, 1)
    layers += [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(512, 10)]
    return torch.nn.Sequential(*layers), torch.randn(4, 3, 32, 32), torch.randn(4, 10)


def as_it_is(_, bucket):
    future = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future


def peers():
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

    yield "a hook that sends nothing", lambda ddp: ddp.register_comm_hook(None, as_it_is)
    yield "fp16_compress_hook", lambda ddp: ddp.register_comm_hook(None, default_hooks.fp16_compress_hook)
    if int(torch.__version__.split(".")[0]) >= 2:  # version 1 refuses it over gloo
        yield "bf16_compress_hook", lambda ddp: ddp.register_comm_hook(None, default_hooks.bf16_compress_hook)
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=2)
    yield "PowerSGD, rank 2", lambda ddp: ddp.register_comm_hook(state, powerSGD_hook.powerSGD_hook)


def bytes_sent():
    with open("/proc/net/dev") as file:
        return sum(int(line.split(":")[1].split()[8]) for line in file if ":" in line)


class Method:
    def __init__(self, name, register, model):
        torch.manual_seed(0)
        network, self.x, self.y = {"mlp": perceptron, "conv": convolutions}[model]()
        # One bucket for PowerSGD: with several its all-reduces mix over gloo.
        cap = 1000 if name.startswith("PowerSGD") else 25
        # Gradients are views of the buckets: else DDP copies them into these and back.
        self.ddp = DistributedDataParallel(network, bucket_cap_mb=cap, gradient_as_bucket_view=True)
        self.optimizer = torch.optim.SGD(network.parameters(), lr=1e-4)
        self.seconds, self.bytes = [], []
        self.alone = name == "computing alone"
        if register:
            register(self.ddp)

    def step(self, counts):
        dist.barrier()
        before, start = bytes_sent(), time.perf_counter()
        self.optimizer.zero_grad()
        if self.alone:
            with self.ddp.no_sync():
                torch.nn.functional.mse_loss(self.ddp(self.x), self.y).backward()
        else:
            torch.nn.functional.mse_loss(self.ddp(self.x), self.y).backward()
        self.optimizer.step()
        if counts:
            self.seconds.append(time.perf_counter() - start)
            dist.barrier()
            self.bytes.append(bytes_sent() - before)


def measure(rank, ranks, where, how):
    torch.set_num_threads(1)
    if not where.startswith("file"):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "eth0")
    dist.init_process_group("gloo", init_method=where, rank=rank, world_size=ranks)
    choices = [("computing alone", None), ("dense", None), *peers()]
    engines = how.engine or ["c10d"]
    for text in how.text or [*TEXTS, *(OVER_PAIRS if "tcp" in engines else [])]:
        for engine in engines if text not in OVER_PAIRS else ["tcp"]:
            def register(ddp, text=text, engine=engine):
                laconic.torch.register(ddp, text, engine=engine, exclude=["*.bias"], share_below=1 << 20)

            choices.append((text if engine == "c10d" else f"{text}, {engine}", register))
    if how.only:
        choices = [c for c in choices if any(word in c[0] for word in ["computing", "dense", *how.only])]
    seconds, sent = [[] for _ in choices], [[] for _ in choices]
    for _ in range(how.turns):
        for i, (name, register) in enumerate(choices):  # one after the other: each model's gradients take memory
            method = Method(name, register, how.model)
            for step in range(how.warm_up + how.steps):
                method.step(step >= how.warm_up)
            seconds[i] += method.seconds
            sent[i] += method.bytes
    if rank == 0:
        medians = [statistics.median(s) for s in seconds]
        alone, dense = medians[0], medians[1]
        print(f"{how.model}, {ranks} ranks, {how.turns} x {how.steps} steps each")
        print(f"{'method':56} {'ms a step':>9} {'added':>7} {'dense adds / it adds':>20} {'dense / it':>10} {'MB sent':>8}")
        for i, (name, _) in enumerate(choices):
            added = medians[i] - alone
            ratio = f"{(dense - alone) / added:20.1f}" if added > 0 and i > 0 else f"{'':20}"
            print(f"{name:56} {1e3 * medians[i]:9.1f} {1e3 * added:7.1f} {ratio} {dense / medians[i]:10.2f} {statistics.median(sent[i]) / 1e6:8.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=["mlp", "conv"], default="mlp")
    parser.add_argument("--ranks", type=int, default=2, help="over loopback; bench/cluster says how many else")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warm-up", type=int, default=5)
    parser.add_argument("--turns", type=int, default=1, help="how often each method has its turn of so many steps")
    parser.add_argument("--text", action="append", help="a reduction in place of the usual ones; may be repeated")
    parser.add_argument("--only", action="append", help="only methods whose names have this in them; may be repeated")
    parser.add_argument("--engine", action="append", choices=["c10d", "tcp"], help="what carries messages; both by turns")
    how = parser.parse_args()
    hosts = os.environ.get("LACONIC_HOSTS")
    if hosts:
        addresses = hosts.split(",")
        rank = int(os.environ["LACONIC_RANK"])
        measure(rank, len(addresses), f"tcp://{addresses[0]}:29500", how)
    else:
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(measure, (how.ranks, f"file://{folder}/meet", how), how.ranks)


if __name__ == "__main__":
    sys.exit(main())
