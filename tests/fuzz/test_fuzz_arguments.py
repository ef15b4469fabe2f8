"""Derivatives while their arguments change: in the program, by kernels in it, by the caller between the parts.

Random programs that write their arguments are differentiated, and compared with JAX on copies taken before. Between
`pk.vjp` and `pull` the caller overwrites everything it can reach; `pull` is called several times, with others in
between.
``PYKERN_FUZZ_SEED=S`` runs other seeds. A failure prints the program.
"""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import pykern as pk
from tests.cases.seeds import seeds
from tests.cases.texts import imported
from tests.fuzz.argument_grammar import N, RandomProgram, random_program

jax = pytest.importorskip("jax")
POLICIES = (None, pk.every(2), pk.binomial(2))


def load(program: RandomProgram, folder: Path, seed: int) -> Any:
    return imported(folder / f"arguments_{seed}.py", program.text)


class Case:
    """A random program, and what JAX says of it."""

    def __init__(self, folder: Path, seed: int) -> None:
        jax.config.update("jax_enable_x64", True)
        self.random = Random(seed)
        self.program = random_program(self.random)
        self.module = load(self.program, folder, seed)
        self.f = self.module.f
        self.rng = np.random.default_rng(seed)
        self.n = self.random.randint(0, 3)
        self.checkpoint = self.random.choice(POLICIES) if self.program.loops else None

    def arrays(self) -> list[np.ndarray]:
        return [self.rng.uniform(-1, 1, N) for _ in range(self.program.arrays)]

    def reference(self, arrays: list[np.ndarray], s: float) -> tuple[Any, Any]:
        def plain(*given: Any) -> Any:
            return self.module.reference(jax.numpy, *given, self.n)

        return jax.vjp(plain, *(jax.numpy.array(a) for a in arrays), s)

    def cotangent(self, value: Any) -> Any:
        return jax.tree_util.tree_map(
            lambda v: v if isinstance(v, int) else self.rng.uniform(-1, 1, np.shape(v)), value
        )

    def check(self, found: tuple, pull: Any, cotangent: Any) -> None:
        """What `pull` of pykern gave, against JAX's; the derivative of a whole number is none."""
        given = jax.tree_util.tree_map(
            lambda c: np.zeros((), jax.dtypes.float0) if isinstance(c, int) else jax.numpy.asarray(c),
            cotangent,
        )
        wanted = pull(given)
        assert found[-1] is None, "nothing is differentiated by a whole number"
        for one, other in zip(found[:-1], wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=self.program.text)


def close(found: Any, wanted: Any, text: str) -> None:
    for one, other in zip(jax.tree_util.tree_leaves(found), jax.tree_util.tree_leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=text)


def overwrite(*values: Any) -> None:
    for leaf in jax.tree_util.tree_leaves(values):
        if isinstance(leaf, np.ndarray):
            leaf[...] = np.nan


@pytest.mark.parametrize("seed", seeds(8))
def test_pull_after_everything_was_overwritten(tmp_path: Path, seed: int) -> None:
    case = Case(tmp_path, seed)
    before = case.arrays()
    value, reference = case.reference(before, 0.7)
    mine = [a.copy() for a in before]
    found, pull = pk.vjp(case.f, *mine, 0.7, case.n, checkpoint=case.checkpoint)
    close(found, value, case.program.text)
    for name, array, old in zip("abc", mine, before, strict=False):
        assert name in case.program.written or np.array_equal(array, old)
    plain = [a.copy() for a in before]
    case.f(*plain, 0.7, case.n)
    for one, other in zip(mine, plain, strict=True):
        np.testing.assert_allclose(
            one, other, rtol=1e-12, err_msg="as a call leaves them: " + case.program.text
        )
    overwrite(found, mine)
    first, second = case.cotangent(value), case.cotangent(value)
    for cotangent in (first, second, first):
        gradients = pull(cotangent)
        case.check(gradients, reference, cotangent)
        overwrite(gradients)


