"""What calls of operators of PyTorch cost, over 64 elements: ``python benchmarks/torch_ops.py [--turns N]``.

A launch on three tensors, the operator of the same kernel by itself, with a gradient, and inside of a compiled graph (a
chain of 21 against one of one), beside ``torch.add``. Contenders take turns, and the least of all turns counts: times
of a busy machine are too long, all by about as much.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch

import pykern as pk
import pykern.torch as pkt

CALLS, CHAIN = 20, 20
"""Few calls a turn: of a busy machine, some turns are undisturbed."""


@pk.kernel
def axpy(o, x, y, a):
    i = pk.index()
    o[i] = a * x[i] + y[i]


saxpy = pkt.op(axpy, out={"o": pkt.like("x")}, ndrange=lambda x, y, a: x.shape)
axpy_ = pkt.op(axpy)


def contenders() -> dict[str, Callable[[], object]]:
    x, y, o = torch.randn(64), torch.randn(64), torch.empty(64)
    wanting, overload = x.clone().requires_grad_(), saxpy.variant("TTN").overload

    def chain(length: int) -> Callable[[], object]:
        def calls(x, y):
            for _ in range(length):
                x = saxpy(x, y, 0.5)
            return x

        compiled = torch.compile(calls, fullgraph=True)
        return lambda: compiled(x, y)

    return {
        "launch on three tensors": lambda: axpy(o, x, y, 2.0, ndrange=64),
        "operator in place": lambda: axpy_(o, x, y, 2.0, ndrange=64),
        "operator": lambda: saxpy(x, y, 2.0),
        "operator, by torch.ops": lambda: overload(x, y, 2.0),
        "operator, with a gradient to come": lambda: saxpy(wanting, y, 2.0),
        "operator and its gradient": lambda: torch.autograd.grad(saxpy(wanting, y, 2.0), wanting, y),
        "compiled graph of 1": chain(1),
        f"compiled graph of {CHAIN + 1}": chain(CHAIN + 1),
        "torch.add(x, y, out=o)": lambda: torch.add(x, y, out=o),
        "torch.add(x, y)": lambda: torch.add(x, y),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=1000)
    turns = parser.parse_args().turns
    torch.set_num_threads(1)
    calls = contenders()
    best = dict.fromkeys(calls, float("inf"))
    for call in calls.values():  # compiled, and their entries there
        until = time.perf_counter() + 1.5
        while time.perf_counter() < until:
            call()
    for _ in range(turns):
        for name, call in calls.items():
            started = time.perf_counter()
            for _ in range(CALLS):
                call()
            best[name] = min(best[name], (time.perf_counter() - started) / CALLS * 1e6)
    for name, us in best.items():
        print(f"{name:36} {us:8.2f} us")
    inside = (best[f"compiled graph of {CHAIN + 1}"] - best["compiled graph of 1"]) / CHAIN
    print(f"{'each operator inside of a graph':36} {inside:8.2f} us")


if __name__ == "__main__":
    main()
