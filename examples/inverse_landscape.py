"""Which soil made this landscape? A map of diffusivity, recovered from two later terrains by its gradient.

Soil creeps downhill at a rate that depends on the ground, so elevation z obeys dz/dt = div(D grad z). Two
weak zones, where soil moves faster, are the truth here. Given are today's terrain (examples/landscape.py)
and the terrain at two later times; sought is log D, a sum of smooth bumps on a coarse grid, which says
nothing of zones. The whole forward run, bumps to misfit, is one `@pk.jit` program with the creep kernel
inside its time loop: `pk.value_and_grad` gives the misfit and its gradient, `pk.binomial` holds the memory
of the loop down, and L-BFGS [Nocedal 1980] descends.

    python examples/inverse_landscape.py [--coarser 4] [--steps 200] [--iterations 50] [--picture FILE]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from landscape import read_terrain

import pykern as pk

USUAL = 0.01  # m^2 / year: the start, everywhere
STEP = 100_000.0  # years; stable below 1 / (2 D (1/dx^2 + 1/dy^2)), which is 600,000 here
CELLS_PER_BUMP = 6
STATES = 12  # states of the terrain kept by the checkpointed gradient


@pk.kernel
def creep(new, z, d, along, across):
    """One step of one cell. The diffusivity of a border is the mean of its two cells."""
    i, j = pk.index()
    rows, columns = z.shape
    gain = 0.0
    if i > 0:
        gain += along * (d[i - 1, j] + d[i, j]) * (z[i - 1, j] - z[i, j])
    if i < rows - 1:
        gain += along * (d[i + 1, j] + d[i, j]) * (z[i + 1, j] - z[i, j])
    if j > 0:
        gain += across * (d[i, j - 1] + d[i, j]) * (z[i, j - 1] - z[i, j])
    if j < columns - 1:
        gain += across * (d[i, j + 1] + d[i, j]) * (z[i, j + 1] - z[i, j])
    new[i, j] = z[i, j] + gain


@pk.jit
def erode(z, d, along, across, steps: pk.static):
    """The terrain after `steps` steps."""
    for _ in pk.range(steps):
        new = pk.empty_like(z)
        creep(new, z, d, along, across, ndrange=z.shape)
        z = new
    return z


@pk.jit
def misfit(bumps, rows, columns, z, middle, last, along, across, half: pk.static):
    """Mean squared distance, in m^2, from the terrains seen halfway and at the end."""
    d = USUAL * pk.exp(rows @ bumps @ columns)
    halfway = erode(z, d, along, across, half)
    end = erode(halfway, d, along, across, half)
    return 0.5 * ((halfway - middle) ** 2).mean() + 0.5 * ((end - last) ** 2).mean()


@dataclass(frozen=True)
class Setting:
    """What is known: today's terrain, how bumps make a map, and the sizes of cells and steps."""

    z: np.ndarray
    rows: np.ndarray  # a map is rows @ bumps @ columns
    columns: np.ndarray
    along: float  # dt / (2 dy^2): the kernel adds the diffusivities of both cells
    across: float
    half: int  # steps to the middle, and from there to the end

    def arguments(self, bumps, middle, last):
        return bumps, self.rows, self.columns, self.z, middle, last, self.along, self.across, self.half

    def diffusivity(self, bumps):
        return USUAL * np.exp(self.rows @ bumps @ self.columns)


