"""`pkj.primitive`: a kernel or an array program as a function of JAX's arrays.

Comes in: a kernel, with how its results are made, or a program. Goes out: an object that is called with arrays, under
any transformation of JAX. Read next: `primitive`, JAX's rules; `code`, the call.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pykern.api.jit import ProgramBase
from pykern.api.kernel import KernelBase
from pykern.capture.placing import placed
from pykern.capture.uses import uses_of
from pykern.data.index_space import index_space
from pykern.data.program_source import ProgramSource
from pykern.data.source import ArraySpec, KernelOptions, StaticSpec, StructSpec
from pykern.errors import NDRANGE, KernelError, KernelTypeError, LaunchError, TargetError
from pykern.jax.arguments import Arguments, describe, is_array_of
from pykern.jax.callee import Callee, callee_of
from pykern.jax.cut_rule import CutRule, asks_for_lengths
from pykern.jax.framework import jax
from pykern.jax.launch import Fresh, launch_function
from pykern.jax.primitive import bind
from pykern.jax.results import Like, described
from pykern.jax.reverse import register
from pykern.types import BY_NAME

register()


class Primitive(ABC):
    """A function of JAX's arrays that one program computes for each kind of call."""

    def __init__(self, of: Any) -> None:
        self.of = of
        self.__name__, self.__doc__ = of.__name__, of.__doc__
        self._call = jax.jit(self.traced, static_argnums=0)
        self._callees: tuple[Any, dict[Any, Callee]] = (None, {})
        self._callee: Callee | None = None

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """The results, arrays of JAX. Raises a `KernelError` at the line of the kernel or program."""
        try:
            callee, arrays = self._known(args, keywords)
            traced = any(isinstance(a, jax.core.Tracer) for a in arrays)
            found = bind(callee, arrays) if traced else self._call(callee, *arrays)
        except KernelError as error:
            raise placed(error, self.of.text) from None
        return callee.build(found)

    def _known(self, args: tuple, keywords: dict[str, Any]) -> tuple[Callee, Sequence[Any]]:
        """The callee and the flattened arguments; of a kind of call that was there before without looking at it."""
        source = self.of.captured()[0]
        if self._callees[0] is not source:
            self._callees = (source, {})
        plain = all(isinstance(a, jax.Array | int | float) for a in args)
        key = tuple(map(_kind, args)) if plain and not keywords else None
        callee = self._callees[1].get(key)
        if callee is not None:
            self._callee = callee
            return callee, args
        callee, arguments = self.described(args, keywords)
        if key is not None and len(arguments.arrays) == len(args) and not _converted(arguments.arrays, args):
            self._callees[1][key] = callee
        return callee, arguments.arrays

    @staticmethod
    def traced(callee: Callee, *arrays: Any) -> list[Any]:
        return bind(callee, arrays)

    def described(self, args: tuple, keywords: dict[str, Any]) -> tuple[Callee, Arguments]:
        """The program for a kind of call, and the flattened arguments."""
        values = self.bound(args, keywords)
        arguments = self.arguments(values)
        callee = self._callee = callee_of(self.program(values, arguments), self.checkpoint)
        self.check(callee)
        is_plain = not any(isinstance(p.spec, StructSpec) for p in arguments.parameters)
        if is_plain and self.follows_lengths and not asks_for_lengths(callee.source.function):
            callee.resized = lambda shapes: self._resized(values, arguments, shapes)
        return callee, arguments

    @property
    def checkpoint(self) -> str:
        """What derivatives of its loops keep: see `pk.checkpoint`."""
        return getattr(self.of, "checkpoint", "all")

    @property
    @abstractmethod
    def follows_lengths(self) -> bool:
        """Whether results and work-items are given by the lengths of arguments."""

    def _resized(
        self, values: list[tuple[str, Any]], arguments: Arguments, shapes: Sequence[Sequence[int]]
    ) -> Callee:
        """The program for arrays of other lengths."""
        given, left = dict(values), iter(shapes)
        parameters = []
        for p in arguments.parameters:
            shape = () if isinstance(p.spec, StaticSpec) else tuple(next(left))
            if isinstance(p.spec, ArraySpec):
                given[p.name] = jax.ShapeDtypeStruct(shape, BY_NAME[p.spec.dtype].numpy)
                p = replace(p, spec=replace(p.spec, shape=shape))
            parameters.append(p)
        made = Arguments(parameters, [])
        return callee_of(self.program(list(given.items()), made), self.checkpoint)

    def source(self, *args: Any, **keywords: Any) -> str:
        """The text over `jax.numpy` that stands for the primitive where there is no CPU, for these arguments; those of
        the last call where there are none. Raises `TargetError` where it has no form on whole arrays."""
        return self._last(args, keywords).text

    @property
    def sharding(self) -> str:
        """The rule by which arrays may be cut among devices, of the last call: ``i, i -> i`` says that results are cut
        as the arguments are; a letter in `whole` is never cut. Numbers have no dimensions, and are left out."""
        rule = self._rule()
        given = ", ".join(" ".join(letters) for letters in rule.arguments if letters)
        return f"{given} -> {', '.join(map(' '.join, rule.results))}"

    @property
    def whole(self) -> tuple[str, ...]:
        """The letters of `sharding` whose dimensions are never cut: they are summed, or looked along."""
        return self._rule().whole

    def _rule(self) -> CutRule:
        callee = self._last((), {})
        if callee.sharding is None:
            raise TargetError(f"`{self.__name__}` has no form on whole arrays", hint=".source() says why")
        return callee.sharding

    def _last(self, args: tuple, keywords: dict[str, Any]) -> Callee:
        if args or keywords:
            return self.described(args, keywords)[0]
        if self._callee is None:
            raise LaunchError(
                f"`{self.__name__}` was not called yet, and its text depends on the arguments",
                hint="give arguments, or jax.ShapeDtypeStruct for arrays",
            )
        return self._callee

    @abstractmethod
    def bound(self, args: tuple, keywords: dict[str, Any]) -> list[tuple[str, Any]]:
        """Arguments by name."""

    @abstractmethod
    def arguments(self, values: list[tuple[str, Any]]) -> Arguments:
        """What the compiler is told of them."""

    @abstractmethod
    def program(self, values: list[tuple[str, Any]], arguments: Arguments) -> ProgramSource:
        """The program."""

    def check(self, callee: Callee) -> None:
        """Refuse a program that writes what it is given. Raises `KernelTypeError`."""
        layout = callee.code.artifact.program
        assert layout is not None
        if layout.updated:
            name = callee.source.parameters[callee.owners[layout.updated[0]]].name
            raise KernelTypeError(
                f"`{self.__name__}` writes its argument `{name}`, and arrays of JAX are never written",
                hint=f"write a copy, and return it: {name} = {name}.copy()",
            )

    def __repr__(self) -> str:
        return f"<pykern.jax.primitive {self.__name__}>"


