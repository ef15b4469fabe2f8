"""Models of the kinds that people compile: small, and written here."""

from __future__ import annotations

import math
from typing import Any

from pykern.pytest_plugin import need_package

torch = need_package("torch")
nn: Any = torch.nn


class Block(nn.Module):
    """A transformer's block with causal attention written out."""

    def __init__(self, width: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mixed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        return self.feed(self.between(y := x + self.attention(self.before(x)))) + y

    def attention(self, x):
        batch, length, width = x.shape
        parts = self.mixed(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = parts
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))


class Residual(nn.Module):
    """Convolutions, norms of batches with running statistics, and a sum around them."""

    def __init__(self, channels: int = 4) -> None:
        super().__init__()
        self.first, self.second = (nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(2))
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))
        self.last = nn.Linear(channels, 3)

    def forward(self, x):
        y = torch.relu(self.norms[0](self.first(x)))
        y = torch.relu(self.norms[1](self.second(y)) + x)
        return self.last(y.mean((2, 3)))


class Gated(nn.Module):
    """RMS norm and a gated feed-forward layer."""

    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.up, self.gate = nn.Linear(width, 3 * width), nn.Linear(width, 3 * width)
        self.down = nn.Linear(3 * width, width)

    def forward(self, x):
        y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


def perceptron():
    return nn.Sequential(nn.Linear(10, 24), nn.GELU(), nn.LayerNorm(24), nn.Linear(24, 5), nn.Softplus())
