"""The CPU beside its peers: ``python benchmarks/cpu.py [--json FILE]``.

Peers that are not installed are left out and named. Times are medians of alternating runs in one
process, arrays warm (outputs too: nobody allocates, except the lines that say so), every
contender's result checked against NumPy. saxpy and heat are without fastmath, softmax and layernorm
with it: their sums may be reordered, as those of torch are.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import platform
import subprocess
import sys
import timeit
from collections.abc import Callable, Iterator

import numpy as np
import workloads
from measure import alternating

import pykern as pk

Row = dict[str, object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    chosen = parser.parse_args()
    rows: list[Row] = []
    for row in (*launch(), *(r for threads in (1, 2) for r in arrays(threads))):
        rows.append(row)
        peers = "  ".join(f"{n} {t * row['unit']:.3g}" for n, t in row["times"].items())  # type: ignore[attr-defined, operator]
        print(
            f"{row['name']:34} {row['threads']} thread(s)  {peers}  {row['label']}  best peer / pykern {ratio(row):.2f}"
        )
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump({"machine": machine(), "rows": rows}, file, indent=1)


def ratio(row: Row) -> float:
    """Time of the fastest peer over pykern's: above 1 pykern is faster."""
    times: dict[str, float] = row["times"]  # type: ignore[assignment]
    return min(t for n, t in times.items() if n != "pykern") / times["pykern"]


def launch() -> Iterator[Row]:
    """A call of a kernel with three arrays of 64 elements, without work to speak of."""
    x, y, z = (np.ones(64, np.float32) for _ in range(3))
    calls = {"pykern": "saxpy(z, x, y, 2.0, ndrange=64)", "numpy.add": "np.add(x, y, out=z)"}
    names = {"saxpy": workloads.saxpy, "np": np, "x": x, "y": y, "z": z}
    if has("numba"):
        import numba_peers

        names["jitted"] = numba_peers.jitted(numba_peers.saxpy, 1)
        names["a"] = np.float32(2)
        calls["numba"] = "jitted(z, x, y, a)"
    timers = {name: timeit.Timer(call, globals=names) for name, call in calls.items()}
    functions = {name: (lambda t=t: t.timeit(20_000)) for name, t in timers.items()}
    times = {name: taken / 20_000 for name, taken in alternating(functions, 9, 0).items()}
    yield {"name": "launch, 3 arrays", "threads": 1, "times": times, "unit": 1e6, "label": "us"}


def arrays(threads: int) -> Iterator[Row]:
    pk.set_num_threads(threads)
    rng = np.random.default_rng(0)
    yield _row("saxpy 2^24 f32", threads, _saxpy(rng, threads))
    yield _row("heat 4096^2 f32, 5 points", threads, _heat(rng, threads))
    yield _row("softmax 4096x1024 f32, fastmath", threads, _softmax(rng, threads))
    yield _row("layernorm 4096x1024 f32, fastmath", threads, _layernorm(rng, threads))


def _row(name: str, threads: int, functions: dict[str, Callable[[], object]]) -> Row:
    pause = 0.25 if threads > 1 else 0.0
    times = alternating(functions, 11, pause=pause)
    return {
        "name": name,
        "threads": threads,
        "times": times,
        "unit": 1e3,
        "label": "ms",
        "load": os.getloadavg()[0],
    }


def _check(
    functions: dict[str, Callable[[], object]],
    outputs: dict[str, np.ndarray],
    expected: np.ndarray,
    tolerance: float,
) -> None:
    """Every contender writes what NumPy says; outputs are spoilt first."""
    for name, output in outputs.items():
        output[1:-1] = np.nan
        functions[name]()
        np.testing.assert_allclose(output, expected, rtol=tolerance, atol=tolerance, err_msg=name)


def _saxpy(rng: np.random.Generator, threads: int) -> dict[str, Callable[[], object]]:
    n = 1 << 24
    x, y = rng.random(n, np.float32), rng.random(n, np.float32)
    a = np.float32(2.5)
    outputs = {"pykern": np.zeros(n, np.float32), "numpy": np.zeros(n, np.float32)}
    functions: dict[str, Callable[[], object]] = {
        "pykern": lambda: workloads.saxpy(outputs["pykern"], x, y, 2.5, ndrange=n),
        "numpy": lambda: np.add(np.multiply(a, x, out=outputs["numpy"]), y, out=outputs["numpy"]),
    }
    _add_numba(functions, outputs, "saxpy", threads, lambda jitted, out: jitted(out, x, y, a))
    if has("torch"):
        import torch

        outputs["torch"] = np.zeros_like(x)
        tx, ty, tz = _torch(threads, x, y, outputs["torch"])
        functions["torch"] = lambda: torch.add(ty, tx, alpha=2.5, out=tz)
    _check(functions, outputs, a * x + y, 1e-6)
    return functions


