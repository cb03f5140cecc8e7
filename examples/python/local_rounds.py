# SPDX-License-Identifier: Apache-2.0
# Trains a perceptron on Fashion-MNIST with PyTorch: dense, with a message each step, and by rounds of 30 local steps,
# whose messages are dense or short. python3 local_rounds.py starts its ranks itself; --help has the options.
import argparse
import contextlib
import gzip
import os
import tempfile

import laconic.torch
import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
parser.add_argument("--every", type=int, default=30, help="local steps in a round")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--ranks", type=int, default=4)
parser.add_argument("--batch", type=int, default=32, help="images a rank and step")
parser.add_argument("--images", type=int, default=60000, help="of the training set, in an epoch")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="a folder with the four IDX files")


def read(folder, name):
    with gzip.open(os.path.join(folder, f"{name}-images-idx3-ubyte.gz")) as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / np.float32(255) - np.float32(0.3)
    with gzip.open(os.path.join(folder, f"{name}-labels-idx1-ubyte.gz")) as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)
    return torch.from_numpy(images), torch.from_numpy(labels)


def nesterov(x):
    return torch.optim.SGD(x, lr=0.7, momentum=0.9, nesterov=True)


def train(rank, how, reduction=None, outer=None):
    """Trains by rounds of this reduction, or dense; the share of test images that are right, and the bytes sent."""
    images, labels = read(how.data, "train")
    torch.manual_seed(how.seed)
    model = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    if reduction:
        options = {"every": how.every, "outer": outer, "seed": how.seed}
        rounds = laconic.torch.LocalRounds(model.parameters(), reduction, **options)
    else:
        model = DistributedDataParallel(model)
        state = laconic.torch.register(model, "plain")
    inner = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batch = how.batch * how.ranks
    images, labels = images[: how.images], labels[: how.images]
    for _ in range(how.epochs):
        order = torch.randperm(len(images))  # the same on all ranks
        for first in range(0, len(images) - batch + 1, batch):
            mine = order[first + rank * how.batch :][: how.batch]
            inner.zero_grad()
            torch.nn.functional.cross_entropy(model(images[mine]), labels[mine]).backward()
            inner.step()
            if reduction:
                rounds.step()
    images, labels = read(how.data, "t10k")
    with rounds.agreed() if reduction else contextlib.nullcontext(), torch.no_grad():
        right = (model(images).argmax(1) == labels).float().mean().item()
    return right, (rounds if reduction else state).reducer.statistics.bytes_sent


def run(rank, meet, how):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meet, rank=rank, world_size=how.ranks)
    short = "error_feedback(top_k({}) | quantize(7, bucket=128))".format
    for name, *what in (
        ["dense"],
        ["DiLoCo", "plain", nesterov],
        ["DiLoCo, top_k(0.1)", short(0.1), nesterov],
        ["DiLoCo, top_k(0.01)", short(0.01), nesterov],
        ["local SGD, top_k(0.01)", short(0.01)],
    ):
        right, sent = train(rank, how, *what)
        if rank == 0:
            print(f"{100 * right:.2f} % right, {sent:>10} bytes a rank: {name}", flush=True)


if __name__ == "__main__":
    how = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run, (f"file://{folder}/meet", how), how.ranks)
