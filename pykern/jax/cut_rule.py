"""How a call is cut among devices where XLA chooses: `custom_partitioning` with the program's own rule.

Comes in: the rule of `pykern.passes.analysis.sharding`. Goes out: a function of whole arrays, of which each device
computes its part. Dimensions of one letter are cut alike, over the axis of the first array that is cut along it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pykern.data.source import CapturedKernel, FunctionSource, reached
from pykern.jax.framework import Array, jax, partitioning
from pykern.jax.launch import is_launch

_LENGTHS = re.compile(r"\b(shape|size|len|global_size|num_\w+|group\w*)\b")
"""Words by which a function may ask for lengths, or how many work-items there are."""
Function = Callable[..., list[Array]]


def asks_for_lengths(function: FunctionSource) -> bool:
    """Whether a function, or one that it reaches, may compute with lengths: of a part of an array they are others."""
    return any(_LENGTHS.search(each.text) for each in _texts(function) if not is_launch(each))


def _texts(function: FunctionSource) -> list[FunctionSource]:
    kernels = [c.function for _, c in function.captures if isinstance(c, CapturedKernel)]
    return [*reached(function), *reached(*kernels)]


@dataclass(frozen=True)
class CutRule:
    """Letters of each argument and result, and those of `whole` dimensions."""

    arguments: tuple[tuple[str, ...], ...]
    results: tuple[tuple[str, ...], ...]
    whole: tuple[str, ...]

    @classmethod
    def of(cls, rule: tuple[str, tuple[str, ...]]) -> CutRule:
        """The rule of a program, read."""
        text, whole = rule
        given, made = ([tuple(each.split()) for each in side.split(",")] for side in text.split("->"))
        return cls._apart(tuple(given), tuple(made), set(whole))

    @classmethod
    def _apart(
        cls, given: tuple[tuple[str, ...], ...], made: tuple[tuple[str, ...], ...], whole: set[str]
    ) -> CutRule:
        """The rule of these letters, of which no array has one twice: dimensions of an array that would have to be cut
        alike (`x + x.T`) stay whole, and get letters of their own."""
        sides = (given, made)
        twice = {a for side in sides for letters in side for a in letters if letters.count(a) > 1}

        def named(letters: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(f"{a}{letters[:d].count(a)}" if a in twice else a for d, a in enumerate(letters))

        given, made = (tuple(map(named, side)) for side in sides)
        known = dict.fromkeys(a for side in (given, made) for letters in side for a in letters)
        return cls(given, made, tuple(a for a in known if a in whole or a[:-1] in twice))

    def keeping(self, kept: Sequence[int]) -> CutRule:
        """The rule for some of the results."""
        results = tuple(self.results[n] for n in kept)
        used = {a for side in (self.arguments, results) for letters in side for a in letters}
        return CutRule(self.arguments, results, tuple(a for a in self.whole if a in used))

    def of_derivative(self, derivative: CutRule, cotangents: Sequence[int]) -> CutRule:
        """The rule of a derivative, whose first arguments are those of this program, and whose others are cotangents of
        these results: what is cut alike here is cut alike there."""
        above: dict[str, str] = {}

        def root(letter: str) -> str:
            while letter in above:
                letter = above[letter]
            return letter

        here = (*self.arguments, *(self.results[n] for n in cotangents))
        for ours, theirs in zip(here, derivative.arguments, strict=True):
            for a, b in zip(ours, theirs, strict=True):
                one, other = root(f"of {a}"), root(b)
                if one != other:
                    above[one] = other
        whole = {root(f"of {letter}") for letter in self.whole} | {
            root(letter) for letter in derivative.whole
        }
        given, made = (
            tuple(tuple(map(root, letters)) for letters in side)
            for side in (derivative.arguments, derivative.results)
        )
        return self._apart(given, made, whole)

    @property
    def text(self) -> str:
        """As JAX takes it."""
        sides = (", ".join(map(" ".join, side)) for side in (self.arguments, self.results))
        return " -> ".join(sides)

    def partitioned(self, whole: Function, part: Function) -> Callable[..., Any]:
        """`whole` on whole arrays, `part` on the parts of a device."""
        made = partitioning.custom_partitioning(lambda *arrays: tuple(whole(*arrays)))

        def partition(mesh: Any, given: Sequence[Any], results: Sequence[Any]) -> tuple[Any, ...]:
            arguments, outcomes = self._shardings(mesh, given)
            return mesh, lambda *arrays: tuple(part(*arrays)), outcomes, arguments

        def inferred(mesh: Any, given: Sequence[Any], results: Sequence[Any]) -> tuple[Any, ...]:
            return self._shardings(mesh, given)[1]

        made.def_partition(
            partition=partition,
            infer_sharding_from_operands=inferred,
            sharding_rule=self.text,
            need_replication_factors=self.whole,
        )
        return made

    def _shardings(self, mesh: Any, given: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Of arguments and results."""
        axes = self._axes([kind.sharding.spec for kind in given])

        def sharding(letters: tuple[str, ...]) -> Any:
            return jax.sharding.NamedSharding(mesh, _spec(letters, axes))

        return tuple(map(sharding, self.arguments)), tuple(map(sharding, self.results))

    def specs(self, given: Sequence[Any]) -> tuple[Any, ...]:
        """How the results are cut; `given` says so of the arguments."""
        axes = self._axes(given)
        return tuple(_spec(letters, axes) for letters in self.results)

    def _axes(self, given: Sequence[Any]) -> dict[str, Any]:
        """Each letter over one axis, each axis for one letter."""
        axes: dict[str, Any] = {}
        for letters, spec in zip(self.arguments, given, strict=True):
            for letter, axis in zip(letters, spec, strict=False):
                if axis is not None and letter not in self.whole and axis not in axes.values():
                    axes.setdefault(letter, axis)
        return axes


def _spec(letters: tuple[str, ...], axes: dict[str, Any]) -> Any:
    return jax.sharding.PartitionSpec(*(axes.get(letter) for letter in letters))
