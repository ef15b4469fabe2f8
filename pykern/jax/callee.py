"""A program that JAX calls, and its derivatives, which are such programs again.

Comes in: a `ProgramSource`. Goes out: `Callee`, the same object for equal sources: its code, and the programs of its
cotangents and tangents. Read next: `primitive`, which has JAX's rules; `code`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from pykern.data.artifact import SHARDING, Artifact, ResultSpec
from pykern.data.program_source import ProgramDerivative, ProgramSource
from pykern.data.source import ArgSpec, ArraySpec, Parameter, ScalarSpec, leaves
from pykern.data.target import Target
from pykern.errors import KernelError
from pykern.jax.code import Code, code_of
from pykern.jax.cut_rule import CutRule
from pykern.jax.framework import Array
from pykern.obtain.code import compiled
from pykern.program.results import Builder, builder
from pykern.types import BY_NAME

JNP = Target("xp", "jnp")
Resize = Callable[[Sequence[Sequence[int]]], "Callee"]
"""The same for arrays of other lengths, given the shapes of the flattened arguments."""


class Callee:
    """A program for one kind of call. `leaves` are the specs of its flattened arguments, `owners` the numbers of the
    parameters that they belong to; `checkpoint` is what the derivatives of its loops keep."""

    def __init__(self, source: ProgramSource, checkpoint: str) -> None:
        self.source = source
        self.checkpoint = checkpoint
        flat = [(n, leaf) for n, p in enumerate(source.parameters) for leaf in leaves(p.spec)]
        self.owners = tuple(n for n, _ in flat)
        self.leaves: tuple[ArgSpec, ...] = tuple(leaf for _, leaf in flat)
        self.floats = tuple(BY_NAME[leaf.dtype].is_float for _, leaf in flat)
        """Which of the flattened arguments have tangents."""
        self.primal: Callee | None = None
        """Of a vjp: the program."""
        self.resized: Resize | None = None
        """Set by who knows it; nothing where arguments are trees."""

    @property
    def code(self) -> Code:
        """Compiled at the first use. Raises what the compiler raises."""
        return code_of(self.source)

    @property
    def name(self) -> str:
        return self.source.function.name

    @functools.cached_property
    def text(self) -> str:
        """The program over `jax.numpy`, for platforms that have no code of ours. Raises `TargetError` where it has no
        form on whole arrays."""
        return self._printed.binary.decode()

    @functools.cached_property
    def _printed(self) -> Artifact:
        return compiled(replace(self.source, target=JNP, donated=(), handler=""))

    @functools.cached_property
    def sharding(self) -> CutRule | None:
        """The rule by which dimensions are cut among devices; None where there is none."""
        if self.portable is None:
            return None
        found = cast(Sequence[str], self._printed.resources.get(SHARDING, ()))
        rule = CutRule.of((found[0], tuple(found[1:]))) if found else None
        if rule is None or self.primal is None:
            return rule
        before = self.primal.sharding
        return None if before is None else before.of_derivative(rule, self.primal.float_results)

    @functools.cached_property
    def portable(self) -> Callable[..., list[Array]] | None:
        """The function of that text, which gives a list of results; nothing where there is none."""
        try:
            text = self.text
        except KernelError:
            return None
        names: dict[str, Any] = {}
        exec(compile(text, f"<pykern.jax {self.name}>", "exec"), names)
        function = names[self.name]
        return lambda *arrays: _listed(function(*arrays))

    @functools.cached_property
    def tree(self) -> str:
        """How the returned value is made of the results."""
        layout = self.code.artifact.program
        assert layout is not None
        return layout.tree

    @functools.cached_property
    def build(self) -> Builder:
        """The returned value of the results, arrays of JAX; numbers are arrays without dimensions."""
        return builder(self.tree, numbers=False)

    @functools.cached_property
    def float_results(self) -> tuple[int, ...]:
        """The results that have tangents."""
        return tuple(n for n, r in enumerate(self.code.results) if BY_NAME[r.dtype].is_float)

    # -- derivatives -------------------------------------------------------------------------------

    def parameters_of(self, arguments: Iterable[int]) -> tuple[int, ...]:
        """The parameters that some of the flattened arguments belong to."""
        return tuple(sorted({self.owners[n] for n in arguments if self.floats[n]}))

    def floats_of(self, parameters: tuple[int, ...]) -> tuple[int, ...]:
        """The flattened arguments of these parameters that have tangents."""
        return tuple(n for n, owner in enumerate(self.owners) if owner in parameters and self.floats[n])

    def pulled(self, parameters: tuple[int, ...]) -> Callee:
        """Takes the arguments and cotangents of `float_results`; gives those of `floats_of(parameters)`."""
        results = self.code.results
        added = [Parameter(f"cotangent{n}", cotangent_spec(results[n])) for n in self.float_results]
        made = self._derived("vjp", parameters, added)
        made.primal = self
        resized, count = self.resized, len(self.leaves)
        if resized is not None:
            made.resized = lambda shapes: resized(shapes[:count]).pulled(parameters)
        return made

    def pushed(self, parameters: tuple[int, ...]) -> Callee:
        """Takes the arguments and tangents of `floats_of(parameters)`; gives results, then the tangents of
        `float_results`."""
        active = self.floats_of(parameters)
        added = [Parameter(f"tangent{n}", _tangent(self.leaves[n])) for n in active]
        return self._derived("jvp", parameters, added)

    def _derived(self, kind: str, parameters: tuple[int, ...], added: list[Parameter]) -> Callee:
        derivative = ProgramDerivative(kind, parameters, self.checkpoint, several=True)
        before = self.source
        return callee_of(
            replace(
                before,
                parameters=(*before.parameters, *added),
                derivatives=(*before.derivatives, derivative),
                added=(*before.added, len(added)),
                donated=(),
            ),
            self.checkpoint,
        )


def _listed(found: Any) -> list[Array]:
    return list(found) if isinstance(found, tuple) else [found]


def cotangent_spec(result: ResultSpec) -> ArgSpec:
    """What the cotangent of a result is to the compiler. Without dimensions it is a number, which may come in 32 bits
    where JAX has no others."""
    if result.shape:
        return ArraySpec(result.dtype, result.shape)
    return ScalarSpec("float" if result.dtype == "f64" else result.dtype)


def _tangent(leaf: ArgSpec) -> ArgSpec:
    return replace(leaf, strided=False) if isinstance(leaf, ArraySpec) else leaf


@functools.lru_cache(None)
def callee_of(source: ProgramSource, checkpoint: str) -> Callee:
    """The callee of a source: one for all that are equal."""
    return Callee(source, checkpoint)
