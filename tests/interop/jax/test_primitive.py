"""Kernels and programs as primitives of JAX: calls, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern import errors
from pykern.pytest_plugin import need_package

jax = need_package("jax")

jnp = need_package("jax.numpy")

import pykern.jax as pkj  # noqa: E402
from tests.interop.jax.functions import axpy, heat, softmax, stats  # noqa: E402

RANDOM = np.random.default_rng(5)
saxpy = pkj.primitive(axpy, out={"o": pkj.like("x")}, ndrange=lambda x, y, a: x.shape)


def given(shape, dtype=np.float32):
    return jnp.asarray((RANDOM.standard_normal(shape) * 5).astype(dtype))


@pytest.mark.parametrize("n", [0, 1, 13])
@pytest.mark.parametrize("call", [saxpy, jax.jit(saxpy)])
def test_kernel(n, call):
    x, y = given(n), given(n)
    np.testing.assert_allclose(call(x, y, 2.5), 2.5 * x + y, rtol=1e-6)


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16, jnp.int32, jnp.uint8, jnp.int16])
def test_dtypes(dtype):
    x, y = given(7).astype(dtype), given(7).astype(dtype)
    found = saxpy(x, y, 3)
    assert found.dtype == dtype
    np.testing.assert_allclose(np.asarray(found, np.float64), np.asarray(3 * x + y, np.float64), rtol=2e-2)


def test_bool():
    @pk.kernel
    def larger(o, x, y, strict):
        i = pk.index()
        o[i] = x[i] > y[i] if strict else x[i] >= y[i]

    made = pkj.primitive(larger, out={"o": pkj.like("x", pk.bool_)})
    x, y = jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 1.0, 4.0])
    np.testing.assert_array_equal(made(x, y, True), x > y)
    np.testing.assert_array_equal(jax.jit(made)(x, y, False), x >= y)


@pytest.mark.parametrize("shape", [(3, 5), (1, 1), (2, 0, 4), (4,)])
def test_program(shape):
    x = given(shape)
    if 0 in shape:
        np.testing.assert_array_equal(pkj.primitive(softmax)(given((0, 3))).shape, (0, 3))
        return
    np.testing.assert_allclose(pkj.primitive(softmax)(x), jax.nn.softmax(x), rtol=1e-5)


def test_arrays_without_dimensions():
    @pk.jit
    def halved(x):
        return x * 0.5, np.sum(x)

    half, total = pkj.primitive(halved)(jnp.float32(3))
    assert half == 1.5 and total == 3 and np.shape(half) == np.shape(total) == ()


def test_trees():
    made = pkj.primitive(stats)
    pair = {"y": given((3, 4)), "x": given((3, 4))}
    found = jax.jit(lambda p: made(p, 2))(pair)
    np.testing.assert_allclose(found["mean"], pair["x"].mean(), rtol=1e-6)
    np.testing.assert_allclose(found["scaled"], pair["x"] * pair["y"] * 2, rtol=1e-6)


def test_rules_of_results():
    @pk.kernel
    def outer(o, x, y):
        i, j = pk.index()
        o[i, j] = x[i] * y[j]

    rule = lambda x, y: jax.ShapeDtypeStruct((x.shape[0], y.shape[0]), x.dtype)  # noqa: E731
    x, y = given(3), given(5)
    np.testing.assert_allclose(pkj.primitive(outer, out={"o": rule})(x, y), jnp.outer(x, y))


def _odd(x, y, a):
    return range(1, x.shape[0], 2)


def test_range():
    made = pkj.primitive(axpy, out={"o": pkj.like("x")}, ndrange=_odd)
    x, y = given(6), given(6)
    np.testing.assert_allclose(made(x, y, 1.0), np.where(np.arange(6) % 2, x + y, 0), rtol=1e-6)


def test_donated():
    step = pkj.primitive(heat, inout={"new": 0})
    first, old = given((5, 9)), given((5, 9))
    around = old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2]
    inner = old[1:-1, 1:-1]
    want = np.array(first)
    want[1:-1, 1:-1] = inner + 0.1 * (around - 4 * inner)
    np.testing.assert_allclose(step(first, old, 0.1), want, rtol=1e-4, atol=1e-5)
    assert not first.is_deleted()
    address = first.unsafe_buffer_pointer()
    found = jax.jit(lambda a, b: step(a, b, 0.1), donate_argnums=0)(first, old)
    assert found.unsafe_buffer_pointer() == address and first.is_deleted()
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)


def test_donated_where_other_elements_are_read():
    @pk.jit
    def rolled(x, y):
        return x + np.roll(x, 1) * y

    x, y = given(9), given(9)
    call = jax.jit(pkj.primitive(rolled, inout={"x": 0}), donate_argnums=0)
    np.testing.assert_allclose(call(x + 0, y), x + jnp.roll(x, 1) * y, rtol=1e-6)


def test_handler_checks_what_it_is_given():
    x = given(5)
    name = saxpy.described((x, x, 2.0), {})[0].code.name
    kind = jax.ShapeDtypeStruct((5,), jnp.float32)
    a = jnp.float32(2)
    wrong = {
        "`x` is not f32[5]": (jnp.arange(5), x, a),
        "`y` is not f32[5]": (x, given(6), a),
        "`a` is not f32 or f64[]": (x, x, jnp.int32(2)),
        "takes 3 arguments": (x, x),
    }
    for message, arguments in wrong.items():
        with pytest.raises(jax.errors.JaxRuntimeError) as error:
            jax.ffi.ffi_call(name, kind)(*arguments)
        assert message in str(error.value) and "INVALID_ARGUMENT" in str(error.value)


def test_failed_assert_is_an_error():
    @pk.kernel(debug=True)
    def shifted(o, x):
        i = pk.index()
        o[i] = x[i + 1]

    made = pkj.primitive(shifted, out={"o": pkj.like("x")})
    with pytest.raises(jax.errors.JaxRuntimeError, match="outside of `x`"):
        jax.block_until_ready(made(given(4)))


def test_refused():
    @pk.jit
    def wide(x):
        return x.astype(pk.f64)

    x = given(4)
    with pytest.raises(errors.KernelTypeError, match="writes `o`, which is no result"):
        pkj.primitive(axpy, inout={"x": 0})
    with pytest.raises(errors.KernelTypeError, match="no parameter `q`"):
        pkj.primitive(axpy, out={"q": pkj.like("x")})
    with pytest.raises(errors.KernelTypeError, match="complex64"):
        saxpy(x.astype(jnp.complex64), x, 2.0)
    with pytest.raises(errors.KernelTypeError, match="32 bits"):
        pkj.primitive(wide)(x)
    with pytest.raises(errors.KernelTypeError, match=r"key_data\(x\)"):
        saxpy(jax.random.key(0), x, 2.0)


def test_symbolic_lengths_are_refused():
    symbolic = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)
    with pytest.raises(errors.KernelTypeError, match="the lengths of array programs are numbers"):
        jax.export.export(jax.jit(lambda x: saxpy(x, x, 2.0)))(symbolic)


def test_call_by_call():
    """`jax.disable_jit` asks for calls one by one."""
    x = given(4)
    with jax.disable_jit(), jax.debug_nans(True):
        np.testing.assert_allclose(saxpy(x, x, 2.0), 3 * x, rtol=1e-6)
        np.testing.assert_allclose(jax.grad(lambda x: saxpy(x, x, 2.0).sum())(x), np.full(4, 3.0))


def test_program_that_writes_its_argument():
    @pk.jit
    def filled(x):
        x[0] = 1.0
        return x * 2

    with pytest.raises(errors.KernelTypeError, match=r"writes its argument `x`"):
        pkj.primitive(filled)(given(3))


def test_64_bits():
    x = np.linspace(0, 1, 5)
    assert saxpy(x, x, 2.0).dtype == jnp.float32  # as JAX converts
    with jax.enable_x64(True):
        found = saxpy(jnp.asarray(x), jnp.asarray(x), 0.1)
        assert found.dtype == jnp.float64
        np.testing.assert_array_equal(found, 0.1 * x + x)