@pytest.mark.parametrize("seed", seeds(4))
def test_interleaved_and_in_threads(tmp_path: Path, seed: int) -> None:
    case = Case(tmp_path, seed + 1000)
    pulls = []
    reused = case.arrays()
    for _ in range(3):
        arrays = case.arrays()
        for mine, new in zip(reused, arrays, strict=True):
            mine[...] = new
        value, reference = case.reference(arrays, 0.3)
        found, pull = pk.vjp(case.f, *reused, 0.3, case.n)
        close(found, value, case.program.text)
        pulls.append((pull, reference, case.cotangent(value)))
    results: dict[int, Any] = {}

    def run(number: int) -> None:
        pull, _, cotangent = pulls[number]
        for _ in range(20):
            results[number] = pull(cotangent)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(pulls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, (_, reference, cotangent) in enumerate(pulls):
        case.check(results[number], reference, cotangent)


@pytest.mark.parametrize("seed", seeds(4))
def test_donated(tmp_path: Path, seed: int) -> None:
    case = Case(tmp_path, seed + 2000)
    given = pk.jit(case.f.__wrapped__, donate_argnums=tuple(range(case.program.arrays)))
    before = case.arrays()
    value, reference = case.reference(before, 0.2)
    mine = [a.copy() for a in before]
    found, pull = pk.vjp(given, *mine, 0.2, case.n)
    close(found, value, case.program.text)
    overwrite(mine, found)
    cotangent = case.cotangent(value)
    case.check(pull(cotangent), reference, cotangent)


@pytest.mark.parametrize("seed", seeds(6))
def test_views_and_one_array_twice(tmp_path: Path, seed: int) -> None:
    """Arguments that lie anywhere; those that the program only reads may be one array, or overlap."""
    case = Case(tmp_path, seed + 3000)
    whole = case.rng.uniform(-1, 1, 3 * N)
    shared = [whole[:N], whole[:N], whole[2 : 2 + N], whole[N - 1 :: -1], whole[: 2 * N : 2]]
    mine = []
    for name in "abc"[: case.program.arrays]:
        alone = [
            case.rng.uniform(-1, 1, N),
            case.rng.uniform(-1, 1, 2 * N)[::2],
            case.rng.uniform(-1, 1, N)[::-1],
        ]
        mine.append(case.random.choice(alone if name in case.program.written else shared))
    before = [a.copy() for a in mine]
    value, reference = case.reference(before, 0.4)
    found, pull = pk.vjp(case.f, *mine, 0.4, case.n, checkpoint=case.checkpoint)
    close(found, value, case.program.text)
    overwrite(mine, whole, found)
    cotangent = case.cotangent(value)
    case.check(pull(cotangent), reference, cotangent)


@pytest.mark.parametrize("seed", seeds(4))
def test_gradients_leave_arguments_alone(tmp_path: Path, seed: int) -> None:
    """`value_and_grad`, `grad`, `jvp` and `hvp` do not write what the program writes, and see what it had."""
    case = Case(tmp_path, seed + 4000)
    text = case.program.text + "\n\n@pk.jit\ndef total(" + ", ".join("abc"[: case.program.arrays])
    text += ", s, n: pk.static):\n    found = f(" + ", ".join("abc"[: case.program.arrays]) + ", s, n)\n"
    value, _ = case.reference(case.arrays(), 0.1)
    parts = ["found"] if not isinstance(value, tuple | dict) else (
        [f"found[{n}]" for n in range(len(value))] if isinstance(value, tuple) else [f"found['{k}']" for k in value]
    )  # fmt: skip
    kinds = jax.tree_util.tree_leaves(value)
    sums = [f"pk.sin({p}).sum()" if np.shape(k) else p for p, k in zip(parts, kinds, strict=True)]
    text += "    return " + " + ".join(sums) + "\n"
    module = load(
        RandomProgram(text, case.program.arrays, case.program.written, case.program.loops),
        tmp_path,
        seed + 4000,
    )

    def total(*given: Any) -> Any:
        found = jax.tree_util.tree_leaves(case.module.reference(jax.numpy, *given, case.n))
        return sum(jax.numpy.sin(p).sum() if np.shape(p) else p for p in found)

    before = case.arrays()
    mine = [a.copy() for a in before]
    numbers = tuple(range(case.program.arrays + 1))
    value, gradients = pk.value_and_grad(module.total, numbers, checkpoint=case.checkpoint)(
        *mine, 0.6, case.n
    )
    close(value, total(*map(jax.numpy.array, before), 0.6), text)
    close(gradients, jax.grad(total, numbers)(*map(jax.numpy.array, before), 0.6), text)
    tangents = case.arrays()
    _, tangent = pk.jvp(module.total, (*mine, 0.6, case.n), (*tangents, 1.0, None))
    wanted = jax.jvp(total, (*map(jax.numpy.array, before), 0.6), (*tangents, 1.0))[1]
    close(tangent, wanted, text)
    second = pk.hvp(module.total, (*mine, 0.6, case.n), (*tangents, 1.0, None))
    wanted = jax.jvp(jax.grad(total, numbers), (*map(jax.numpy.array, before), 0.6), (*tangents, 1.0))[1]
    close(second[:-1], wanted, text)
    for array, old in zip(mine, before, strict=True):
        np.testing.assert_array_equal(array, old, err_msg=text)


@pytest.mark.parametrize("seed", seeds(3))
def test_captured_in_a_graph(tmp_path: Path, seed: int) -> None:
    """A replay runs the program on what the arrays hold then, and pulls back through that."""
    case = Case(tmp_path, seed + 5000)
    mine = case.arrays()
    value, _ = case.reference(mine, 0.5)
    cotangent = case.cotangent(value)
    with pk.graph() as g:
        found, pull = pk.vjp(case.f, *mine, 0.5, case.n)
        gradients = pull(cotangent)
    for _ in range(3):
        before = case.arrays()
        for array, new in zip(mine, before, strict=True):
            array[...] = new
        g.replay().wait()
        value, reference = case.reference(before, 0.5)
        close(found, value, case.program.text)
        case.check(gradients, reference, cotangent)
