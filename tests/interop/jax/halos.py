"""`pkj.halo` on eight devices, against the array as one: a program of its own, see `test_many_devices`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pykern as pk
import pykern.jax as pkj
from pykern.errors import KernelTypeError

MESHES = {(8,): ("a",), (4, 2): ("a", "b"), (2, 2, 2): ("a", "b", "c"), (8, 1): ("a", "b")}
SPECS = [
    P("a"), P(None, "a"), P("a", "b"), P("b", None, "a"), P(("a", "b")), P("a", "b", "c"), P("a", None, ("b", "c")),
]  # fmt: skip
WAYS: list[dict[str, Any]] = [
    {"width": 1},
    {"width": 2, "periodic": True},
    {"width": 2, "edges": "repeat"},
    {"width": 1, "edges": 7.5},
]
random = np.random.default_rng(3)


def names_of(spec: Any) -> list[tuple[str, ...]]:
    """The axes of the mesh along which each dimension is cut."""
    return [() if axes is None else (axes,) if isinstance(axes, str) else tuple(axes) for axes in spec]


def wide_parts(whole: np.ndarray, counts: list[int], way: dict[str, Any]) -> np.ndarray:
    """Every part with its halo, side by side: cut out of the padded array by NumPy."""
    w = way["width"]
    for dim, count in enumerate(counts):
        if not count:
            continue
        pads = [(w, w) if d == dim else (0, 0) for d in range(whole.ndim)]
        if way.get("periodic"):
            padded = np.pad(whole, pads, "wrap")
        elif way.get("edges") == "repeat":
            padded = np.pad(whole, pads, "edge")
        else:
            padded = np.pad(whole, pads, constant_values=way.get("edges", 0))
        length = whole.shape[dim] // count
        parts = [np.take(padded, range(k * length, (k + 1) * length + 2 * w), dim) for k in range(count)]
        whole = np.concatenate(parts, dim)
    return whole


def over(mesh: Any, spec: Any, function: Any, checked: bool) -> Any:
    """The function on the parts of an array."""
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=checked))


def check_halos(mesh: Any, spec: Any, way: dict[str, Any], checked: bool) -> None:
    """Values, the way back, and gradients."""
    names = names_of(spec)
    counts = [int(np.prod([mesh.shape[n] for n in axes])) if axes else 0 for axes in names]
    whole = random.random((16, 16, 16)[: max(2, len(names))])
    shared = jax.device_put(jnp.asarray(whole), NamedSharding(mesh, spec))
    halos = over(mesh, spec, lambda x: pkj.halo(x, spec, **way), checked)
    found, expected = halos(shared), wide_parts(whole, counts, way)
    np.testing.assert_array_equal(found, expected)
    sides = {k: v for k, v in way.items() if k != "edges"}
    back = over(mesh, spec, lambda x: pkj.owned(pkj.halo(x, spec, **way), spec, **sides), checked)
    np.testing.assert_array_equal(back(shared), whole)
    weights = random.random(expected.shape)
    gradient = jax.jit(jax.grad(lambda x: (halos(x) * weights).sum()))(shared)
    numbers = np.arange(whole.size, dtype=float).reshape(whole.shape)
    outside = {**way, "edges": -1} if way.get("edges") != "repeat" else way
    places = wide_parts(numbers, counts, outside)  # which element each of the parts is
    sums = np.bincount(places[places >= 0].astype(int), weights[places >= 0], whole.size)
    np.testing.assert_allclose(gradient, sums.reshape(whole.shape), rtol=1e-12)


@pk.kernel
def wave(after, now, c):
    """A step that looks two elements along rows and one along columns."""
    i, j = pk.index()
    n, m = now.shape
    if 1 < i < n - 2 and 0 < j < m - 1:
        around = now[i + 2, j] + now[i - 2, j] + now[i, j + 1] + now[i, j - 1]
        after[i, j] = now[i, j] + c * (around - 4 * now[i, j])


def check_kernel(width: Any, edges: bool) -> None:
    """A kernel that leaves its rim alone, on parts and as one; a batch, and gradients."""
    mesh = jax.make_mesh((4, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
    spec, step = P("a", "b"), pkj.primitive(wave, inout={"after": 0})

    def on_part(x: Any) -> Any:
        for _ in range(3):
            wide = pkj.halo(x, spec, width, periodic=not edges)
            x = pkj.owned(step(wide, wide, 0.1), spec, width, periodic=not edges, edges=x if edges else None)
        return x

    def on_one(x: Any) -> Any:
        for _ in range(3):
            if edges:
                x = step(x, x, 0.1)
            else:
                wide = jnp.pad(x, ((2, 2), (1, 1)), "wrap")
                x = step(wide, wide, 0.1)[2:-2, 1:-1]
        return x

    x = jnp.asarray(random.random((16, 12)))
    parts = over(mesh, spec, on_part, True)
    np.testing.assert_allclose(parts(x), on_one(x), rtol=1e-14)
    gradients = [jax.grad(lambda x, f=f: (f(x) ** 2).sum())(x) for f in (parts, on_one)]
    np.testing.assert_allclose(*gradients, rtol=1e-12)
    several = jnp.stack([x, 2 * x])
    np.testing.assert_allclose(jax.vmap(parts)(several), jax.vmap(on_one)(several), rtol=1e-14)


def check_refusals() -> None:
    """What cannot be is said by name."""
    mesh = jax.make_mesh((8,), ("a",), axis_types=(AxisType.Auto,))
    x = jnp.zeros((16, 2))
    cases: list[tuple[Any, str]] = [
        (lambda x: pkj.halo(x, "b"), "no axis 'b' of a mesh"),
        (lambda x: pkj.halo(x, "a", 3), "2 elements, and its halo 3"),
        (lambda x: pkj.halo(x, "a", 1.5), "not 1.5"),
        (lambda x: pkj.halo(x, "a", -1), "not -1"),
        (lambda x: pkj.halo(x, "a", (1, 1)), "2 widths and 1 flags are given for 1 dimensions"),
        (lambda x: pkj.halo(x, ("a", None, None)), "2 dimensions is not cut along 3"),
        (lambda x: pkj.halo(x, "a", edges="mirror"), "neither a number nor 'repeat'"),
        (lambda x: pkj.owned(pkj.halo(x, "a"), "a", edges=x[:1]), "`edges` has the shape"),
    ]
    for function, said in cases:
        with pytest.raises(KernelTypeError, match=said):
            over(mesh, P("a"), function, True)(x)
    with pytest.raises(KernelTypeError, match=r"inside of jax\.shard_map"):
        pkj.halo(x, "a")


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    for shape, axes in MESHES.items():
        kind = AxisType.Explicit if len(shape) == 3 else AxisType.Auto
        mesh = jax.make_mesh(shape, axes, axis_types=(kind,) * len(axes))
        for spec in SPECS:
            if {n for each in names_of(spec) for n in each} <= set(axes):
                for n, way in enumerate(WAYS):
                    check_halos(mesh, spec, way, checked=n % 2 == 0)
    for edges in (False, True):
        for width in (wave, pkj.primitive(wave, inout={"after": 0}), (2, 1)):
            check_kernel(width, edges)
    check_refusals()
    print("right")
