"""What a differentiated time loop keeps of its forward run.

Comes in: a policy, from the user. Goes out: `Checkpoint`, whose text the compiler reads
(`passes.autodiff.raised.loop`). Keeping less costs computing more: see `binomial`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pykern.derivatives.plain_functions import as_program
from pykern.errors import KernelTypeError


@dataclass(frozen=True)
class Checkpoint:
    """A policy: give it to `pk.grad(f, checkpoint=...)`, or put it on a program as a decorator."""

    policy: str

    def __call__(self, program: Any) -> Any:
        """`program`, whose derivatives follow this policy where they are not told another."""
        made = as_program(program)
        made.checkpoint = self.policy
        return made

    def __str__(self) -> str:
        return self.policy


def checkpoint(policy: str | Checkpoint) -> Checkpoint:
    """``pk.checkpoint("all")``, ``pk.checkpoint(pk.every(8))`` or ``pk.checkpoint(pk.binomial(9))``.

    "all" keeps, of every iteration, what the rules read: the fastest, and the most memory.
    """
    text = str(policy)
    match = re.fullmatch(r"all|(?:every|binomial)\((\d+)\)", text)
    if match is None or match[1] == "0":
        raise KernelTypeError(
            f"no checkpoint policy {text!r}", hint="there are 'all', pk.every(k) and pk.binomial(s)"
        )
    return Checkpoint(text)


def every(k: int) -> Checkpoint:
    """Keep the state of every `k`-th iteration, and run the `k` iterations between once more."""
    return checkpoint(f"every({int(k)})")


def binomial(s: int) -> Checkpoint:
    """Keep at most `s` states, and place them so that the fewest iterations run again.

    The placement is that of Griewank and Walther, "Algorithm 799: Revolve", 2000.
    """
    return checkpoint(f"binomial({int(s)})")
