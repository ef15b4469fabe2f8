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
from tests.interop.jax.functions import axpy, softmax

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
print("right")
"""


def test_shard_map():
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=os.environ | flags, capture_output=True, text=True, timeout=300
    )
    assert "right" in done.stdout, done.stderr[-3000:]
