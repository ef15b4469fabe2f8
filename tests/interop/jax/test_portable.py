"""The text over whole arrays, for JAX, NumPy and PyTorch, and what is exported for other machines."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import LaunchError, TargetError
from pykern.pytest_plugin import need_package

jax = need_package("jax")
jnp = need_package("jax.numpy")

import pykern.jax as pkj  # noqa: E402
from pykern.jax.halves import halves_of  # noqa: E402
from tests.interop.jax.functions import axpy, heat, softmax  # noqa: E402

RANDOM = np.random.default_rng(7)
saxpy = pkj.primitive(axpy, out={"o": pkj.like("x")}, ndrange=lambda x, y, a: x.shape)


def given(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


@pk.kernel
def matmul(o, a, b):
    i, j = pk.index()
    total = 0.0
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    o[i, j] = total


@pk.jit
def step(new, old, c):
    new = new.copy()
    heat(new, old, c, ndrange=(6, 7))
    return new


@pk.jit
def product(a, b):
    o = pk.zeros((3, 5), pk.f32)
    matmul(o, a, b, ndrange=(3, 5))
    return o


@pk.jit
def mixed(x, n):
    y = (x.T @ x)[1:3].reshape(-1)
    z = np.where(y > 0, y, 0.1 * y) + np.concatenate([y, y])[: y.shape[0]]
    for t in range(3):
        z = np.tanh(z) + t * n
    return z, np.argmax(z), np.mean(x, axis=0), x.astype(pk.i32)[::2], x > 0.5


@pk.jit
def decayed(x):
    s = np.zeros((4,), np.float32)
    for t in range(100):
        s = s * 0.5 + x[t]
    return s


@pk.jit
def extremes(x):
    return np.max(x), np.argmin(x, axis=1), np.sum(x * x, axis=0), np.prod(x, axis=1)


@pk.jit
def integers(x, y):
    return x // y, x % y, (x & y) ^ 3, np.maximum(x, y), (x * 3).astype(pk.u8)


@pk.jit
def waves(x):
    for _ in pk.range(7):
        y = x.copy()
        y[1:-1] = x[1:-1] + 0.1 * np.tanh(x[2:] - 2 * x[1:-1] + x[:-2])
        x = y
    return x


CASES = {
    "stencil": (step, (given(6, 7), given(6, 7), 0.1)),
    "matmul": (product, (given(3, 4), given(4, 5))),
    "softmax": (softmax, (given(3, 4),)),
    "mixed": (mixed, (given(3, 4), 2)),
    "loop": (decayed, (given(100, 4),)),
    "reductions": (extremes, (given(6, 5),)),
    "integers": (integers, (np.arange(-9, 9, dtype=np.int32), np.arange(1, 19, dtype=np.int32))),
}


@pytest.mark.parametrize("library", ["jnp", "numpy", "torch"])
@pytest.mark.parametrize("case", CASES)
def test_text_computes_the_same(case, library):
    program, args = CASES[case]
    names = {}
    exec(program.lower(*args, target=f"xp:{library}").compile().binary.decode(), names)
    if library == "torch":
        torch = need_package("torch")
        arrays = [torch.from_numpy(a.copy()) if isinstance(a, np.ndarray) else a for a in args]
    else:
        arrays = [jnp.asarray(a) if library == "jnp" and isinstance(a, np.ndarray) else a for a in args]
    found = names[program.__name__](*arrays)
    wanted = program(*args)
    several = isinstance(wanted, tuple)
    for f, w in zip(found if several else [found], wanted if several else [wanted], strict=True):
        np.testing.assert_allclose(np.asarray(f), w, rtol=2e-5, atol=1e-5)


def test_halves_of_a_gradient_through_slices_have_texts():
    """The transpose of a slice puts a border around."""

    def expected(x):
        for _ in range(7):
            x = x.at[1:-1].add(0.1 * jnp.tanh(x[2:] - 2 * x[1:-1] + x[:-2]))
        return x

    x, cotangent = map(jnp.asarray, given(2, 9))
    primitive = pkj.primitive(waves)
    value, pull = jax.vjp(expected, x)
    np.testing.assert_allclose(
        jax.vjp(primitive, x)[1](cotangent)[0], pull(cotangent)[0], rtol=2e-5, atol=1e-6
    )
    halves = halves_of(primitive._last((x,), {}), (0,))
    assert halves is not None
    results = halves.forward.portable(x)
    residuals = [results[n] for n in halves.kept]
    found = halves.backward.portable(*halves.operands([x], [cotangent], residuals))
    np.testing.assert_allclose(results[0], value, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(found[0], pull(cotangent)[0], rtol=2e-5, atol=1e-6)


def test_text_is_what_a_person_would_write():
    x = jnp.asarray(given(8))
    assert saxpy.source(x, x, 2.0).endswith("    v2 = (v1 * x) + y\n    return v2\n")
    with pytest.raises(LaunchError, match="not called yet"):
        pkj.primitive(axpy, out={"o": pkj.like("x")}).source()


def test_kernels_without_a_text_are_refused():
    @pk.kernel
    def walk(o, x):
        i = pk.index()
        at = i
        while x[at] > 0.0:
            at = at - 1
        o[i] = x[at]

    made = pkj.primitive(walk, out={"o": pkj.like("x")})
    x = jnp.array([0.0, 1.0, 2.0])
    np.testing.assert_array_equal(made(x), [0, 0, 0])  # on the CPU it runs
    with pytest.raises(TargetError, match="no operation on whole arrays"):
        made.source(x)


def test_export_for_other_machines():
    x = jnp.asarray(given(8))

    def loss(x):
        return (saxpy(x, x, 2.0) ** 2).sum()

    for function, args in (
        (saxpy, (x, x, 2.0)),
        (jax.grad(loss), (x,)),
        (jax.vmap(loss), (jnp.stack([x, x]),)),
    ):
        text = pkj.export(function, platforms=["tpu"])(*args).mlir_module()
        assert "custom_call" not in text and "stablehlo" in text
    text = pkj.export(saxpy, platforms=["tpu", "cuda", "cpu"])(x, x, 2.0)
    assert text.mlir_module().count("stablehlo.custom_call") == 1
    assert text.platforms == ("tpu", "cuda", "cpu")


def test_check():
    x = jnp.asarray(given(4, 6))
    pkj.check(saxpy, (x[0], x[1], 2.0))
    pkj.check(pkj.primitive(softmax), (x,))
    pkj.check(pkj.primitive(heat, inout={"new": 0}), (x, x + 1, 0.1))
