"""A small transformer trained in PyTorch, with layers that pykern computes: the loss falls as it does without them.

The same model is trained three times from the same weights on the same batches: as it is; with its norms and
activations replaced by array programs (`pkt.fuse`); and compiled by ``torch.compile(backend="pykern")``, where parts of
the forward and backward graphs become programs. It learns the characters of a text of Python's standard library.

    python examples/torch_transformer.py [--steps 200] [--width 64] [--layers 2] [--picture FILE]
"""

from __future__ import annotations

import argparse
import copy
import inspect
import textwrap
import time
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
from torch.nn import functional

import pykern as pk
import pykern.torch as pkt

HEADS, LENGTH, BATCH, RATE = 4, 64, 16, 3e-3
CLOSE = 2e-2
"""Sums of f32 in another order differ in the last digits, which training enlarges: the loss may differ by this."""


class Block(torch.nn.Module):
    """Attention and a gated feed-forward layer, each behind a norm."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.before_attention, self.before_gate = torch.nn.RMSNorm(width), torch.nn.RMSNorm(width)
        self.queries = torch.nn.Linear(width, 3 * width, bias=False)
        self.mixed = torch.nn.Linear(width, width, bias=False)
        self.gate, self.up = torch.nn.Linear(width, 2 * width), torch.nn.Linear(width, 2 * width)
        self.activation, self.down = torch.nn.SiLU(), torch.nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        heads = self.queries(self.before_attention(x)).view(batch, length, 3, HEADS, width // HEADS)
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.mixed(seen.transpose(1, 2).reshape(batch, length, width))
        y = self.before_gate(x)
        return x + self.down(self.activation(self.gate(y)) * self.up(y))


class Transformer(torch.nn.Module):
    """Characters to the odds of the next one."""

    def __init__(self, characters: int, width: int, layers: int) -> None:
        super().__init__()
        self.characters = torch.nn.Embedding(characters, width)
        self.places = torch.nn.Embedding(LENGTH, width)
        self.blocks = torch.nn.Sequential(*(Block(width) for _ in range(layers)))
        self.norm, self.odds = torch.nn.LayerNorm(width), torch.nn.Linear(width, characters)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        x = self.characters(text) + self.places.weight[: text.shape[1]]
        return self.odds(self.norm(self.blocks(x)))


def train(model: Any, text: torch.Tensor, steps: int) -> tuple[list[float], float]:
    """The loss of each step, and milliseconds of the fastest one."""
    chosen = torch.Generator().manual_seed(1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    losses, fastest = [], float("inf")
    for _ in range(steps):
        starts = torch.randint(len(text) - LENGTH, (BATCH, 1), generator=chosen)
        rows = text[starts + torch.arange(LENGTH + 1)]
        started = time.perf_counter()
        odds = model(rows[:, :-1])
        loss = functional.cross_entropy(odds.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        fastest = min(fastest, 1e3 * (time.perf_counter() - started))
        losses.append(loss.item())
    return losses, fastest


def draw(losses: dict[str, list[float]], path: str) -> None:
    """The losses over the steps."""
    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for (name, found), style in zip(losses.items(), ("-", "--", ":"), strict=True):
        axis.plot(found, style, label=name)
    axis.set(xlabel="step", ylabel="loss, nats a character")
    axis.legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a small transformer three times.")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--picture", help="a file for the curves")
    options = parser.parse_args()

    for library in (torch, pk):
        library.set_num_threads(1)  # its matrices are small
    known = inspect.getsource(textwrap)
    letters = sorted(set(known))
    text = torch.tensor([letters.index(c) for c in known])
    torch.manual_seed(0)
    stock = Transformer(len(letters), options.width, options.layers)
    fused, plain = copy.deepcopy(stock), copy.deepcopy(stock)
    print(pkt.fuse(fused))
    compiled = torch.compile(plain, backend="pykern")

    losses = {}
    for name, model in (("PyTorch", stock), ("layers replaced", fused), ("compiled", compiled)):
        losses[name], fastest = train(model, text, options.steps)
        print(f"{name:16} loss {losses[name][0]:.4f} to {losses[name][-1]:.4f}, {fastest:6.1f} ms a step")
    print(pkt.summary(compiled))
    for name in ("layers replaced", "compiled"):
        pairs = zip(losses[name], losses["PyTorch"], strict=True)
        worst = max(abs(mine / theirs - 1) for mine, theirs in pairs)
        print(f"{name}: every loss as PyTorch's, to {worst:.1e}")
        assert worst < CLOSE, f"{name} learns something else"
    assert losses["PyTorch"][-1] < losses["PyTorch"][0]
    if options.picture:
        draw(losses, options.picture)


if __name__ == "__main__":
    main()
