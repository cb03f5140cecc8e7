# SPDX-License-Identifier: Apache-2.0
"""bench/language.py trains with every method of its list, and what it says of bytes and losses can be true."""

import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
small = "--ranks 3 --steps 16 --every 4 --seeds 1 --batch 4 --context 16 --width 32 --windows 64".split()


def main():
    missing = [name for name in ("numpy", "torch") if not importlib.util.find_spec(name)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        sys.exit(77)
    if not hasattr(importlib.import_module("torch").optim, "Muon"):
        print("skipped: this PyTorch has no Muon")
        sys.exit(77)
    text = os.path.join(here, "../../docs/reducer.md")
    with tempfile.TemporaryDirectory() as folder:
        run = [sys.executable, os.path.join(here, "../../bench/language.py"), text, folder, *small]
        ran = subprocess.run(run, capture_output=True, text=True, timeout=400)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        print(ran.stdout)
    rows = [[cell.strip() for cell in row.replace("\\|", "").split("|")[1:-1]] for row in ran.stdout.splitlines()[2:]]
    loss = {name: float(mean) for name, _, _, _, _, mean in rows}
    ratio = {name: float(of_bf16) for name, _, _, _, of_bf16, _ in rows if of_bf16}
    assert len(rows) == 25, rows
    assert all(1 < mean < 5.5 for mean in loss.values()), loss  # ln 256 = 5.55 knows nothing
    assert abs(loss["dense"] - loss["dense, bf16"]) < 0.05, loss
    assert loss["dense"] < loss["alone"] and loss["dense"] < loss["top 1 %, 4 bits"], loss
    assert "alone" not in ratio and ratio["dense"] == 0.5, ratio
    assert 3 < ratio["two-shot, 4 bits"] < 4 and ratio["local SGD"] == 2, ratio
    assert 50 < ratio["top 1 %, 4 bits"] < 90, ratio  # each message goes to two ranks
    # Of 16 steps every fifth averages x and, with DES-LOC, every fifteenth Adam's m and every thirtieth v.
    assert [ratio[f"{name}, 5 steps"] for name in ("local SGD", "DES-LOC", "local Adam")] == [2.7, 2.0, 0.9], ratio
    assert ratio["Muon on each rank"] == 0.5 and ratio["MuLoCo"] == 2, ratio
    assert max(ratio, key=ratio.get) == "SparseLoCo", ratio
    print("ok")


if __name__ == "__main__":
    main()
