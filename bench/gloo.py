#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gloo's all-reduce of dense vectors, as PyTorch has it, on the hosts of bench/cluster: rows for the first table of
bench/collective, whose columns it has, of float32 and of 16-bit floating-point numbers.

    bench/cluster --plain python3 bench/gloo.py [--dimension D] [--seconds S]

Every host brings D numbers (25 million), whole and small, so that the sum is exact; it is looked at. Measures each
type for S seconds (3), and three times at least. Without torch it says so, and that is no failure."""
import argparse
import os
import sys
import time

try:
    import torch
    import torch.distributed as dist
except ImportError as e:
    if os.environ.get("LACONIC_RANK", "0") == "0":
        print(f"gloo.py: skipped, as {sys.executable} has no torch ({e})")
    sys.exit(0)

HEAD = (
    "| collective | MB | on the link | alone | least | / link | empty messages | with selection and sum | least "
    "| MPI / it | 16 bits / it |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


def main():
    parser = argparse.ArgumentParser(description="gloo's all-reduce on hosts of bench/cluster --plain")
    parser.add_argument("--dimension", type=float, default=25e6, help="how many numbers a host's vector has")
    parser.add_argument("--seconds", type=float, default=3, help="how long it is measured, and three times at least")
    asked = parser.parse_args()
    if "LACONIC_RANK" not in os.environ or "LACONIC_HOSTS" not in os.environ:
        sys.exit("gloo.py: LACONIC_RANK and LACONIC_HOSTS are not set: run this with bench/cluster --plain")
    rank, hosts = int(os.environ["LACONIC_RANK"]), os.environ["LACONIC_HOSTS"].split(",")
    link = float(os.environ.get("LACONIC_LINK") or 0)  # bits a second
    n, d = len(hosts), int(asked.dimension)

    os.environ.setdefault("GLOO_SOCKET_IFNAME", "eth0")
    torch.set_num_threads(1)  # all hosts share this machine's cores
    dist.init_process_group("gloo", init_method=f"tcp://{hosts[0]}:29500", rank=rank, world_size=n)

    def slowest(seconds):
        all_of_them = torch.tensor([seconds], dtype=torch.float64)
        dist.all_reduce(all_of_them, op=dist.ReduceOp.MAX)
        return all_of_them.item()

    def measured(dtype):
        """The seconds of each sum, and whether the first one was right."""
        mine = torch.arange(d, dtype=torch.int32).remainder_(100).add_(rank).to(dtype)
        seconds, right = [], True
        x = torch.empty_like(mine)
        for turn in range(201):
            x.copy_(mine)
            dist.barrier()
            start = time.perf_counter()
            dist.all_reduce(x)
            took = slowest(time.perf_counter() - start)
            if turn == 0:  # which gets its memory
                right = torch.equal(x.float(), mine.float().sub(rank).mul_(n).add_(n * (n - 1) / 2).to(dtype).float())
                continue
            seconds.append(took)
            if len(seconds) >= 3 and sum(seconds) >= asked.seconds:
                break
        return seconds, slowest(0 if right else 1) == 0

    def ms(t):
        return f"{1e3 * t:.3g}" if t < 1 else f"{1e3 * t:.0f}"

    if rank == 0:
        print(HEAD)
    all_right = True
    for dtype in (torch.float32, torch.float16):
        seconds, right = measured(dtype)
        all_right = all_right and right
        if rank != 0:
            continue
        # No rank can send or receive less (Patarasuk, Yuan, 2009).
        count = 2 * torch.finfo(dtype).bits // 8 * (n - 1) / n * d
        on_link = 8 * count / link if link else 0
        median, least = sorted(seconds)[len(seconds) // 2], min(seconds)
        fields = [
            f"`gloo, torch {torch.__version__}, {str(dtype).removeprefix('torch.')}`",
            f"{count / 1e6:.4g}",
            ms(on_link) if link else "",
            ms(median),
            ms(least),
            f"{least / on_link:.2f}" if link else "",
            "",
            ms(median),
            ms(least),
            "",
            "",
        ]
        print("| " + " | ".join(fields) + " |" + ("" if right else " WRONG SUM"), flush=True)
    dist.destroy_process_group()
    sys.exit(0 if all_right else 1)


main()