def setting(coarser: int, steps: int) -> Setting:
    """The terrain averaged over squares of `coarser` x `coarser` cells, cut to whole squares."""
    terrain = read_terrain()
    n, m = (length // coarser for length in terrain.z.shape)
    z = terrain.z[: n * coarser, : m * coarser].reshape(n, coarser, m, coarser).mean(axis=(1, 3))
    along, across = (STEP / (2 * (side * coarser) ** 2) for side in (terrain.dy, terrain.dx))
    return Setting(z, gaussians(n), np.ascontiguousarray(gaussians(m).T), along, across, steps // 2)


def gaussians(n: int) -> np.ndarray:
    """Bumps over `n` cells, one for each column, that add up to one at every cell."""
    centres = np.linspace(0, n - 1, max(3, round(n / CELLS_PER_BUMP)))
    height = np.exp(-0.5 * ((np.arange(n)[:, None] - centres) / (0.7 * centres[1])) ** 2)
    return height / height.sum(axis=1, keepdims=True)


def true_diffusivity(shape: tuple[int, int]) -> np.ndarray:
    """A slanted band three times as fast as usual, and a round zone of half the speed."""
    y, x = (np.linspace(0, 1, n) for n in shape)
    y = y[:, None]
    band = np.exp(-(((x - 0.25 - 0.3 * y) / 0.13) ** 2))
    zone = np.exp(-(((x - 0.78) / 0.16) ** 2) - ((y - 0.4) / 0.25) ** 2)
    return USUAL * np.exp(np.log(3.0) * band - np.log(2.0) * zone)


def descend(function, x, iterations, memory=20):
    """L-BFGS: yields `(x, value)` of the start and of every iteration; `function` gives value and gradient."""
    value, gradient = function(x)
    yield x, value
    pairs = []
    for _ in range(iterations):
        new, new_value, new_gradient = backtrack(function, x, value, gradient, direction(gradient, pairs))
        s, y = new - x, new_gradient - gradient
        if np.vdot(s, y) > 0:
            pairs = [*pairs, (s, y)][-memory:]
        x, value, gradient = new, new_value, new_gradient
        yield x, value


def direction(gradient, pairs):
    """Minus the inverse Hessian, as the last steps saw it, times the gradient; never a step beyond 0.5."""
    q, weights = gradient.copy(), []
    for s, y in reversed(pairs):
        weights.append(np.vdot(s, q) / np.vdot(s, y))
        q -= weights[-1] * y
    if pairs:
        s, y = pairs[-1]
        q *= np.vdot(s, y) / np.vdot(y, y)
    for (s, y), weight in zip(pairs, reversed(weights), strict=True):
        q += (weight - np.vdot(y, q) / np.vdot(s, y)) * s
    largest = np.abs(q).max()
    return -q * (1.0 if pairs and largest < 0.5 else 0.5 / largest)


def backtrack(function, x, value, gradient, step):
    """The first of x + step, x + step / 2, ... that lowers the value enough, with its value and gradient."""
    slope = np.vdot(gradient, step)
    for halvings in range(30):
        new = x + step / 2**halvings
        new_value, new_gradient = function(new)
        if new_value <= value + 1e-4 * slope / 2**halvings:
            return new, new_value, new_gradient
    return x, value, gradient  # no step lowers it: x is as good as rounding allows


def check_gradient(known: Setting, value_and_grad, bumps, middle, last) -> None:
    """The gradient along a random direction against central differences."""
    v = np.random.default_rng(1).standard_normal(bumps.shape)
    step = 1e-4
    ahead, behind = (misfit(*known.arguments(bumps + h * v, middle, last)) for h in (step, -step))
    expected = (ahead - behind) / (2 * step)
    found = np.vdot(value_and_grad(*known.arguments(bumps, middle, last))[1], v)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    print(f"gradient along a random direction: finite differences agree to {abs(found / expected - 1):.1e}")


def fastest(program, arguments, times=5) -> float:
    """Milliseconds of the fastest of some calls."""
    program(*arguments)  # compiles
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        program(*arguments)
        seconds.append(time.perf_counter() - started)
    return 1e3 * min(seconds)


def scratch_mib(program, arguments) -> float:
    """Memory a call takes beside its arguments and results."""
    layout = program.lower(*arguments).artifact.program
    return layout.scratch_bytes / 2**20


def compare_costs(arguments, kept, checkpointed) -> None:
    """Time and memory of the misfit, and of its gradient with and without checkpoints."""
    named = {
        "forward": misfit,
        "gradient, every state kept": kept,
        f"gradient, {STATES} states kept": checkpointed,
    }
    times = {name: fastest(program, arguments) for name, program in named.items()}
    for name, ms in times.items():
        ratio, mib = ms / times["forward"], scratch_mib(named[name], arguments)
        print(f"{name:27} {ms:8.1f} ms ({ratio:4.1f} times forward) {mib:8.2f} MiB of scratch")


def draw(maps: dict[str, np.ndarray], z: np.ndarray, path: str) -> None:
    """Maps of diffusivity beside each other, with the contours of the terrain."""
    figure, axes = plt.subplots(1, len(maps), figsize=(4.6 * len(maps), 4), layout="constrained")
    low, high = maps["truth"].min(), maps["truth"].max()
    for axis, (name, d) in zip(axes, maps.items(), strict=True):
        image = axis.imshow(d, vmin=low, vmax=high, cmap="viridis")
        axis.contour(z, levels=8, colors="white", linewidths=0.4, alpha=0.6)
        axis.set(title=name, xticks=[], yticks=[])
    figure.colorbar(image, ax=axes, label="diffusivity (m$^2$ / year)")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--coarser", type=int, default=4, help="cells averaged to one, each way")
    options.add_argument("--steps", type=int, default=200, help="steps of 100,000 years")
    options.add_argument("--iterations", type=int, default=50, help="iterations of L-BFGS")
    options.add_argument("--picture", default="inverse_landscape.png", help="where to write the picture")
    options = options.parse_args()

    known = setting(options.coarser, options.steps)
    truth = true_diffusivity(known.z.shape)
    middle = erode(known.z, truth, known.along, known.across, known.half)
    last = erode(middle, truth, known.along, known.across, known.half)
    start = np.zeros((known.rows.shape[1], known.columns.shape[0]))
    arguments = known.arguments(start, middle, last)
    print(f"{known.z.shape[0]} x {known.z.shape[1]} cells, {2 * known.half} steps, {start.size} unknowns")

    checkpointed = pk.value_and_grad(misfit, checkpoint=pk.binomial(STATES))
    compare_costs(arguments, pk.value_and_grad(misfit), checkpointed)
    check_gradient(known, checkpointed, start, middle, last)

    started, first, found, value = time.perf_counter(), 0.0, start, 0.0
    path = descend(lambda x: checkpointed(*known.arguments(x, middle, last)), start, options.iterations)
    for n, (found, value) in enumerate(path):
        first = first or value
        if n % max(1, options.iterations // 10) == 0:
            error = np.abs(np.log(known.diffusivity(found) / truth)).mean()
            print(
                f"iteration {n:4}   misfit {value:12.6f} m^2   mean error of D {100 * np.expm1(error):5.2f} %"
            )
    print(f"misfit fell {first / value:.0f} times in {time.perf_counter() - started:.1f} s")

    d = known.diffusivity(found)
    draw({"truth": truth, "start": known.diffusivity(start), "recovered": d}, known.z, options.picture)
    print(f"picture: {options.picture}")


if __name__ == "__main__":
    main()
