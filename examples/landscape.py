"""Twenty million years of soil creep: hill-slope diffusion over a real elevation model.

Soil creeps downhill in proportion to the slope, so elevation z obeys dz/dt = D laplacian(z) [Culling 1960].
The terrain is the Jacksboro fault in Tennessee, 344 x 403 cells of about 75 x 93 m (USGS, 3 arc seconds),
which matplotlib ships. No soil leaves the map: what one cell loses its neighbour gains, to the last bit,
so the volume is conserved to rounding.

The kernel is run for thousands of steps, compared with the same steps in NumPy, timed beside it, and taken
through its stages of compilation. A picture of before and after is written.

    python examples/landscape.py [--steps 4000] [--picture landscape.png]
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib import cbook
from matplotlib.colors import LightSource

import pykern as pk

DIFFUSIVITY = 0.01  # m^2 / year: soil in a humid climate
STEP = 5_000.0  # years; stable below 1 / (2 D (1/dx^2 + 1/dy^2)), which is 170,000 here
METRES_PER_DEGREE = 111_200.0


@pk.kernel
def creep(new, z, across, along):
    """One step of one cell; `across` and `along` are D dt / dx^2 and D dt / dy^2."""
    i, j = pk.index()
    rows, columns = z.shape
    here = z[i, j]
    gain = 0.0
    if i > 0:
        gain += along * (z[i - 1, j] - here)
    if i < rows - 1:
        gain += along * (z[i + 1, j] - here)
    if j > 0:
        gain += across * (z[i, j - 1] - here)
    if j < columns - 1:
        gain += across * (z[i, j + 1] - here)
    new[i, j] = here + gain


def creep_numpy(z, across, along):
    """The same step in NumPy, by fluxes: what crosses a border leaves one cell and enters the other."""
    south, east = along * np.diff(z, axis=0), across * np.diff(z, axis=1)
    new = z.copy()
    new[:-1] += south
    new[1:] -= south
    new[:, :-1] += east
    new[:, 1:] -= east
    return new


@dataclass(frozen=True)
class Terrain:
    """Elevation in metres, and the size of a cell in metres."""

    z: np.ndarray
    dx: float
    dy: float


def read_terrain() -> Terrain:
    """The elevation model; its cells are equal in degrees, so narrower in metres away from the equator."""
    with np.load(cbook.get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as data:
        latitude = math.radians(float(data["ymin"] + data["ymax"]) / 2)
        return Terrain(
            z=data["elevation"].astype(np.float64),
            dx=METRES_PER_DEGREE * float(data["dx"]) * math.cos(latitude),
            dy=METRES_PER_DEGREE * float(data["dy"]),
        )


def run_kernel(z, across, along, steps):
    """The terrain after `steps` steps. Two arrays take turns: one is read while the other is written."""
    z, new = z.copy(), np.empty_like(z)
    for _ in range(steps):
        creep(new, z, across, along, ndrange=z.shape)
        z, new = new, z
    return z


def run_numpy(z, across, along, steps):
    for _ in range(steps):
        z = creep_numpy(z, across, along)
    return z


def timed(function, *args):
    """What `function` returns and the seconds it took."""
    started = time.perf_counter()
    result = function(*args)
    return result, time.perf_counter() - started


def draw(terrain: Terrain, after: np.ndarray, years: float, path: str) -> None:
    """Hill-shaded maps before and after, above a profile from west to east through the middle."""
    later = f"after {years / 1e6:.0f} million years"
    light = LightSource(azdeg=315, altdeg=45)
    row = terrain.z.shape[0] // 2
    east = np.arange(terrain.z.shape[1]) * terrain.dx / 1000
    extent = (0, east[-1], 0, terrain.z.shape[0] * terrain.dy / 1000)
    figure, axes = plt.subplot_mosaic(
        [["before", "after"], ["profile"] * 2],
        height_ratios=(2.4, 1),
        figsize=(11, 8),
        layout="constrained",
    )
    for name, z, title in (("before", terrain.z, "today"), ("after", after, later)):
        shaded = light.shade(
            z, plt.get_cmap("gist_earth"), vert_exag=2, dx=terrain.dx, dy=terrain.dy, blend_mode="overlay",
            vmin=terrain.z.min() - 200, vmax=terrain.z.max(),
        )  # fmt: skip
        axes[name].imshow(shaded, extent=extent)
        axes[name].axhline(extent[3] - row * terrain.dy / 1000, color="white", linewidth=0.8, linestyle="--")
        axes[name].set(title=title, xlabel="east (km)", ylabel="north (km)")
    profile = axes["profile"]
    profile.plot(east, terrain.z[row], color="0.6", label="today")
    profile.plot(east, after[row], color="tab:red", label=later)
    profile.set(title="along the dashed line", xlabel="east (km)", ylabel="elevation (m)", xlim=extent[:2])
    profile.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def show_stages(new, z, across, along) -> None:
    """The way of the kernel from Python to machine code, with the time of each part of it."""
    stages = creep.lower(new, z, across, along, ndrange=z.shape).stages
    parts: dict[str, list[float]] = {}
    part = "frontend: Python to the kern dialect"
    for stage in stages:
        if stage.name == "kern-simplify":
            part = "passes over loops and vectors"
        elif stage.name.startswith("convert-") and "passes" in part:
            part = "lowering to LLVM IR"
        elif stage.name == "llvm-parse":
            part = "code generation"
        elif stage.name == "link":
            part = "linking"
        parts.setdefault(part, []).append(stage.ms)
    print(f"\n{len(stages)} stages from Python to machine code, {sum(s.ms for s in stages):.1f} ms:")
    for part, times in parts.items():
        print(f"  {sum(times):7.2f} ms  {part} ({len(times)})")
    print("  each of them: print(creep.lower(...)), or `pykern explore`")


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--steps", type=int, default=4000, help="steps of 5,000 years")
    options.add_argument("--picture", default="landscape.png", help="where to write the picture")
    options = options.parse_args()

    terrain = read_terrain()
    z, steps = terrain.z, options.steps
    across, along = (DIFFUSIVITY * STEP / side**2 for side in (terrain.dx, terrain.dy))
    print(f"{z.shape[0]} x {z.shape[1]} cells of {terrain.dx:.0f} x {terrain.dy:.0f} m, {steps} steps")

    _, first = timed(run_kernel, z, across, along, 1)
    after, seconds = timed(run_kernel, z, across, along, steps)
    expected, numpy_seconds = timed(run_numpy, z, across, along, steps)
    per_step, numpy_per_step = seconds / steps * 1e6, numpy_seconds / steps * 1e6
    print(f"first call    {first * 1e3:9.1f} ms   compiled here, or read from the cache")
    print(f"pykern        {per_step:9.1f} us a step")
    print(f"NumPy         {numpy_per_step:9.1f} us a step   {numpy_per_step / per_step:.1f} times as long")

    np.testing.assert_allclose(after, expected, rtol=1e-12)
    print(f"same as NumPy to {np.abs(after / expected - 1).max():.1e} (relative)")

    drift = math.fsum((after - z).ravel()) / math.fsum(z.ravel())
    assert abs(drift) < 1e-13 * max(1, steps) ** 0.5, f"volume changed by {drift:.1e}"
    print(f"volume conserved to {abs(drift):.1e}; summit {z.max():.0f} m -> {after.max():.0f} m")

    show_stages(np.empty_like(z), z, across, along)
    draw(terrain, after, steps * STEP, options.picture)
    print(f"\npicture: {options.picture}")


if __name__ == "__main__":
    main()
