"""A usual file of a user: no checker has anything to say about it, in its strict mode."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import pykern as pk

Field = npt.NDArray[np.float32]


@pk.func
def flux(a: float, b: float) -> float:
    return (a - b) * 0.5


@pk.kernel
def heat(new: pk.Out[pk.f32[:, :]], old: pk.In[pk.f32[:, :]], dt: pk.f32, steps: pk.static) -> None:
    i, j = pk.index()
    if 0 < i < old.shape[0] - 1 and 0 < j < old.shape[1] - 1:
        total = 0.0
        for _ in range(steps):
            total += flux(old[i + 1, j], dt) + pk.sqrt(old[i, j + 1]) * dt
        new[i, j] = total


@pk.kernel(workgroup=(8, 8), debug=True)
def scale(x: pk.f32[:, 64], a: pk.f64) -> None:
    i, j = pk.index()
    part = pk.shared((8, 8), pk.f32)
    part[0, 0] = x[i, j]
    pk.barrier()
    x[i, j] = part[0, 0] * a


@pk.jit
def energy(x: Field) -> float:
    return float((x * x).sum())


def main() -> None:
    old: Field = np.ones((64, 64), np.float32)
    new = np.zeros_like(old)
    event = heat(new, old, 0.1, 3, ndrange=old.shape, workgroup=(8, 8))
    event.wait()
    heat(new, old, 0.1, 3, ndrange=(range(1, 63), 64), device="cpu")
    there = pk.asarray(old, device="cpu")
    stream = pk.Stream("cpu")
    scale(there, 2.0, ndrange=there.shape, stream=stream).wait()
    print(there.numpy().mean(), energy(old))
    loss, slope = pk.value_and_grad(energy)(old)
    print(loss, slope)
    lowered = heat.lower(
        pk.spec(("n", "m"), pk.f32), pk.spec(("n", "m"), pk.f32), pk.f32, 3, ndrange=("n", "m"), target="llvm"
    )
    print(lowered.as_text("kern"), lowered.compile().asm())
    try:
        scale(old, 1.0, ndrange=old.shape)
    except pk.LaunchError as error:
        print(error.code, error.span)


if __name__ == "__main__":
    main()