def _kind(value: Any) -> Any:
    """What a program depends on of an argument. A rule for results or work-items may look at numbers."""
    if isinstance(value, jax.Array):
        return value.shape, value.dtype, getattr(value, "weak_type", False)  # keys have none
    return type(value), value


def _converted(arrays: Sequence[Any], values: Sequence[Any]) -> bool:
    """Whether an argument was given another type than it has, as its annotation wants."""
    return any(isinstance(v, jax.Array) and v.dtype != a.dtype for a, v in zip(arrays, values, strict=True))


class ProgramPrimitive(Primitive):
    """Of an array program; `inout` names parameters whose memory a result may take."""

    def __init__(self, program: ProgramBase, inout: dict[str, int]) -> None:
        super().__init__(program)
        _check_names(self, inout, "inout")
        self.inout = inout

    def bound(self, args: tuple, keywords: dict[str, Any]) -> list[tuple[str, Any]]:
        return self.of.bound(args, keywords, has_defaults=not any(self.of.added))

    @property
    def follows_lengths(self) -> bool:
        return True

    def arguments(self, values: list[tuple[str, Any]]) -> Arguments:
        return describe(values, self.of.annotations, lambda name: True, takes_complex=True)

    def program(self, values: list[tuple[str, Any]], arguments: Arguments) -> ProgramSource:
        function = self.of.captured()[0]
        return self.of.source_of(function, arguments.parameters, donated=tuple(sorted(self.inout)))


