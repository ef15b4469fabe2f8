"""Workloads, those who contend in them, and the peers that bring contenders.

Comes in: nothing. Goes out: the plain declarations of the harness. A workload is declared once, with its arrays, its
expected results and what it must move and compute; a peer is a module with one function for each workload it knows,
named after it, that gives `Contender`s for a `Case`. Read next: `harness`.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

Arrays = dict[str, Any]
"""Inputs by name; everybody gets the same ones and writes to none of them."""


@dataclass(frozen=True)
class Contender:
    """One way to do a workload. `run` does it, and gives its results where there are no `outputs` it writes to.

    `reset` restores arrays that `run` updates, outside of the time. `allocates`: every call makes its results anew.
    Where it does a part of the work only, `part` says how much, and `expected` gives that part's results.
    """

    name: str
    run: Callable[[], Any]
    outputs: tuple[np.ndarray, ...] = ()
    reset: Callable[[], Any] | None = None
    allocates: bool = False
    part: float = 1.0
    expected: Callable[[], Any] | None = None


@dataclass(frozen=True)
class Workload:
    """`make` gives the arrays, `ours` pykern's contenders, `expected` the results.

    `bytes` must move if each array is read or written once, `flops` be computed. Each element may be off by `tolerance`
    times the largest. `config` is what a record says of the size. One run does it `calls` times.
    """

    name: str
    config: Mapping[str, Any]
    make: Callable[[], Arrays]
    ours: Callable[[Case], Iterable[Contender]]
    expected: Callable[[Arrays], Any]
    bytes: int
    flops: int
    dtype: str = "float32"
    tolerance: float = 1e-5
    calls: int = 1

    @property
    def title(self) -> str:
        """``saxpy 2^24``."""
        return " ".join([self.name, *map(str, self.config.values())])

    @property
    def form(self) -> str:
        """What peers call their function: `fdtd_2d`, and `_2mm` for what begins with a digit."""
        return ("_" if self.name[0].isdigit() else "") + self.name.replace("-", "_")


@dataclass(frozen=True)
class Case:
    """A workload with its arrays, in a process with so many threads; `case["x"]` is an array."""

    workload: Workload
    arrays: Arrays
    threads: int

    def __getitem__(self, name: str) -> Any:
        return self.arrays[name]


@dataclass(frozen=True)
class Peer:
    """A plug-in: the module with its contenders, and the package without which it cannot be.

    The module may have ``prepare(threads)``, and ``missing()``, which says why it cannot be used although the
    package is there.
    """

    name: str
    module: str
    package: str
    install: str = ""

    def load(self, threads: int) -> ModuleType | str:
        """The module, ready; or in words why there is none."""
        if importlib.util.find_spec(self.package) is None:
            return f"not installed (pip install {self.install or self.package})"
        try:
            module = importlib.import_module(self.module)
        except (ImportError, OSError) as error:
            return f"cannot be imported: {error}"
        reason = module.missing() if hasattr(module, "missing") else None
        if reason:
            return reason
        if hasattr(module, "prepare"):
            module.prepare(threads)
        return module


def sources_of(
    case: Case, peers: Mapping[str, ModuleType | str]
) -> Iterator[tuple[str, Callable[[Case], Iterable[Contender]] | str]]:
    """What makes pykern's contenders and each peer's, by name; or in words why a peer has none."""
    yield "pykern", case.workload.ours
    for name, module in peers.items():
        if isinstance(module, str):
            yield name, module
        else:
            yield name, getattr(module, case.workload.form, "has no form of this workload")
