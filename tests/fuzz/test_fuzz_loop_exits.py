"""Random loops that are left in every way, compiled, against the plain Python function.

On the CPU with all of LLVM's passes, which may not die of any, and with the few that are used for what they died of;
on devices whose drivers' compilers may. ``PYKERN_FUZZ=N`` runs N / 30 functions, more in `make test-all`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.compiler import service
from pykern.data.artifact import Artifact
from tests.cases.seeds import seeds
from tests.cases.texts import load
from tests.fuzz.loops import COUNTS, HEAD, KERNEL, SIZE, LoopFunction

FUNCTIONS = 4
"""In one test, each a kernel of its own."""


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 10, SIZE), rng.integers(0, 21, COUNTS)


def cases(seed: int) -> list[tuple[str, list[int]]]:
    """Functions, and what Python makes of them."""
    random, (n, x) = Random(seed), data(seed)
    found = []
    for _ in range(FUNCTIONS):
        text = LoopFunction(random).text()
        names: dict[str, Any] = {}
        exec(text, names)  # our own text
        found.append((text, [names["f"](i, n.tolist(), x.tolist()) for i in range(SIZE)]))
    return found


def run_on(device: str, text: str, seed: int, folder: Path) -> list[int]:
    """What a launch gives."""
    kernel = load(f"{HEAD}@pk.func\n{text}{KERNEL}", folder).run
    n, x = data(seed)
    out = np.zeros(SIZE, np.int64)
    kernel(out, n, x, ndrange=SIZE, device=device)
    return out.tolist()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Artifact]:
    """The code that is launched, from now on."""
    found: list[Artifact] = []

    def kept(artifact: Artifact) -> Artifact:
        found.append(artifact)
        return artifact

    monkeypatch.setattr("pykern.obtain.code.with_remarks", kept)
    return found


def rescued(artifact: Artifact) -> bool:
    """Whether the compiler died of all optimisations."""
    return any("fewer optimisations" in remark.text for remark in artifact.remarks)


@pytest.mark.parametrize("seed", seeds(10))
def test_on_the_cpu(seed: int, tmp_path: Path, made: list[Artifact]) -> None:
    for count, (text, wanted) in enumerate(cases(seed), 1):
        assert run_on("cpu", text, seed, tmp_path) == wanted, text
        assert len(made) == count and not rescued(made[-1]), text


@pytest.mark.parametrize("seed", seeds(3))
def test_with_few_optimisations(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = service._Request.__init__

    def carefully(self: Any, *arguments: Any) -> None:
        made(self, *arguments)
        self.careful = True

    monkeypatch.setattr(service._Request, "__init__", carefully)
    monkeypatch.setattr("pykern.obtain.code._kept", lambda *_: None)
    monkeypatch.setattr("pykern.compiler.cache.Cache.put", lambda self, key, artifact: None)
    for text, wanted in cases(seed):
        assert run_on("cpu", text, seed, tmp_path) == wanted, text


@pytest.mark.parametrize("kind", ["opencl", "vulkan"])
@pytest.mark.parametrize("seed", seeds(2))
def test_on_devices(kind: str, seed: int, tmp_path: Path, need_device: Callable[[str], str]) -> None:
    device = need_device(kind)
    for text, wanted in cases(seed):
        assert run_on(device, text, seed, tmp_path) == wanted, text


@pk.kernel
def counted_and_invariant(out, n, x):
    i = pk.index()
    r = -1
    for a in range(n[i]):
        if a == 2:
            r = 7
            break
        if x[i] > 5:
            r = 8
            break
    out[i] = r


def test_a_counted_and_an_invariant_exit(made: list[Artifact]) -> None:
    """LLVM's loop vectoriser aborted over the access in a loop that jump threading had cut off."""
    n, x, out = np.arange(20) % 7, np.arange(20)[::-1].copy(), np.zeros(20, np.int64)
    counted_and_invariant(out, n, x, ndrange=20, device="cpu")
    wanted = np.where(n < 1, -1, np.where(x > 5, 8, np.where(n > 2, 7, -1)))
    np.testing.assert_array_equal(out, wanted)
    assert len(made) == 1 and not rescued(made[0])
