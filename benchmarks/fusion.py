"""Fused against unfused: ``python benchmarks/fusion.py [--json FILE] [--threads N] [--rows N]``.

Chains of 2, 3, 4, 5 and 7 elementwise operations over a matrix that no cache holds, as one program and as one program
an operation, each of which writes into a buffer that is there already, and as NumPy and torch do them; and the
operations of a library of fused kernels (`operations`), as one program each beside torch, eager. Every
result is checked against NumPy. Times are the least of alternating turns: of a busy machine's turns most are spoilt.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import pykern as pk
from pykern.benchmarking import facts

GOALS = {2: 1.8, 3: 2.1, 4: 2.5, 5: 2.7, 7: 2.9}
"""Unfused over fused, by the number of operations."""


@pk.jit
def add_bias(x, bias):
    return x + bias


@pk.jit
def relu(x):
    return pk.maximum(x, 0.0)


@pk.jit
def scale(x, factor):
    return x * factor


@pk.jit
def add(x, y):
    return x + y


@pk.jit
def cap(x):
    return pk.minimum(x, 6.0)


@pk.jit
def halve(x):
    return x * 0.5


@pk.jit
def shift(x, by):
    return x - by


@pk.jit
def chain2(x, r, b, f, s):
    return relu(add_bias(x, b))


@pk.jit
def chain3(x, r, b, f, s):
    return scale(relu(add_bias(x, b)), f)


@pk.jit
def chain4(x, r, b, f, s):
    return add(scale(relu(add_bias(x, b)), f), r)


@pk.jit
def chain5(x, r, b, f, s):
    return cap(add(scale(relu(add_bias(x, b)), f), r))


@pk.jit
def chain7(x, r, b, f, s):
    return shift(halve(cap(add(scale(relu(add_bias(x, b)), f), r))), s)


FUSED = {2: chain2, 3: chain3, 4: chain4, 5: chain5, 7: chain7}
Step = Callable[..., object]


def steps(r, b, f, s, own: dict[str, Step], out: str) -> list[Step]:
    """The operations one by one, each from an array into another: `own` has them under NumPy's names."""
    return [
        lambda a, c: own["add"](a, b, **{out: c}),
        lambda a, c: own["relu"](a, **{out: c}),
        lambda a, c: own["multiply"](a, f, **{out: c}),
        lambda a, c: own["add"](a, r, **{out: c}),
        lambda a, c: own["cap"](a, **{out: c}),
        lambda a, c: own["halve"](a, **{out: c}),
        lambda a, c: own["subtract"](a, s, **{out: c}),
    ]


def one_by_one(count: int, x, buffers, chain: list[Step]):
    """`count` operations, between two buffers in turn."""
    held = x
    for number, step in enumerate(chain[:count]):
        step(held, buffers[number % 2])
        held = buffers[number % 2]
    return held


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def least(functions: dict[str, Callable[[], object]], turns: int, pause: float) -> dict[str, float]:
    """The least time of each; they take turns. Of one thread it is the processor's time, of several the clock's."""
    clock = time.perf_counter if pause else time.thread_time
    best = dict.fromkeys(functions, math.inf)
    for turn in range(turns + 2):
        for name, function in functions.items():
            if pause:
                time.sleep(pause)
                function()
            started = clock()
            function()
            if turn > 1:
                best[name] = min(best[name], clock() - started)
    return best


def chains(threads: int, rows: int, turns: int) -> Iterator[dict[str, object]]:
    """Each chain: seconds by contender, and unfused over fused, pykern's own."""
    pk.set_num_threads(threads)
    rng = np.random.default_rng(42)
    x, r = (rng.standard_normal((rows, 4096), np.float32) for _ in range(2))
    b, f, s = (rng.standard_normal(4096, np.float32) for _ in range(3))
    out, buffers = np.zeros_like(x), [np.zeros_like(x) for _ in range(2)]
    own = {"add": add, "relu": relu, "multiply": scale, "cap": cap, "halve": halve, "subtract": shift}
    numpys: dict[str, Step] = {
        "add": np.add, "multiply": np.multiply, "subtract": np.subtract,
        "relu": lambda a, out: np.maximum(a, np.float32(0), out=out),
        "cap": lambda a, out: np.minimum(a, np.float32(6), out=out),
        "halve": lambda a, out: np.multiply(a, np.float32(0.5), out=out),
    }  # fmt: skip
    sources: dict[str, tuple[Any, list[Any], list[Step]]] = {
        "unfused": (x, buffers, steps(r, b, f, s, own, "out")),
        "numpy": (x, buffers, steps(r, b, f, s, numpys, "out")),
    }
    if has("torch"):
        import torch

        torch.set_num_threads(threads)
        torches: dict[str, Step] = {
            "add": torch.add, "multiply": torch.mul, "subtract": torch.sub,
            "relu": lambda a, out: torch.clamp(a, min=0.0, out=out),
            "cap": lambda a, out: torch.clamp(a, max=6.0, out=out),
            "halve": lambda a, out: torch.mul(a, 0.5, out=out),
        }  # fmt: skip
        tx, tr, tb, tf, ts = (torch.from_numpy(a) for a in (x, r, b, f, s))
        targets = [torch.from_numpy(a) for a in buffers]
        sources["torch"] = (tx, targets, steps(tr, tb, tf, ts, torches, "out"))
    for count, fused in FUSED.items():
        functions: dict[str, Callable[[], object]] = {
            "fused": lambda fused=fused: fused(x, r, b, f, s, out=out),
            **{
                name: lambda count=count, source=source: one_by_one(count, *source)
                for name, source in sources.items()
            },
        }
        right = np.array(one_by_one(count, *sources["numpy"]))
        for name, function in functions.items():
            np.testing.assert_allclose(np.asarray(function()), right, rtol=1e-6, atol=1e-6, err_msg=name)
        times = least(functions, turns, 0.02 if threads > 1 else 0.0)
        yield {
            "name": f"{count} operations", "threads": threads, "times": times,
            "ratio": times["unfused"] / times["fused"], "goal": GOALS[count],
        }  # fmt: skip


