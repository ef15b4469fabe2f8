"""A program of NPBench in several forms, as data. Read next: `npbench_programs`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Form:
    """One way of writing a program of NPBench's: `call` takes what NumPy's version takes, in the same order, and
    returns what it returns; what that changes in place, this changes too."""

    benchmark: str
    name: str
    call: Callable[..., Any]


FORMS: list[Form] = []


def form(benchmark: str, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that adds a form."""

    def add(call: Callable[..., Any]) -> Callable[..., Any]:
        FORMS.append(Form(benchmark, name, call))
        return call

    return add


def pairs(z: np.ndarray) -> np.ndarray:
    """A complex array as its memory: real and imaginary parts along a last axis of 2."""
    return z.view(np.float64).reshape(*z.shape, 2)


def joined(parts: np.ndarray) -> np.ndarray:
    """The complex array whose memory this is."""
    return parts.view(np.complex128)[..., 0]
