"""Ten thousand operations in one kernel, one program and their derivatives: seconds, where squares would be minutes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from mlir import ir

import pykern as pk
from pykern.compiler import kernel_gradients
from pykern.compiler.driver import compile_source
from pykern.dialect.context import new_context
from pykern.passes.autodiff.tensor.join import join_cheap
from pykern.passes.framework import Pass, Upstream, run_pass
from tests.cases.texts import defined

X = np.linspace(0.25, 1.5, 37)
COUNT = 10_000
KERNEL = "def made(z, x):\n    i = pk.index()\n"


def made(text: str) -> Callable:
    file = f"<ten thousand {hash(text):x}>"
    scope = defined(text, file, {"pk": pk})
    return scope["made"]


def terms(count: int, x: str) -> str:
    """A sum in groups, which Python's own compiler takes."""
    each = [f"{x} * {j % 100}.0" for j in range(count)]
    return " + ".join(f"({' + '.join(each[k : k + 500])})" for k in range(0, count, 500))


def factor(count: int) -> float:
    return float(sum(j % 100 for j in range(count)))


def steps(count: int, x: str) -> str:
    return f"    r = {x}\n" + "".join(f"    r = r * 0.5 + {j % 10}.0\n" for j in range(count))


def stepped(x: np.ndarray, count: int) -> np.ndarray:
    for j in range(count):
        x = x * 0.5 + float(j % 10)
    return x


@pytest.mark.slow
@pytest.mark.timeout(200)
@pytest.mark.parametrize("what", ["terms", "statements"])
def test_a_kernel(what: str) -> None:
    text = (
        f"    z[i] = {terms(COUNT, 'x[i]')}\n" if what == "terms" else f"{steps(COUNT, 'x[i]')}    z[i] = r\n"
    )
    z = np.zeros_like(X)
    pk.kernel(made(KERNEL + text))(z, X, ndrange=len(X))
    wanted = X * factor(COUNT) if what == "terms" else stepped(X, COUNT)
    np.testing.assert_allclose(z, wanted, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.timeout(200)
@pytest.mark.parametrize("what", ["terms", "statements"])
def test_a_program(what: str) -> None:
    """Of two operations for each term or statement. Each term is an op over `x`, alike but for its number."""
    half = COUNT // 2
    text = f"    return {terms(half, 'x')}\n" if what == "terms" else f"{steps(half, 'x')}    return r\n"
    wanted = X * factor(half) if what == "terms" else stepped(X, half)
    np.testing.assert_allclose(pk.jit(made(f"def made(x):\n{text}"))(X), wanted, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_gradient_of_a_kernel() -> None:
    kernel = pk.kernel(made(f"{KERNEL}    z[i] = {terms(COUNT // 2, 'x[i]')}\n"))
    dx = np.zeros_like(X)
    pk.autodiff(kernel)(pk.Dup(X * 0, np.ones_like(X)), pk.Dup(X, dx), ndrange=len(X))
    np.testing.assert_allclose(dx, np.full(len(X), factor(COUNT // 2)), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_gradient_of_a_program() -> None:
    program = pk.jit(made(f"def made(x):\n    return ({terms(COUNT // 2, 'x')}).sum()\n"))
    np.testing.assert_allclose(pk.grad(program)(X), np.full(len(X), factor(COUNT // 2)), rtol=1e-12)


def chain(count: int) -> str:
    lines = ["#map = affine_map<(d0) -> (d0)>", "func.func @f(%t0: tensor<8xf64>) -> tensor<8xf64> {",
             "  %c = arith.constant 0.5 : f64", "  %e = tensor.empty() : tensor<8xf64>"]  # fmt: skip
    lines += [
        f'  %t{j + 1} = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel"]}}\n'
        f"      ins(%t{j} : tensor<8xf64>) outs(%e : tensor<8xf64>) {{\n  ^bb0(%in: f64, %out: f64):\n"
        f"    %m = arith.mulf %in, %c : f64\n    linalg.yield %m : f64\n  }} -> tensor<8xf64>"
        for j in range(count)
    ]
    return "\n".join([*lines, f"  return %t{count} : tensor<8xf64>", "}"])


@pytest.mark.slow
@pytest.mark.timeout(100)
def test_joining_before_differentiation() -> None:
    """Upstream alone copies all that was joined before for each op that joins: some minutes."""
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(chain(6000))
        join_cheap(module)
        text = str(module)
    assert text.count("linalg.generic") == 1
    assert text.count("arith.mulf") == 6000


def test_a_gradient_loads_each_place_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before `cse`, which takes the square of the loads that are left."""
    seen: list[int] = []

    def counted(step: Pass, module: ir.Module) -> None:
        if isinstance(step, Upstream):
            seen.append(str(module).count("memref.load"))
        run_pass(step, module)

    monkeypatch.setattr(kernel_gradients, "run_pass", counted)
    kernel = pk.kernel(made(f"{KERNEL}    z[i] = {terms(200, 'x[i]')}\n"))
    lowered = pk.autodiff(kernel).lower(pk.Dup(X * 0, X), pk.Dup(X, X * 0), ndrange=len(X))
    compile_source(lowered.source)
    assert seen[0] == 1


@pytest.mark.slow
@pytest.mark.timeout(100)
def test_a_choice_among_hundreds() -> None:
    """Half a minute went into registers for its constants, all of which were held ready in front of the loop."""
    text = "".join(f"    elif x[i] < {j}.5:\n        z[i] = x[i] * {j}.0\n" for j in range(450))
    kernel = pk.kernel(made(f"{KERNEL}    if x[i] < 0.0:\n        z[i] = 0.0\n{text}"))
    x = np.array([-1.0, 0.25, 1.0, 200.25, 449.0, 600.0])
    z = np.full(6, 7.0)
    kernel(z, x, ndrange=6)
    steps = np.floor(x + 0.5)
    np.testing.assert_allclose(z, np.where(x < 0, 0.0, np.where(x < 449.5, x * steps, 7.0)), rtol=1e-15)