def _heat(rng: np.random.Generator, threads: int) -> dict[str, Callable[[], object]]:
    old = rng.random((4096, 4096), np.float32)
    outputs = {"pykern": np.zeros_like(old)}
    functions: dict[str, Callable[[], object]] = {
        "pykern": lambda: workloads.heat(outputs["pykern"], old, 0.1, ndrange=old.shape),
        "numpy, allocates": lambda: workloads.numpy_heat(old, 0.1),
    }
    _add_numba(functions, outputs, "heat", threads, lambda jitted, out: jitted(out, old, np.float32(0.1)))
    inner = {name: output[1:-1, 1:-1] for name, output in outputs.items()}
    _check(functions, inner, workloads.numpy_heat(old, 0.1)[1:-1, 1:-1], 1e-5)
    return functions


def _softmax(rng: np.random.Generator, threads: int) -> dict[str, Callable[[], object]]:
    x = rng.standard_normal((4096, 1024), np.float32)
    outputs = {"pykern": np.zeros_like(x)}
    functions: dict[str, Callable[[], object]] = {
        "pykern": lambda: workloads.softmax(outputs["pykern"], x, ndrange=len(x)),
        "numpy, allocates": lambda: workloads.numpy_softmax(x),
    }
    if has("torch"):
        import torch

        outputs["torch"] = np.zeros_like(x)
        tx, ty = _torch(threads, x, outputs["torch"])
        functions["torch"] = lambda: torch.softmax(tx, -1, out=ty)
    _check(functions, outputs, workloads.numpy_softmax(x), 1e-5)
    return functions


def _layernorm(rng: np.random.Generator, threads: int) -> dict[str, Callable[[], object]]:
    x = rng.standard_normal((4096, 1024), np.float32)
    weight, bias = rng.random(1024, np.float32), rng.random(1024, np.float32)
    outputs = {"pykern": np.zeros_like(x)}
    functions: dict[str, Callable[[], object]] = {
        "pykern": lambda: workloads.layernorm(outputs["pykern"], x, weight, bias, 1e-5, ndrange=len(x)),
        "numpy, allocates": lambda: workloads.numpy_layernorm(x, weight, bias, 1e-5),
    }
    if has("torch"):
        import torch

        outputs["torch"] = np.zeros_like(x)
        tx, tw, tb, ty = _torch(threads, x, weight, bias, outputs["torch"])
        mean, rstd = torch.zeros(4096, 1), torch.zeros(4096, 1)
        write = torch.ops.aten.native_layer_norm.out
        functions["torch"] = lambda: write(tx, [1024], tw, tb, 1e-5, out0=ty, out1=mean, out2=rstd)
        functions["torch, allocates"] = lambda: torch.nn.functional.layer_norm(tx, (1024,), tw, tb, 1e-5)
    _check(functions, outputs, workloads.numpy_layernorm(x, weight, bias, 1e-5), 1e-4)
    return functions


def _add_numba(
    functions: dict[str, Callable[[], object]],
    outputs: dict[str, np.ndarray],
    kernel: str,
    threads: int,
    call: Callable,
) -> None:
    """Numba with and without fastmath, where it is installed."""
    if not has("numba"):
        return
    import numba_peers

    for name, fastmath in (("numba", False), ("numba fastmath", True)):
        jitted = numba_peers.jitted(getattr(numba_peers, kernel), threads, fastmath)
        out = outputs[name] = np.zeros_like(outputs["pykern"])
        functions[name] = lambda jitted=jitted, out=out: call(jitted, out)


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _torch(threads: int, *arrays: np.ndarray):
    import torch

    torch.set_num_threads(threads)
    return [torch.from_numpy(a) for a in arrays]


def machine() -> dict[str, str]:
    versions = {}
    for name in ("numpy", "numba", "torch"):
        if has(name):
            versions[name] = __import__(name).__version__
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    cpu = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            cpu = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), cpu)
    return {
        "date": datetime.date.today().isoformat(), "cpu": cpu, "cores": str(os.cpu_count()),
        "python": sys.version.split()[0], "pykern": pk.__version__, "commit": commit, **versions,
    }  # fmt: skip


if __name__ == "__main__":
    main()
