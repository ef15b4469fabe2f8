"""Compiling with fewer optimisations, as is done for what the compiler died of: slower code, the same results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pykern as pk
from pykern.compiler.driver import compile_source
from pykern.data.artifact import Artifact
from pykern.lowering.llvm.pipeline import cpu_pipeline
from pykern.lowering.llvm.program.pipeline import buffer_pipeline, llvm_pipeline, tensor_pipeline
from pykern.runtime.loader import load


@pk.kernel
def smooth(z, x, n):
    i = pk.index()
    total = 0.0
    for k in range(n):
        total += x[(i + k) % x.shape[0]] * 0.5
    z[i] = pk.exp(-total) if total > 0 else total


@pk.jit
def normalised(a, b):
    product = a @ b
    return product / (1 + abs(product).sum(axis=1, keepdims=True))


def sources(monkeypatch: pytest.MonkeyPatch, run: Callable[[], object]) -> list[tuple]:
    """What is asked of the compiler during `run`; what it gives back is made with fewer optimisations."""
    from pykern.compiler.service import Service
    from pykern.data.runtime_source import RuntimeSource

    asked: list[tuple] = []

    def compile(self: Service, source: object, keep_stages: bool = False, passes: tuple = ()) -> Artifact:
        made = compile_source(source, keep_stages=True, careful=True)  # type: ignore[arg-type]
        if not isinstance(source, RuntimeSource):  # which it is depends on what ran before
            asked.append((source, made))
        return made

    monkeypatch.setattr(Service, "compile", compile)
    monkeypatch.setattr("pykern.obtain.code._kept", lambda *_: None)
    run()
    return asked


def names(artifact: Artifact) -> list[str]:
    return [stage.name for stage in artifact.stages]


def test_kernels(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator):
    x, z = rng.standard_normal(101), np.empty(101)
    asked = sources(monkeypatch, lambda: smooth(z, x, 7, ndrange=101))
    total = sum(np.roll(x, -k) * 0.5 for k in range(7))
    np.testing.assert_allclose(z, np.where(total > 0, np.exp(-total), total), rtol=1e-13)
    ((source, made),) = asked
    skipped = set(names(compile_source(source, keep_stages=True))) - set(names(made))
    assert any(name.startswith("kern-vectorize-items") for name in skipped)
    assert any(name.startswith("kern-vectorize-streams") for name in skipped)
    assert "loop-vectorize" not in "".join(names(made))


def test_programs(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator):
    a, b = rng.standard_normal((33, 17)), rng.standard_normal((17, 29))
    found: list[np.ndarray] = []
    ((_, made),) = sources(monkeypatch, lambda: found.append(normalised(a, b)))
    product = a @ b
    np.testing.assert_allclose(found[0], product / (1 + abs(product).sum(axis=1, keepdims=True)), rtol=1e-12)
    assert not any(name.startswith("kern-vectorize") for name in names(made))
    assert load(made.binary, made.entry)


@pytest.mark.parametrize(
    "pipeline", [cpu_pipeline(), tensor_pipeline() + buffer_pipeline() + llvm_pipeline()]
)
def test_what_is_left_out_is_named(pipeline):
    """Lowerings stay: what is left out are passes that only make code faster."""
    left_out = {type(step).__name__ for step in pipeline if step.only_speed}
    assert {"VectorizeItems", "VectorizeStreams", "TightenBounds"} <= left_out
    assert not any(name.startswith(("Lower", "Expand", "Flatten")) for name in left_out)
