"""A network inside of a simulation: how a material conducts heat, learnt from pictures of it.

Heat spreads in rods by dT/dt = d/dx (k(T) dT/dx). A small network of PyTorch stands for the unknown conductivity k(T);
a pykern kernel makes the steps. Given are temperatures at the beginning and at a few later times. The gradient goes
back through all steps, through the kernel by `pkt.op` and through the network by autograd, and Adam descends. The
kernel's gradients are compared with PyTorch's of the same step written with tensors.

    python examples/torch_conductivity.py [--rods 8] [--cells 48] [--epochs 60] [--picture FILE]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch

import pykern as pk
import pykern.torch as pkt

STEPS, SEEN = 30, 10
"""Steps of a run, and after how many each the rods are looked at."""
DT = 0.2
"""In units of the square of a cell's length: stable for conductivities up to 2.5."""


@pk.kernel
def conduct(after, before, k, dt):
    """A step of each cell of each rod; `k` is the conductivity of cells, nothing leaves at the ends."""
    rod, i = pk.index()
    gain = 0.0
    if i > 0:
        gain += (k[rod, i - 1] + k[rod, i]) * (before[rod, i - 1] - before[rod, i])
    if i < before.shape[1] - 1:
        gain += (k[rod, i + 1] + k[rod, i]) * (before[rod, i + 1] - before[rod, i])
    after[rod, i] = before[rod, i] + 0.5 * dt * gain


step = pkt.op(conduct, out={"after": pkt.like("before")}, ndrange=lambda before, k, dt: before.shape)


def step_of_tensors(before: torch.Tensor, k: torch.Tensor, dt: float) -> torch.Tensor:
    """The same without a kernel."""
    flux = 0.5 * dt * (k[:, 1:] + k[:, :-1]) * (before[:, 1:] - before[:, :-1])
    return before + torch.nn.functional.pad(flux, (0, 1)) - torch.nn.functional.pad(flux, (1, 0))


def true_conductivity(t: torch.Tensor) -> torch.Tensor:
    """It falls steeply where the material melts."""
    return 0.4 + 1.2 * torch.sigmoid(12 * (0.5 - t))


class Conductivity(torch.nn.Module):
    """A function of the temperature that is never negative."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(1, 24),
            torch.nn.Tanh(),
            torch.nn.Linear(24, 24),
            torch.nn.Tanh(),
            torch.nn.Linear(24, 1),
        )

    def forward(self, t: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.softplus(self.layers(2 * t[..., None] - 1)[..., 0])


def simulate(t: torch.Tensor, conductivity: Callable, make_step: Callable = step) -> torch.Tensor:
    """The temperatures at all times at which the rods are looked at."""
    seen = []
    for n in range(1, STEPS + 1):
        t = make_step(t, conductivity(t), DT)
        if n % SEEN == 0:
            seen.append(t)
    return torch.stack(seen)


def rods(count: int, cells: int) -> torch.Tensor:
    """Each rod has a hot middle of another place and breadth."""
    x, n = torch.linspace(0, 1, cells), torch.arange(count)[:, None]
    return torch.sigmoid(40 * (0.1 + 0.02 * n - (x - 0.3 - 0.4 * n / count).abs()))


def check_gradients(start: torch.Tensor, seen: torch.Tensor, network: torch.nn.Module) -> None:
    """The gradient by the network's weights, with the kernel and without it."""
    found, expected = (
        torch.autograd.grad(
            (simulate(start, network, one) - seen).square().mean(), list(network.parameters())
        )
        for one in (step, step_of_tensors)
    )
    for mine, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-8)
    print(f"gradients by {len(found)} tensors of weights, through {STEPS} steps: as without the kernel")


def draw(t: torch.Tensor, k: torch.Tensor, seen: torch.Tensor, found: torch.Tensor, path: str) -> None:
    """The conductivity, and one rod."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    left.plot(t, true_conductivity(t), label="truth")
    left.plot(t, k, "--", label="learnt")
    left.set(xlabel="temperature", ylabel="conductivity")
    left.legend()
    for n, (given, made) in enumerate(zip(seen[:, 0], found[:, 0], strict=True)):
        right.plot(given, f"C{n}", label=f"after {SEEN * (n + 1)} steps")
        right.plot(made, "k:")
    right.set(xlabel="cell of the first rod", ylabel="temperature")
    right.legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn a conductivity from temperatures.")
    parser.add_argument("--rods", type=int, default=8)
    parser.add_argument("--cells", type=int, default=48)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--picture", help="a file for what was learnt")
    options = parser.parse_args()

    for library in (torch, pk):
        library.set_num_threads(1)  # a few rods are little work
    torch.manual_seed(0)
    start, network = rods(options.rods, options.cells), Conductivity()
    seen = simulate(start, true_conductivity)
    check_gradients(start, seen, network)

    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    t = torch.linspace(0.05, 0.95, 64)
    truth, first, misfit, started = true_conductivity(t), None, torch.tensor(0.0), time.perf_counter()
    for _ in range(options.epochs):
        misfit = (simulate(start, network) - seen).square().mean()
        first = misfit.item() if first is None else first
        optimizer.zero_grad()
        misfit.backward()
        optimizer.step()
    with torch.no_grad():
        k, found = network(t), simulate(start, network)
    ms = 1e3 * (time.perf_counter() - started) / options.epochs
    error = ((k - truth).norm() / truth.norm()).item()
    print(f"misfit {first:.1e} to {misfit.item():.1e} in {options.epochs} epochs of {ms:.1f} ms")
    print(f"error of the conductivity {100 * error:.1f} %")
    if options.picture:
        draw(t, k, seen, found, options.picture)


if __name__ == "__main__":
    main()