class KernelPrimitive(Primitive):
    """Of a kernel. `out` has a rule for each parameter that is a fresh result, `inout` the number of the result that
    has the new values of a parameter."""

    def __init__(self, kernel: KernelBase, out: dict[str, Any], inout: dict[str, int], ndrange: Any) -> None:
        super().__init__(kernel)
        _check_names(self, out, "out")
        _check_names(self, inout, "inout")
        self.out, self.inout, self.ndrange = out, inout, kernel.ndrange if ndrange is None else ndrange
        self.parameters = tuple(n for n in kernel.signature.parameters if n not in out)
        self.results = _ordered(self)
        uses = uses_of(kernel)
        self._arrays = uses.arrays
        for name in kernel.signature.parameters:
            if name in uses.written and name not in self.results:
                raise KernelTypeError(
                    f"`{self.__name__}` writes `{name}`, which is no result of the primitive",
                    hint=f"say how it is made, out={{{name!r}: pkj.like(...)}}, or that it is an argument whose new "
                    f"values are a result: inout={{{name!r}: {len(self.results)}}}",
                )

    def bound(self, args: tuple, keywords: dict[str, Any]) -> list[tuple[str, Any]]:
        names = self.of.signature.parameters
        own = self.of.signature.replace(parameters=[names[n] for n in self.parameters])
        try:
            bound = own.bind(*args, **keywords)
        except TypeError as error:
            raise KernelTypeError(f"primitive `{self.__name__}{own}`: {error}") from None
        bound.apply_defaults()
        return list(bound.arguments.items())

    @property
    def follows_lengths(self) -> bool:
        fresh = all(isinstance(rule, Like) for rule in self.out.values())
        return fresh and (self.ndrange is None or callable(self.ndrange))

    def arguments(self, values: list[tuple[str, Any]]) -> Arguments:
        return describe(values, self.of.annotations, is_array_of(self._arrays))

    def program(self, values: list[tuple[str, Any]], arguments: Arguments) -> ProgramSource:
        given = dict(values)
        made = {name: described(self.__name__, name, rule, given) for name, rule in self.out.items()}
        fresh = [Fresh(name, *kind) for name, kind in made.items()]
        function = launch_function(
            self.of, self.parameters, fresh, tuple(self.inout), self.results, self._space(given, made)
        )
        inner = self.of.options
        options = KernelOptions(inner.debug, inner.fastmath, nan=inner.nan, ordered=not inner.fastmath)
        return ProgramSource(
            function, tuple(arguments.parameters), options, donated=tuple(sorted(self.inout))
        )

    def _space(self, given: dict[str, Any], made: dict[str, Any]) -> Any:
        rule = self.ndrange
        if rule is None:
            first = self.results[0]
            rule = made[first][0] if first in made else given[first].shape
        space = rule(*given.values()) if callable(rule) else rule
        if isinstance(space, list):
            raise LaunchError(
                "a primitive is one launch, and a list of index spaces is several",
                hint="write an array program with the launches: @pk.jit",
                code=NDRANGE,
            )
        return index_space(space)


def _check_names(primitive: Primitive, given: dict[str, Any], what: str) -> None:
    parameters = list(primitive.of.signature.parameters)
    for name in given:
        if name not in parameters:
            raise KernelTypeError(
                f"`{primitive.__name__}` has no parameter `{name}`, which `{what}` names",
                hint=f"its parameters are {', '.join(parameters)}",
            )


def _ordered(primitive: KernelPrimitive) -> tuple[str, ...]:
    """The parameters that are results, in order: those of `inout` at their numbers, the others where there is room."""
    count = len(primitive.out) + len(primitive.inout)
    places = {number: name for name, number in primitive.inout.items()}
    if not count:
        raise KernelTypeError(
            f"pkj.primitive({primitive.__name__}) is told no results",
            hint='say which parameters are: out={"o": pkj.like("x")}, or inout={"x": 0}',
        )
    if len(places) < len(primitive.inout) or not all(0 <= n < count for n in places):
        raise KernelTypeError(
            f"inout={primitive.inout!r} does not number the {count} results",
            hint="each parameter is another result, counted from 0",
        )
    fresh = iter(primitive.out)
    return tuple(places[n] if n in places else next(fresh) for n in range(count))


def primitive(
    of: Any = None,
    *,
    out: dict[str, Like | Callable[..., Any]] | None = None,
    inout: dict[str, int] | None = None,
    ndrange: Any = None,
) -> Any:
    """Make a function of JAX's arrays of a kernel or of an array program.

    Of a kernel, the parameters in `out` are results: ``out={"o": pkj.like("x")}``, or a function of the arguments that
    gives a `jax.ShapeDtypeStruct`; those in `inout` are arguments that the kernel writes, with the number of the result
    that has their new values, and whose memory it takes where the array is donated. `ndrange` is an index space or a
    function of the arguments, ``lambda x, y, a: x.shape``; it is the shape of the first result where it is left out. A
    program returns its results itself.

    Raises `KernelTypeError` for a kernel whose results are others.
    """
    if of is None:
        return functools.partial(primitive, out=out, inout=inout, ndrange=ndrange)
    if isinstance(of, KernelBase):
        return KernelPrimitive(of, dict(out or {}), dict(inout or {}), ndrange)
    if not isinstance(of, ProgramBase):
        raise KernelTypeError(
            f"pkj.primitive takes a kernel or an array program, not {type(of).__name__}",
            hint="decorate the function: @pk.kernel or @pk.jit",
        )
    if out is not None or ndrange is not None:
        raise KernelTypeError(
            f"`{of.__name__}` is an array program, which returns its results: it takes neither `out` nor `ndrange`"
        )
    return ProgramPrimitive(of, dict(inout or {}))
