"""Primitives over eight devices: a process of its own, since JAX counts devices when it starts."""

from __future__ import annotations

import os
import subprocess
import sys

from pykern.pytest_plugin import need_package

need_package("jax")

SCRIPT = """
import jax, jax.numpy as jnp, numpy as np
import pykern.jax as pkj
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from tests.interop.jax.functions import axpy, heat, scaled, softmax, turned, weights

saxpy = pkj.primitive(axpy, out={"o": pkj.like("x")}, ndrange=lambda x, y, a: x.shape)
soft = pkj.primitive(softmax)
for kind in (AxisType.Auto, AxisType.Explicit):
    mesh = jax.make_mesh((8,), ("i",), axis_types=(kind,))
    x = jax.device_put(jnp.arange(48.0).reshape(16, 3), NamedSharding(mesh, P("i")))
    y = jax.device_put(jnp.arange(2.0), NamedSharding(mesh, P()))
    for checked in (True, False):
        def over(f, specs):
            return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=specs, out_specs=P("i"), check_vma=checked))
        found = over(soft, (P("i"),))(x)
        assert found.sharding.spec[0] == "i"
        np.testing.assert_allclose(found, jax.nn.softmax(np.asarray(x)), rtol=1e-5)
        local = over(lambda x, y: saxpy(x, y, 2.0), (P("i"), P()))
        column = x[:, 0]
        np.testing.assert_allclose(local(column, y), 2 * np.asarray(column) + np.tile(np.arange(2.0), 8))
        by = jax.jit(jax.grad(lambda x, y: (local(x, y) ** 2).sum(), (0, 1)))(column, y)
        value = 2 * np.asarray(column) + np.tile(np.arange(2.0), 8)
        np.testing.assert_allclose(by[0], 4 * value)
        np.testing.assert_allclose(by[1], (2 * value).reshape(8, 2).sum(0))
mesh = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Auto,))
rows = jax.device_put(jnp.arange(48.0).reshape(16, 3), NamedSharding(mesh, P("i")))
column = jax.device_put(jnp.arange(16.0), NamedSharding(mesh, P("i")))
scale = pkj.primitive(scaled)


def looked(function, *args):
    jitted = jax.jit(function)
    found = jitted(*args)
    return found, "all-gather" in jitted.lower(*args).compile().as_text()


found, gathers = looked(soft, rows)
np.testing.assert_allclose(found, jax.nn.softmax(np.asarray(rows)), rtol=1e-5)
assert not gathers and found.sharding.spec[0] == "i"
assert (soft.sharding, soft.whole) == ("i j -> i j", ("j",))
for function in (lambda x: saxpy(x, x, 2.0), jax.grad(lambda x: (saxpy(x, x, 2.0) ** 2).sum())):
    found, gathers = looked(function, column)
    np.testing.assert_allclose(found, function(jnp.arange(16.0)), rtol=1e-5)
    assert not gathers and found.sharding.spec[0] == "i"
assert saxpy.sharding == "i, i -> i"
square = jax.device_put(jnp.arange(64.0).reshape(8, 8) / 64, NamedSharding(mesh, P("i")))
weighed, mixed = pkj.primitive(weights), pkj.primitive(turned)
for function, expected, letters in (
    (weighed, lambda x, w: jax.nn.softmax(x) * w, "i j, j -> i j"),
    (mixed, lambda x, w: x + x.T * w, "i0 i1, i0 -> i0 i1"),
):
    w = jnp.arange(8.0)
    found, _ = looked(function, square, w)  # sums over both axes share what they begin with
    np.testing.assert_allclose(found, expected(square, w), rtol=1e-5)
    assert function.sharding == letters, function.sharding
    by, _ = looked(jax.grad(lambda x, w: (function(x, w) ** 2).sum(), (0, 1)), square, w)
    wanted = jax.grad(lambda x, w: (expected(x, w) ** 2).sum(), (0, 1))(square, w)
    for mine, theirs in zip(by, wanted):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
across = jax.device_put(np.asarray(rows).T.copy(), NamedSharding(mesh, P(None, "i")))
found, _ = looked(soft, across)
np.testing.assert_allclose(found, jax.nn.softmax(np.asarray(across)), rtol=1e-5)
found, _ = looked(scale, column)
np.testing.assert_allclose(found, np.arange(16.0) / 16)
step = pkj.primitive(heat, inout={"new": 0})
found, _ = looked(lambda x: step(x, x, 0.1), rows)
np.testing.assert_allclose(found, step(np.asarray(rows), np.asarray(rows), 0.1), rtol=1e-6)

mesh = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Explicit,))
jax.set_mesh(mesh)
plain, x = np.asarray(rows), jax.device_put(np.asarray(rows), P("i"))


def loss(f):
    return lambda x: (f(x) ** 2).sum()


def double(f):
    return lambda x: jax.jvp(jax.grad(loss(f)), (x,), (x,))[1]


for function, cut in (
    (lambda f: f, P("i", None)), (jax.vmap, P("i", None)), (lambda f: jax.grad(loss(f)), P("i", None)),
    (double, P("i", None)), (lambda f: jax.vmap(jax.grad(loss(f))), P("i", None)),
    (lambda f: lambda x: f(x.T), P(None, None)),  # the axis of the sums is whole
):
    expected = function(jax.nn.softmax)(jnp.asarray(plain))
    for call in (function(soft), jax.jit(function(soft))):
        found = call(x)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
        assert jax.typeof(found).sharding.spec == cut, jax.typeof(found)
found = jax.jit(scale)(jax.device_put(np.arange(16.0, dtype=np.float32), P("i")))
np.testing.assert_allclose(found, np.arange(16.0) / 16)
print("right")
"""


def _on_eight_devices(*program: str) -> None:
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, *program], env=os.environ | flags, capture_output=True, text=True, timeout=800
    )
    assert "right" in done.stdout, done.stderr[-3000:]


def test_many_devices():
    _on_eight_devices("-c", SCRIPT)


def test_halos():
    _on_eight_devices("-m", "tests.interop.jax.halos")
