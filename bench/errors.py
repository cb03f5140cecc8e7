#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each compressor loses for its bits, beside EDEN as its papers have it, written here with numpy, and beside its authors'
code; prints a table in Markdown.

    git clone https://github.com/amitport/EDEN-Distributed-Mean-Estimation EDEN
    pip install ./python torch; bench/errors.py --eden EDEN

The error is |x - x'|^2 / |x|^2 of what is decoded (the papers' vNMSE), the mean of --turns keys: of 2^20 Gaussian
numbers, of lognormal ones with random signs, and of the first 2^19 numbers of a gradient of a perceptron on
Fashion-MNIST, where that lies in --data. No code of R bits a number loses less than 4^-R of Gaussian numbers (Shannon): the column `over 4^-bits` is the
error by that. `mean of 8` is the error of the mean of eight ranks that have the same Gaussian numbers, each with a key of
its own: an eighth of the error where that is unbiased and independent."""

import argparse
import ctypes
import pathlib
import sys

import numpy as np

from laconic import _c
from peers import Ours, gradient

# Of the normal distribution; above 0 (https://github.com/amitport/EDEN-Distributed-Mean-Estimation).
CENTROIDS = {
    1: [0.7978845608028654],
    2: [0.4527800398860679, 1.5104176087114887],
    3: [0.24509416307340598, 0.7560052489539643, 1.3439092613750225, 2.151945669890335],
}


class Compressor(Ours):
    def __init__(self, text):
        super().__init__(text, None)

    def sent(self, x, seed):
        made = _c.made("encode", self.text.encode(), x.ctypes.data, x.size, 0, seed, 2)
        size, y = self.size(made), np.empty_like(x)
        data = ctypes.cast(_c.library.laconic_bytes_data(made), ctypes.c_char_p)
        _c.call("decode", self.text.encode(), data, size, y.ctypes.data, y.size, 0, seed, 2)
        self.free(made)
        return 8 * size, y


class Eden:
    """EDEN (Vargaftik et al., ICML 2022), with one bit DRIVE (NeurIPS 2021): one rotation and one scale for the vector."""

    def __init__(self, bits, scale):
        self.bits, self.scale, self.name = bits, scale, f"EDEN by its papers, {bits} bits, {scale}"

    def sent(self, x, seed):
        def hadamard(y):
            h = 1
            while h < len(y):
                y = y.reshape(-1, 2, h)
                y, h = np.concatenate([y[:, :1] + y[:, 1:], y[:, :1] - y[:, 1:]], 1).ravel(), 2 * h
            return y / np.sqrt(len(y))

        above = np.array(CENTROIDS[self.bits])
        table = np.concatenate([-above[::-1], above])
        padded = np.zeros(1 << (len(x) - 1).bit_length())
        padded[: len(x)] = x
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], len(padded))
        y = hadamard(signs * padded)
        bounds = (table[1:] + table[:-1]) / 2
        z = table[np.searchsorted(bounds, y * np.sqrt(len(y)) / np.linalg.norm(y), "right")]
        scale = {"unbiased": y @ y / (z @ y), "least_square": z @ y / (z @ z)}[self.scale]
        return self.bits * len(y) + 32, (signs * hadamard(scale * z))[: len(x)]


class Published:
    """EDEN by its authors' code in PyTorch, with the unbiased scale, in a clone of their repository."""

    def __init__(self, bits, folder):
        sys.path[:] = [str(pathlib.Path(folder) / "torch")] + sys.path
        import torch
        from eden import eden_builder

        self.bits, self.name, self.vector = bits, f"EDEN by its authors' code, {bits} bits", torch.from_numpy
        self.pipeline = eden_builder(bits)

    def sent(self, x, seed):  # the code draws its own seeds
        codes, context = self.pipeline.forward(self.vector(x))
        return self.bits * codes.numel() + 32, self.pipeline.backward(codes, context)[0].numpy()


def methods(eden):
    def several(text):
        return map(Compressor, text.split("; "))

    for bits in (1, 2, 3):
        if eden:
            yield Published(bits, eden)
        for scale in ("least_square", "unbiased"):
            yield Eden(bits, scale)
            yield Compressor(f"hadamard | centroids({bits}, bucket=4096, scale={scale})")
        yield Compressor(f"centroids({bits}, bucket=128)")
        yield Compressor(f"bin_means({bits}, bucket=512, by_sign=yes)")
        yield Compressor(f"uniform({bits}, bucket=128, rounding=nearest)")
        yield Compressor(f"uniform({bits}, bucket=128)")
        yield Compressor(f"hadamard | uniform({bits}, bucket=128)")
        if bits == 1:
            yield from several("scaled_sign(bucket=128); two_means(bucket=128); top_k(0.05) | scaled_sign")
        if bits == 2:
            yield from several("quantize(1, bucket=128, p=inf); top_k(0.05)")
    yield from several("hadamard | centroids(4, bucket=4096); hadamard | centroids(4, bucket=4096, scale=unbiased)")
    yield from several("quantize(7, bucket=128); uniform(4, bucket=128); hadamard | uniform(4, bucket=128)")
    yield from several("block_float(mxfp4); block_float(nvfp4); block_float(int4, block=128); rand_k(0.125)")
    yield from several("natural_dithering(7, bucket=128); block_float(mxfp6_e2m3); block_float(mxfp8_e4m3)")
    yield from several("uniform(8, bucket=128); hadamard | uniform(8, bucket=128); quantize(127, bucket=128)")
    yield from several("natural; float8_e4m3; top_k(0.25); bf16; fp16")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="a folder with the IDX files")
    parser.add_argument("--eden", metavar="FOLDER", help="a clone of EDEN's repository, for rows by its authors' code")
    how = parser.parse_args()
    draw, d = np.random.default_rng(1), 1 << 20
    gaussian = draw.standard_normal(d, np.float32)
    lognormal = (np.exp(draw.standard_normal(d)) * draw.choice([-1, 1], d)).astype(np.float32)
    samples, found = [gaussian, lognormal], gradient(how.data)
    if found is not None:
        samples.append(found[: 1 << 19])  # which EDEN needs not pad

    def loss(x, y):
        return float(np.sum((x.astype(float) - y) ** 2) / np.sum(x.astype(float) ** 2))

    rows = []
    for method in methods(how.eden):
        errors = []
        for x in samples:
            errors.append(np.mean([loss(x, method.sent(x, seed)[1]) for seed in range(how.turns)]))
        all_of_them = [method.sent(gaussian, 100 + rank) for rank in range(8)]
        bits = all_of_them[0][0] / d
        of_mean = loss(gaussian, np.mean([y for _, y in all_of_them], 0))
        rows.append((bits, method.name, errors, of_mean))
    print("| compressor | bits a number | Gaussian | over 4^-bits | mean of 8 | lognormal | gradient |")
    print("|---|---|---|---|---|---|---|")
    for bits, name, errors, of_mean in sorted(rows, key=lambda row: row[0]):
        others = " | ".join(f"{e:.3g}" for e in errors[1:])
        print(f"| {name.replace('|', chr(92) + '|')} | {bits:.2f} | {errors[0]:.3g} | {errors[0] * 4**bits:.3g} | {of_mean:.3g} | {others} |")


if __name__ == "__main__":
    main()