# -- a library's fused operations -----------------------------------------------------------------


@pk.jit
def add_relu(x, y):
    return pk.maximum(x + y, 0.0)


@pk.jit
def mul_tanh(x, y):
    return pk.tanh(x * y)


@pk.jit
def bias_gelu(x, bias):
    z = x + bias
    return 0.5 * z * (1.0 + pk.erf(z * 0.7071067811865476))


@pk.jit
def gelu(x):
    """What is left of gelu and dropout where nothing is dropped."""
    return 0.5 * x * (1.0 + pk.erf(x * 0.7071067811865476))


@pk.jit
def sum_squared(x, axis: pk.static = None):  # pyright: ignore[reportArgumentType]
    return pk.sum(x * x, axis=axis)


@pk.jit
def mean_abs(x, axis: pk.static = None):  # pyright: ignore[reportArgumentType]
    return pk.mean(pk.abs(x), axis=axis)


@pk.jit
def layernorm_relu(x, weight, bias):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return pk.maximum(centred / pk.sqrt(variance + 1e-5) * weight + bias, 0.0)


@pk.jit
def layernorm_gelu(x, weight, bias):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return gelu(centred / pk.sqrt(variance + 1e-5) * weight + bias)


@pk.jit
def attention_score(q, k):
    s = q @ k.transpose(0, 2, 1) * 0.125
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pk.jit
def linear_relu(x, weight, bias):
    return pk.maximum(x @ weight.T + bias, 0.0)


@pk.jit
def batchnorm_relu(x, mean, variance, weight, bias):
    """At evaluation: x [n, channels]."""
    return pk.maximum((x - mean) / pk.sqrt(variance + 1e-5) * weight + bias, 0.0)


def operations(threads: int, turns: int, enlarge: int = 8) -> Iterator[dict[str, object]]:
    """Each beside torch, eager, in sizes `enlarge` times those of the library's tests in both directions."""
    if not has("torch"):
        return
    import torch
    import torch.nn.functional as F  # noqa: N812 - everybody's name for it

    torch.set_num_threads(threads)
    pk.set_num_threads(threads)
    rng = np.random.default_rng(42)

    def array(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32)

    m = enlarge
    one: Any = 1  # an axis, which programs take as pk.static
    wide, row = (128 * m, 64 * m), 64 * m
    cases: dict[str, tuple[Callable, Callable, tuple]] = {
        "add_relu": (add_relu, lambda x, y: torch.relu(x + y), (array(*wide), array(*wide))),
        "mul_tanh": (mul_tanh, lambda x, y: torch.tanh(x * y), (array(*wide), array(*wide))),
        "bias_gelu": (bias_gelu, lambda x, b: F.gelu(x + b), (array(*wide), array(row))),
        "sum_squared": (lambda x: sum_squared(x, one), lambda x: (x * x).sum(1), (array(*wide),)),
        "mean_abs": (lambda x: mean_abs(x, one), lambda x: x.abs().mean(1), (array(*wide),)),
        "layernorm_relu": (
            layernorm_relu,
            lambda x, w, b: torch.relu(F.layer_norm(x, (x.shape[-1],), w, b)),
            (array(*wide), array(row), array(row)),
        ),
        "layernorm_gelu": (
            layernorm_gelu,
            lambda x, w, b: F.gelu(F.layer_norm(x, (x.shape[-1],), w, b)),
            (array(*wide), array(row), array(row)),
        ),
        "attention_score": (
            attention_score,
            lambda q, k: torch.softmax(q @ k.transpose(1, 2) * 0.125, -1),
            (array(4, 64 * m, 64), array(4, 64 * m, 64)),
        ),
        "linear_relu": (
            linear_relu,
            lambda x, w, b: torch.relu(F.linear(x, w, b)),
            (array(32 * m, 64 * m), array(64 * m, 64 * m), array(64 * m)),
        ),
        "batchnorm_relu": (
            batchnorm_relu,
            lambda x, mean, var, w, b: torch.relu(F.batch_norm(x, mean, var, w, b)),
            (array(*wide), array(row), array(row) ** 2, array(row), array(row)),
        ),
    }
    for name, (mine, theirs, arguments) in cases.items():
        tensors = [torch.from_numpy(a) for a in arguments]
        np.testing.assert_allclose(
            mine(*arguments), theirs(*tensors).numpy(), rtol=1e-4, atol=1e-4, err_msg=name
        )
        functions = {"fused": lambda: mine(*arguments), "torch": lambda: theirs(*tensors)}  # noqa: B023
        times = least(functions, turns, 0.02 if threads > 1 else 0.0)
        yield {
            "name": name, "threads": threads, "times": times, "ratio": times["torch"] / times["fused"], "goal": 1.0,
        }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--rows", type=int, default=4096, help="of 4096 f32 each")
    parser.add_argument("--turns", type=int, default=15)
    chosen = parser.parse_args()
    rows = []
    for threads in chosen.threads:
        for row in (*chains(threads, chosen.rows, chosen.turns), *operations(threads, chosen.turns)):
            rows.append(row)
            times = "  ".join(f"{name} {1e3 * t:.3g}" for name, t in row["times"].items())  # type: ignore[attr-defined]
            print(
                f"{row['name']:16} {threads} thread(s)  {times} ms  {row['ratio']:.2f}x, goal {row['goal']}",
                flush=True,
            )
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump({"cpu": facts.cpu_name(), **facts.versions(), "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
