"""A computation in several forms, as data. Read next: `forms_computations`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Form:
    """One way of writing a computation: a kernel, its index space, and what it is given behind the arrays; or an array
    program, which has no index space and is given all arrays but the first, which is what it returns."""

    name: str
    kernel: Any
    space: Callable[..., Any] | None
    extra: Callable[..., tuple]
    peer: bool = True
    """Whether Numba's plain loops of it mean the same: they have no groups."""


@dataclass
class Computation:
    """What is computed: `arrays` makes the arrays for a scale, the one that is written first."""

    name: str
    arrays: Callable[[float], Arrays]
    forms: list[Form] = field(default_factory=list)
    may_differ: float = 0.0
    """The part of the results that roundings may change much: of counts until something is exceeded."""

    def form(
        self, space: Callable[..., Any] | None, extra: Callable[..., tuple] = lambda *_: (), peer: bool = True
    ) -> Callable[[Any], Any]:
        """A decorator that adds a kernel, or with no `space` a program, named `<computation>_<form>`."""

        def add(kernel: Any) -> Any:
            self.forms.append(Form(kernel.__name__.split("_", 1)[1], kernel, space, extra, peer))
            return kernel

        return add

    def given(self, form: Form, arrays: Arrays) -> tuple:
        """The arguments of a form."""
        return (*arrays, *form.extra(*arrays))


def random(*shape: int) -> np.ndarray:
    """Numbers of f32 between 0 and 1, the same in every run."""
    return np.random.default_rng(7).random(shape, dtype=np.float32)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)
