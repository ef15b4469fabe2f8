"""`pkt.replace`: layers of a model by type, others in their places.

Comes in: a model, and for each type what makes the new layer of the old one. Goes out: the model itself, changed, and a
summary: what was replaced, and what was left, with the reason. `pkt.fuse` does it with a table of pykern's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pykern.errors import KernelTypeError
from pykern.torch.framework import torch

Make = Callable[[Any], Any]
"""Takes a layer, gives the new one, or a string that says why it is left."""
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


@dataclass
class Replaced:
    """What `replace` did: names of layers with the types before and after, and of those left with the reason."""

    done: dict[str, tuple[str, str]] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"{name}: {old} is {new} now" for name, (old, new) in self.done.items()]
        lines += [f"{name}: left, {reason}" for name, reason in self.left.items()]
        return "\n".join(lines) or "no layer of these types"

    def __len__(self) -> int:
        return len(self.done)


def replace(model: Any, table: dict[type, Make]) -> Replaced:
    """Put new layers into a model, in place, wherever one has exactly a type of the table.

    A function of the table takes the old layer and gives the new one, which keeps the parameters it takes from it, or a
    string that says why the old one stays. A layer at several places stays one. Layers with hooks are left. Raises
    `KernelTypeError` where a function gives something else, or the model itself has such a type.
    """
    if type(model) in table:
        raise KernelTypeError(
            f"the model itself is a {type(model).__name__}, and has no place to be replaced at",
            hint="put it into a torch.nn.Sequential",
        )
    summary, known = Replaced(), {}
    for owner_name, owner in list(model.named_modules()):
        for name, old in list(owner.named_children()):
            if type(old) not in table:
                continue
            path = f"{owner_name}.{name}" if owner_name else name
            if id(old) not in known:
                known[id(old)] = (old, _made(old, table[type(old)]))
            new = known[id(old)][1]
            if isinstance(new, str):
                summary.left[path] = new
            else:
                setattr(owner, name, new)
                summary.done[path] = type(old).__name__, type(new).__name__
    return summary


def _made(old: Any, make: Make) -> Any:
    if any(getattr(old, hooks) for hooks in _HOOKS):
        return "it has hooks"
    new = make(old)
    if not isinstance(new, str | torch.nn.Module):
        raise KernelTypeError(
            f"what is to replace a {type(old).__name__} gives {type(new).__name__}",
            hint="let it give a torch.nn.Module, or a string that says why the layer stays",
        )
    if not isinstance(new, str):
        new.train(old.training)
    return new
