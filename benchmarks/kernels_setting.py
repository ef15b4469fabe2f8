"""How a workload of kernels is declared: a kernel, its arrays in the order of its parameters, what is compared.

Comes in: a kernel and how it is called. Goes out: `Workload`, and `results`, which makes contenders of pykern's and of
its peers. Read next: `kernels_workloads`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pykern.benchmarking.workload import Arrays, Case, Contender, Workload


@dataclass(frozen=True)
class Setting:
    """How the functions of a workload are called: its arrays, then `numbers`.

    `written`: names of the arrays with results. They are restored before each turn where they also are inputs. The
    part `shown` of each is compared.
    """

    written: tuple[str, ...]
    numbers: tuple[Any, ...]
    restored: bool
    fastmath: bool
    shown: Any


SETTINGS: dict[str, Setting] = {}


def results(case: Case, label: str, call: Callable[..., Any]) -> Contender:
    """A contender that is given the case's arrays, with copies of its own of what it writes."""
    given = SETTINGS[case.workload.title]
    own: Arrays = {n: a.copy() if n in given.written else a for n, a in case.arrays.items()}

    def reset() -> None:
        for name in given.written:
            np.copyto(own[name], case[name])

    def run() -> None:
        call(*own.values(), *given.numbers)

    outputs = tuple(own[name][given.shown] for name in given.written)
    return Contender(label, run, outputs, reset if given.restored else None)


def workload(
    kernel: Any,
    size: Any,
    written: str,
    make: Callable[[], Arrays],
    ndrange: Any,
    expected: Callable[[Arrays], Any],
    *numbers: Any,
    bytes: int,
    flops: int = 0,
    restored: bool = False,
    fastmath: bool = False,
    tolerance: float = 0.0,
    shown: Any = ...,
) -> Workload:

    def ours(case: Case) -> Iterator[Contender]:
        yield results(case, "pykern", lambda *given: kernel(*given, ndrange=ndrange))

    made = Workload(
        kernel.text.name, {"size": size}, make, ours, expected, bytes=bytes, flops=flops, tolerance=tolerance
    )
    SETTINGS[made.title] = Setting(tuple(written.split()), numbers, restored, fastmath, shown)
    return made


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape, np.float32)


def random_bytes(*shape: int, values: int = 256) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(0, values, shape, np.uint8)


def windows(a: np.ndarray, *shape: int) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(a, shape)
