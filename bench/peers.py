#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What quantizers cost and lose: this library's beside pi-quant's, fbgemm's and torch's, in one run on one thread; prints
a table in Markdown.

    pip install ./python torch fbgemm-gpu-cpu pypiquant cffi; bench/peers.py

fbgemm-gpu-cpu needs the torch that it was built for. The rows of a peer that cannot be imported are left out.

Times are of d numbers, Gaussian, from the numbers to packed bytes, and from these to numbers: medians of turns, in each of
which every method runs once. The error is |x - x'|^2 / |x|^2 of what is decoded: of Gaussian numbers, of lognormal ones
with random signs, and of a gradient of a perceptron on Fashion-MNIST, where that lies in --data."""

import argparse
import ctypes
import gzip
import os
import statistics
import time

import numpy as np
import torch

import laconic
from laconic import _c

torch.set_num_threads(1)
# Memory of one call serves the next one, as in a training loop: else the system clears new pages in each.
for what, size in ((-4, 0), (-1, 1 << 30)):  # M_MMAP_MAX, M_TRIM_THRESHOLD of glibc
    ctypes.CDLL(None).mallopt(what, size)


class Ours:
    def __init__(self, text, at_random):
        self.text, self.at_random, self.name = text, at_random, f"`{text}`"

    def encode(self, x):
        return _c.made("encode", self.text.encode(), x.ctypes.data, x.size, 0, 1, 2)

    def decode(self, bytes_, x):
        data = ctypes.cast(_c.library.laconic_bytes_data(bytes_), ctypes.c_char_p)
        _c.call("decode", self.text.encode(), data, self.size(bytes_), x.ctypes.data, x.size, 0, 1, 2)
        return x

    def size(self, bytes_):
        return _c.library.laconic_bytes_size(bytes_)

    def free(self, bytes_):
        _c.library.laconic_bytes_free(bytes_)


class Peer:
    def free(self, _):
        pass

    def size(self, made):
        return sum(part.nbytes if hasattr(part, "nbytes") else 8 for part in made)


class PiQuant(Peer):
    def __init__(self, bits, rounding):
        import piquant

        self.of, self.context = piquant, piquant.Context(1)
        self.bits, self.to = bits, getattr(piquant.DataType, f"UINT{bits}")
        self.rounding = getattr(piquant.RoundMode, rounding.upper())
        self.at_random = rounding == "stochastic"
        self.name = f"pi-quant, {bits} bits, {rounding}"

    def encode(self, x):
        made = np.empty(x.size * self.bits // 8, np.uint8)
        scale, zero = self.context.compute_quant_params_ptr_float32(x.ctypes.data, self.to, x.size)
        numbers = self.of.DataType.F32
        self.context.quantize_ptr(x.ctypes.data, numbers, made.ctypes.data, self.to, x.size, scale, zero, self.rounding)
        return made, scale, zero

    def decode(self, made, x):
        codes, scale, zero = made
        to, put = self.of.DataType.F32, self.of.ReduceOp.SET
        self.context.dequantize_ptr(codes.ctypes.data, self.to, x.ctypes.data, to, x.size, scale, zero, put)
        return x


class Fbgemm(Peer):
    at_random = False

    def __init__(self, bits, row):
        import fbgemm_gpu  # noqa: F401, which registers the operators

        self.bits, self.row, self.name = bits, row, f"fbgemm, {bits} bits, rows of {row}"

    def encode(self, x):
        rows, of = torch.from_numpy(x).view(-1, self.row), torch.ops.fbgemm
        if self.bits == 8:
            return (of.FloatToFused8BitRowwiseQuantized(rows),)
        return (of.FloatToFusedNBitRowwiseQuantizedSBHalf(rows, self.bits),)

    def decode(self, made, _):
        of = torch.ops.fbgemm
        if self.bits == 8:
            return of.Fused8BitRowwiseQuantizedToFloat(*made).view(-1).numpy()
        return of.FusedNBitRowwiseQuantizedSBHalfToFloat(*made, self.bits).view(-1).numpy()


class Torch(Peer):
    at_random = False

    def __init__(self, to):
        self.to, self.name = to, f"torch, to {str(to).split('.')[1]}"

    def encode(self, x):
        return (torch.from_numpy(x).to(self.to),)

    def decode(self, made, x):
        return torch.from_numpy(x).copy_(made[0]).numpy()


def methods():
    for bits, levels in ((2, 1), (4, 7), (8, 127)):
        yield Ours(f"quantize({levels}, bucket=128)", True)
        for rounding in ("random", "nearest"):
            for bucket in (128, 0):
                yield Ours(f"uniform({bits}, bucket={bucket}, rounding={rounding})", rounding == "random")
        for peer, options in ((PiQuant, (bits, "stochastic")), (PiQuant, (bits, "nearest")), (Fbgemm, (bits, 128))):
            try:
                yield peer(*options)
            except (ImportError, OSError):
                pass
    for block in ("mxfp8_e4m3", "mxfp6_e2m3", "mxfp4", "nvfp4", "int8, block=128", "int4, block=128"):
        yield Ours(f"block_float({block})", False)
        yield Ours(f"block_float({block}, rounding=random)", True)
    yield Ours("two_means(bucket=128)", False)
    yield Ours("natural", True)
    for ours, theirs in (("fp16", torch.float16), ("bf16", torch.bfloat16), ("float8_e4m3", None)):
        yield Ours(ours, False)
        yield Ours(f"{ours}(random=yes)", True)
        if theirs:
            yield Torch(theirs)


def gradient(folder):
    """Of a perceptron on Fashion-MNIST after 200 steps: 669,706 numbers; None where the data are not there."""

    def read(name, offset):
        with gzip.open(os.path.join(folder, name)) as file:
            return torch.from_numpy(np.frombuffer(file.read(), np.uint8, offset=offset).copy())

    try:
        images = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 784).float() / 255 - 0.3
        labels = read("train-labels-idx1-ubyte.gz", 8).long()
    except OSError:
        return None
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(201):
        optimizer.zero_grad()
        mine = slice(128 * step, 128 * (step + 1))
        torch.nn.functional.cross_entropy(model(images[mine]), labels[mine]).backward()
        if step < 200:
            optimizer.step()
    return torch.cat([p.grad.view(-1) for p in model.parameters()]).numpy()


def error(method, x):
    x = x[: len(x) // 128 * 128]  # whole rows
    made = method.encode(x)
    y = method.decode(made, np.empty_like(x))
    method.free(made)
    return float(np.sum((x.astype(float) - y) ** 2) / np.sum(x.astype(float) ** 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log2-d", type=int, default=24)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="a folder with the IDX files")
    how = parser.parse_args()
    draw = np.random.default_rng(1)
    x = draw.standard_normal(1 << how.log2_d, np.float32)
    y, all_of_them = np.empty_like(x), list(methods())
    times = [([], []) for _ in all_of_them]
    sizes = []
    for turn in range(how.turns + 1):  # the first one warms up
        for method, (to, back) in zip(all_of_them, times):
            start = time.perf_counter()
            made = method.encode(x)
            middle = time.perf_counter()
            method.decode(made, y)
            end = time.perf_counter()
            if turn == 0:
                sizes.append(8 * method.size(made) / x.size)
            else:
                to.append(middle - start), back.append(end - middle)
            method.free(made)
            del made
    few = 1 << 20
    lognormal = np.exp(draw.standard_normal(few)) * draw.choice([-1, 1], few)
    samples = [x[:few], lognormal.astype(np.float32), gradient(how.data)]
    print("| method | bits a number | ms to bytes | ms from bytes | rounds | error, Gaussian | lognormal | gradient |")
    print("|---|---|---|---|---|---|---|---|")
    for method, (to, back), bits in zip(all_of_them, times, sizes):
        errors = " | ".join("" if s is None else f"{error(method, s):.2g}" for s in samples)
        ms = " | ".join(f"{1e3 * statistics.median(t):.2f}" for t in (to, back))
        print(f"| {method.name} | {bits:.2f} | {ms} | {'at random' if method.at_random else 'to nearest'} | {errors} |")


if __name__ == "__main__":
    main()
