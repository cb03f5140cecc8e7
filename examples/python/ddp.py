# SPDX-License-Identifier: Apache-2.0
# Trains a perceptron on Fashion-MNIST with PyTorch's DistributedDataParallel, dense or with short messages; two lines
# differ. python3 ddp.py --text "error_feedback(top_k(0.1) | quantize(7, bucket=128))" starts its ranks itself, and
# under torchrun it is one of them; --help has the options.
import argparse
import gzip
import os
import tempfile
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
parser.add_argument("--text", default="", help="the reduction; none: PyTorch's own all-reduce")
parser.add_argument("--exclude", nargs="*", default=["*.bias"], help="patterns of parameters that are sent in full")
parser.add_argument("--momentum", type=float, default=0.9, help="of the optimizer")
parser.add_argument("--rate", type=float, default=0.1, help="the highest learning rate")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--ranks", type=int, default=4)
parser.add_argument("--batch", type=int, default=32, help="images a rank and step")
parser.add_argument("--probe", type=int, default=0, help="steps between comparisons with the exact mean; 0: none")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="a folder with the four IDX files")


def read(folder, name, offset):
    with gzip.open(os.path.join(folder, name)) as file:
        return torch.from_numpy(np.frombuffer(file.read(), np.uint8, offset=offset).copy())


def train(rank, meet, how):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meet, rank=rank, world_size=how.ranks)
    images = read(how.data, "train-images-idx3-ubyte.gz", 16).reshape(-1, 784).float() / 255 - 0.3
    labels = read(how.data, "train-labels-idx1-ubyte.gz", 8).long()
    torch.manual_seed(how.seed)
    model = torch.nn.Sequential(
        torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)
    )
    model = DistributedDataParallel(model)
    state = None
    if how.text:
        import laconic.torch

        state = laconic.torch.register(model, how.text, exclude=how.exclude, probe_every=how.probe)
    optimizer = torch.optim.SGD(model.parameters(), lr=how.rate, momentum=how.momentum)
    batch = how.batch * how.ranks
    in_epoch = len(images) // batch
    steps = how.epochs * in_epoch
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, how.rate, steps, cycle_momentum=False)
    start = time.perf_counter()
    for step in range(steps):
        if step % in_epoch == 0:
            order = torch.randperm(len(images))  # the same on all ranks
        mine = order[step % in_epoch * batch + rank * how.batch :][: how.batch]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images[mine]), labels[mine]).backward()
        optimizer.step()
        schedule.step()
    seconds = time.perf_counter() - start
    if rank == 0:
        images = read(how.data, "t10k-images-idx3-ubyte.gz", 16).reshape(-1, 784).float() / 255 - 0.3
        labels = read(how.data, "t10k-labels-idx1-ubyte.gz", 8).long()
        right = (model.module(images).argmax(1) == labels).float().mean().item()
        full = sum(p.numel() * 4 for p in model.parameters())
        sent = state.bytes_sent // steps if state else full
        if state and (probe := state.reducer.statistics.last_probe):
            print(f"cosine with the mean gradient {probe.cosine:.2f}")
        print(f"{100 * right:.2f} % right after {seconds:.0f} s; {sent} bytes a step of {full}")


if __name__ == "__main__":
    how = parser.parse_args()
    if "RANK" in os.environ:
        how.ranks = int(os.environ["WORLD_SIZE"])
        train(int(os.environ["RANK"]), "env://", how)
    else:
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(train, (f"file://{folder}/meet", how), how.ranks)
