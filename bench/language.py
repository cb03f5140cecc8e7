#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small language model, a transformer of two layers over bytes, through laconic.torch: methods of
communication at equal tokens. Prints a table in Markdown and draws the loss against the bytes.

    apt-get install bible-kjv gnuplot-nox; pip install ./python torch
    bible gen1:1-rev22:21 >kjv.txt; bench/language.py kjv.txt OUT_FOLDER

Any text of a few MB will do. Nine tenths are trained on, and losses are those of the next twentieth. A method has the
best of three learning rates with the first seed, and the other seeds have that rate. OUT_FOLDER gets runs.csv, whose
runs are not computed again, and language.svg, if gnuplot is there. Bytes are those on a rank's link in the busier
direction, where a message to all ranks is sent to each in turn."""
import argparse
import collections
import contextlib
import csv
import os
import shutil
import statistics
import subprocess
import tempfile

import laconic.torch
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.optim.lr_scheduler import OneCycleLR


def nesterov(x):
    return torch.optim.SGD(x, lr=0.7, momentum=0.9, nesterov=True)


# A reduction of each step's gradients with AdamW behind it, or `muon`, or, in `rounds` of local steps, of the models.
# Some take the learning rate of the method `like`: those that only round dense's, those of local steps that of a rank
# alone. With `states` Adam's m and v are averaged, too, in every so many of these rounds.
Method = collections.namedtuple(
    "Method", "name reduction rounds outer like muon every states", defaults=(False, None, None, False, None, ())
)
TOP = "error_feedback(top_k({}) | quantize(7, bucket=128))".format
SPARSE_LOCO = "unproved(error_feedback(top_k(64, chunk=4096) | bin_means(2), decay=0.95))"
METHODS = [
    Method("alone", None),  # each rank trains a model of its own, on its share of the tokens
    Method("dense", "plain(over=ring)"),
    Method("dense, bf16", "plain(over=two_shot)", like="dense"),
    Method("two-shot, 4 bits", "plain(over=two_shot(uniform(4, bucket=128)))", like="dense"),
    Method("signs", "error_feedback(scaled_sign(bucket=128))"),
    Method("PowerSGD, rank 2", "error_feedback(identity, over=shared_factors(rank=2))"),
    Method("top 10 %, 4 bits", TOP(0.1)),
    Method("top 1 %, 4 bits", TOP(0.01)),
    Method("local SGD", "plain(over=ring)", True, like="alone"),
    Method("local SGD, two-shot, 4 bits", "plain(over=two_shot(uniform(4, bucket=128)))", True, like="alone"),
    Method("local SGD, 4 steps", "plain(over=ring)", True, like="alone", every=4),
    Method("local SGD, 5 steps", "plain(over=ring)", True, like="alone", every=5),
    Method("DES-LOC, 5 steps", "plain(over=ring)", True, like="alone", every=5, states=(3, 6)),
    Method("local Adam, 5 steps", "plain(over=ring)", True, like="alone", every=5, states=(1, 1)),
    Method("DiLoCo", "plain(over=ring)", True, nesterov, like="alone"),
    Method("DiLoCo, two-shot, 4 bits", "plain(over=two_shot(uniform(4, bucket=128)))", True, nesterov, like="alone"),
    Method("DiLoCo, top 10 %, 4 bits", TOP(0.1), True, nesterov, like="alone"),
    Method("SparseLoCo", SPARSE_LOCO, True, like="alone"),
    Method("Muon alone", None, muon=True),
    Method("Muon, dense", "plain(over=ring)", muon=True),
    Method("Muon, two-shot, 4 bits", "plain(over=two_shot(uniform(4, bucket=128)))", like="Muon, dense", muon=True),
    Method("Muon, top 1 %, 4 bits", TOP(0.01), muon=True),
    Method("Muon on each rank", "plain(over=ring)", True, like="Muon, dense", muon=True, every=1),
    Method("Muon, local", "plain(over=ring)", True, like="Muon alone", muon=True),
    Method("MuLoCo", "plain(over=ring)", True, nesterov, like="Muon alone", muon=True),
]
LIKE = {method.name: method for method in METHODS}
RATES, RATES_OF_MUON = [1e-3, 3e-3, 1e-2], [1e-2, 3e-2, 1e-1]


class Model(torch.nn.Module):
    """The logits of each next byte."""

    def __init__(self, width, context):
        super().__init__()
        self.embedding = torch.nn.Embedding(256, width)
        self.position = torch.nn.Embedding(context, width)
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(
                width, 4, 4 * width, dropout=0, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(2)
        )
        self.norm = torch.nn.LayerNorm(width)
        self.out = torch.nn.Linear(width, 256)

    def forward(self, x):
        future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
        x = self.embedding(x) + self.position.weight
        for layer in self.layers:
            x = layer(x, future)
        return self.out(self.norm(x))


def loss_of(model, windows):
    """The mean loss of the next byte, in nats."""
    logits = model(windows[:, :-1])
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())


def optimizers(model, rate, muon):
    """AdamW or, with `muon`, Muon for the layers' matrices, in steps as long as AdamW's, and AdamW for the rest."""
    matrices, rest = [], []
    for name, weights in model.named_parameters():
        (matrices if muon and "layers." in name and weights.ndim == 2 else rest).append(weights)
    adamw = torch.optim.AdamW(rest, lr=rate)
    if not matrices:
        return [adamw]
    return [adamw, torch.optim.Muon(matrices, lr=rate, weight_decay=0.01, adjust_lr_fn="match_rms_adamw")]


def train(rank, how, text, tests, method, seed, rate):
    """The loss of the text `tests` in the end, and the bytes that were sent."""
    torch.manual_seed(seed)
    model = Model(how.width, how.context)
    reducers, evaluating = [], contextlib.nullcontext
    if method.rounds:
        over, every = laconic.torch.comm_of(engine="tcp"), method.every or how.every
        options = {"every": every, "outer": method.outer, "seed": seed}
        rounds = laconic.torch.LocalRounds(model.parameters(), method.reduction, over, **options)
        reducers, evaluating = [rounds.reducer], rounds.agreed
        if method.states:
            mean = laconic.Reducer(method.reduction, over, rounds.x, seed=seed)
            reducers.append(mean)
    elif method.reduction:
        model = DistributedDataParallel(model, gradient_as_bucket_view=True)
        reducers = [laconic.torch.register(model, method.reduction, engine="tcp", seed=seed).reducer]
    inner = optimizers(model, rate, method.muon)
    schedules = [OneCycleLR(each, rate, how.steps, pct_start=0.1, cycle_momentum=False) for each in inner]
    window = torch.arange(how.context + 1)
    draws = torch.Generator().manual_seed(seed * how.ranks + rank)
    for step in range(1, how.steps + 1):
        first = torch.randint(len(text) - len(window), (how.batch, 1), generator=draws)
        model.zero_grad()
        loss_of(model, text[first + window].long()).backward()
        for each in inner + schedules:
            each.step()
        if method.rounds:
            rounds.step()
        for state, times in zip(("exp_avg", "exp_avg_sq"), method.states):  # Adam's m and v
            if step % (times * every) == 0:
                mean({name: inner[0].state[p][state].numpy() for name, p in zip(rounds.x, model.parameters())})
    tests = tests[: len(tests) // len(window) * len(window)].view(-1, len(window))
    tests = tests[:: max(1, len(tests) // how.windows)][: how.windows][rank :: how.ranks].long()
    with evaluating(), torch.no_grad():
        loss = loss_of(model, tests)
    dist.all_reduce(loss)
    return loss.item() / how.ranks, sum(reducer.statistics.bytes_on_link for reducer in reducers)


def rates(method, how, found):
    if method.like:
        return [best(LIKE[method.like], how, found)]
    return RATES_OF_MUON if method.muon else RATES


def best(method, how, found):
    """The rate with the lowest loss."""
    return min(rates(method, how, found), key=lambda rate: found[method.name, 0, rate, how.steps])


def work(rank, meet, how, found):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meet, rank=rank, world_size=how.ranks)
    with open(how.text, "rb") as file:
        text = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
    part = len(text) // 20
    train_on, validation = text[: -2 * part], text[-2 * part : -part]

    def run(method, seed, rate):
        key = method.name, seed, rate, how.steps
        if key not in found:
            found[key] = train(rank, how, train_on, validation, method, seed, rate)
            if rank == 0:
                with open(os.path.join(how.out, "runs.csv"), "a") as file:
                    csv.writer(file).writerow([*key, *found[key]])

    for method in METHODS:
        for rate in rates(method, how, found):
            run(method, 0, rate)
    for seed in range(1, how.seeds):
        for method in METHODS:
            run(method, seed, best(method, how, found))
    dist.destroy_process_group()


def read(how):
    """The loss and the bytes of each run, by method, seed, rate and steps."""
    with open(os.path.join(how.out, "runs.csv")) as file:
        return {
            (name, int(seed), float(rate), int(steps)): (float(loss), int(sent))
            for name, seed, rate, steps, loss, sent in csv.reader(file)
        }


def draw(rows, file):
    script = ["set terminal svg size 960,660 dynamic background rgb 'white' font 'sans,12'", f"set output '{file}'",
              "set logscale x", "set format x '10^{%T}'", "set grid", "set key outside right spacing 1.1 noenhanced",
              "set xlabel 'bytes on the link'", "set ylabel 'loss, nats a byte'", "set offsets 0, 0, 0.05, 0.02"]  # fmt: skip
    plots = []
    for i, (name, sent, loss) in enumerate(rows):
        script += [f"$d{i} << END", f"{sent} {loss}", "END"]
        style = f"with points pointtype {4 + i} pointsize 1.2 linewidth 2" if sent else "with lines dashtype 2"
        plots.append(f"{f'$d{i}' if sent else loss} {style} linecolor {i + 1} title '{name}'")
    subprocess.run(["gnuplot"], input="\n".join([*script, "plot " + ", ".join(plots)]) + "\n", text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("out")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--every", type=int, default=30, help="local steps in a round")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--batch", type=int, default=4, help="windows a rank and step")
    parser.add_argument("--context", type=int, default=64, help="bytes in a window")
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--windows", type=int, default=256, help="of the text that is evaluated")
    how = parser.parse_args()
    os.makedirs(how.out, exist_ok=True)
    open(os.path.join(how.out, "runs.csv"), "a").close()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, (f"file://{folder}/meet", how, read(how)), how.ranks)
    found, rows = read(how), []
    bf16 = found["dense, bf16", 0, best(LIKE["dense, bf16"], how, found), how.steps][1]
    print("| method | reduction | rate | MB on the link | bf16 / it | loss |\n" + "|---" * 6 + "|")
    for m in METHODS:
        rate = best(m, how, found)
        runs = [found[m.name, seed, rate, how.steps] for seed in range(how.seeds)]
        losses, sent = [loss for loss, _ in runs], runs[0][1]
        rows.append((m.name, sent, statistics.mean(losses)))
        text = "`{}`".format(m.reduction.replace("|", "\\|")) if m.reduction else ""
        ratio = f"{bf16 / sent:.1f}" if sent else ""
        each = f" ({min(losses):.3f} to {max(losses):.3f})" if how.seeds > 1 else ""
        print(f"| {m.name} | {text} | {rate:g} | {sent / 1e6:.2f} | {ratio} | {rows[-1][2]:.3f}{each} |")
    if shutil.which("gnuplot"):
        draw(rows, os.path.join(how.out, "language.svg"))


if __name__ == "__main__":
    main()
