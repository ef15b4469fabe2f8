"""`@pk.jit`: the front door of array programs. Decorate, call with NumPy arrays, look inside.

A call goes: compiled entry (no Python at all) -> where it does not fit `ProgramBase.__call__` here: arguments to a
signature -> plan (cache, compiler, loader) -> memory for the results -> run.
A second call puts the plan into the entry.
Read next: `program/{arguments,plan,entry}.py`; the compiler's side begins in `compiler/programs.py`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pykern.api.call_advice import how_to_call
from pykern.api.decorated import Decorated
from pykern.api.decorator import with_options
from pykern.api.in_graphs import is_traced, traced_call
from pykern.api.kernel import Docstring, placed_at_def
from pykern.arrays.array import Array
from pykern.capture.function_text import FunctionText
from pykern.capture.placing import placed
from pykern.compiler.service import service
from pykern.data.debug_checks import debug_checks
from pykern.data.program_source import ProgramDerivative, ProgramSource
from pykern.data.source import KernelOptions, Parameter
from pykern.data.target import CPU, Target
from pykern.data.tiles import TileLaunch
from pykern.environment.settings import settings
from pykern.errors import DeviceError, KernelError, KernelTypeError
from pykern.launching.arguments import homes
from pykern.launching.checks import device_of
from pykern.launching.entries import register_arrays
from pykern.launching.interceptor import INTERCEPTOR
from pykern.launching.warned import warn_of
from pykern.obtain.code import compiled, loaded
from pykern.obtain.prewarm import before_first_call, remember
from pykern.obtain.schedules import tuned
from pykern.program import reference as program_reference
from pykern.program.arguments import ProgramArguments, describe, describe_specs
from pykern.program.calls import call_here, call_on
from pykern.program.entry import ProgramEntries
from pykern.program.kinds import kind_of, leaf_values
from pykern.program.outputs import as_given, given_back, library_of, viewed
from pykern.program.plan import Plan
from pykern.program.results import out_arrays
from pykern.runtime.devices import OVERRIDE, chosen_device, current_device
from pykern.runtime.graph import current_graph
from pykern.runtime.launchable import make_launchable
from pykern.runtime.reference_program import is_inside
from pykern.runtime.registry import opened
from pykern.runtime.stream import checked_stream
from pykern.types import ArrayAnnotation, static

if TYPE_CHECKING:
    from pykern.program.device import DevicePlan


class _Asked(NamedTuple):
    """What a call says beside its arguments, None where it does not."""

    out: Any
    donate: Any
    device: Any
    stream: Any


class ProgramBase(Decorated):
    """A function over whole arrays, compiled for each kind of call.

    Calling it runs it and returns fresh arrays where its own lie: NumPy's, or `pk.Array`s of a device; tensors of
    PyTorch or arrays of JAX where an argument is one. Keywords beside the parameters: ``out`` (an array, or a tuple of
    arrays, one for each result, to write into), ``donate`` (parameter numbers whose arrays the program may use as
    memory, for a result above all), and, unless a parameter has the name, ``device`` and ``stream`` as for kernels.
    `lower` shows every stage without running.
    On the device ``python`` (``PYKERN_DEVICE``, ``with pk.device("python")``) the function itself runs, over NumPy.
    """

    __pykern_program__ = True

    __slots__ = (
        "_derived", "_device_plans", "_entries", "_plans", "_simple", "_sources", "added", "checkpoint", "derivatives",
        "donate_argnums", "pulled", "residual_sources", "tiles",
    )  # fmt: skip

    KIND = "program"

    def __init__(
        self,
        function: Callable,
        options: KernelOptions,
        donate_argnums: tuple[int, ...] = (),
        text: FunctionText | None = None,
        tiles: TileLaunch | None = None,
    ) -> None:
        super().__init__(function, options, text)
        self.donate_argnums = donate_argnums
        self.derivatives: tuple[ProgramDerivative, ...] = ()
        self.added: tuple[int, ...] = ()
        self.pulled: tuple[Parameter, ...] | None = None
        self.residual_sources: dict[str, ProgramSource] = {}
        self.checkpoint = "all"
        self.tiles = tiles
        self._plans: tuple[Any, dict[Any, Plan | DevicePlan]] = (None, {})
        self._sources: dict[ProgramSource, Plan] = {}
        self._device_plans: dict[tuple[str, ProgramSource], DevicePlan] = {}
        self._derived: dict[ProgramDerivative | str, Program] = {}
        self._simple = self._is_simple()
        self._entries = ProgramEntries(self)
        self.refuse_parameters(
            ("out", "donate") if tiles is None else (),
            "a keyword of its call",
            "name each parameter; a tuple, a list or a dict of arrays may be one of them",
        )

    def __call__(self, *args: Any, out: Any = None, donate: Any = None, **keywords: Any) -> Any:
        """Run. Raises a `KernelError` at the program's line, or `LaunchError`."""
        __tracebackhide__ = True  # where pytest and IPython print
        if is_traced():
            asked = {"out": out} if out is not None else {}
            return traced_call(
                self, args, keywords | asked | ({"donate": donate} if donate is not None else {})
            )
        if (interceptor := INTERCEPTOR.get()) is not None:
            return interceptor(self, args, {"out": out, "donate": donate, **keywords})
        given = keywords.copy() if keywords else {}
        try:
            return self._run(args, out, donate, keywords)
        except (KernelError, KeyboardInterrupt) as error:
            if not self._knows_more(error, args, given):
                raise placed(error, self.text) from None
        return self(*args, out=out, donate=donate, **given)

    def lower(self, *args: Any, **keywords: Any) -> Any:
        """Every stage for these arguments or `pk.spec`s, as `Lowered`; nothing runs.

        Keywords beside the parameters: ``target``, ``passes`` (callables that run on the tensor stage).
        """
        __tracebackhide__ = True
        given = keywords.copy()
        try:
            return self._lower(args, keywords)
        except (KernelError, KeyboardInterrupt) as error:
            if not self._knows_more(error, args, given):
                raise placed(error, self.text) from None
        return self.lower(*args, **given)

    def forget_plans(self) -> None:
        """Look for the best schedules again: tuning has found some."""
        with self._lock:
            self._plans, self._sources = (None, {}), {}
        self._entries.forget()

    def derived(self, derivative: ProgramDerivative, more: tuple[str, ...], name: str) -> Program:
        """The program's derivative, which takes the parameters `more` behind its own. Made once."""
        with self._lock:
            if derivative not in self._derived:
                self._derived[derivative] = self._make_derived(derivative, more, name)
            return self._derived[derivative]

    def pullback(self, name: str, parameters: tuple[str, ...]) -> Program:
        """Of the program that keeps residuals: what takes them, behind cotangents. `name` came with the residuals."""
        made = self._derived.get(name)
        if made is None:
            source = self.residual_sources[name]
            *before, last = self.derivatives
            plain = inspect.Signature([inspect.Parameter(p, _PLAIN) for p in parameters])
            made = self._copy((*before, replace(last, kind="pullback")), self.added, plain, self.__name__)
            made.pulled, made.annotations, made._simple = source.parameters, {}, True
            made._captured = source.function, []
            with self._lock:
                made = self._derived.setdefault(name, made)
        return made

    def _make_derived(self, derivative: ProgramDerivative, more: tuple[str, ...], name: str) -> Program:
        plain = [p.replace(kind=_PLAIN) for p in self.signature.parameters.values()]
        if more:
            plain = [p.replace(default=p.empty) for p in plain]
        signature = inspect.Signature([*plain, *(inspect.Parameter(n, _PLAIN) for n in more)])
        return self._copy((*self.derivatives, derivative), (*self.added, len(more)), signature, name)

    def _copy(
        self,
        derivatives: tuple[ProgramDerivative, ...],
        added: tuple[int, ...],
        signature: inspect.Signature,
        name: str,
    ) -> Program:
        """A program of the same function, with these derivatives."""
        made = Program(self.__wrapped__, self.options, text=self.text)
        made.derivatives, made.added, made.signature, made.__name__ = derivatives, added, signature, name
        made.checkpoint = self.checkpoint
        return made

    def source_of(
        self, function: Any, parameters: list[Parameter], target: Target = CPU, donated: tuple[str, ...] = ()
    ) -> ProgramSource:
        """What the compiler is asked for."""
        source = ProgramSource(
            function, tuple(parameters), self.options, target, donated, self.derivatives, self.added,
            pulled=self.pulled, tiles=self.tiles,
        )  # fmt: skip
        if self.derivatives and self.derivatives[-1].kind == "residuals":
            self.residual_sources.setdefault(source.pullback_name(), source)
        return source

    def _knows_more(self, error: BaseException, args: tuple, keywords: dict[str, Any]) -> bool:
        """Whether numbers of a call have become `pk.static`, as the function needs their values to be compiled: for a
        shape, for example. From now on it is compiled anew for each value of them."""
        names = error.parameters if isinstance(error, KernelError) else ()
        plain = self.annotations
        if not names or any(plain.get(name) not in (None, bool, int, float) for name in names):
            return False
        own = {name: value for name, value in keywords.items() if name in self.signature.parameters}
        values = dict(self._bind(args, own))
        if not all(isinstance(values.get(name), bool | int | float | np.number) for name in names):
            return False
        with self._lock:
            self.annotations = plain | dict.fromkeys(names, static)
            self._simple = self._is_simple()
        self.forget_plans()
        return True

    # -- a call ------------------------------------------------------------------------------

    def _run(self, args: tuple, out: Any, donate: Any, keywords: dict[str, Any]) -> Any:
        if out is None:
            library = library_of((*args, *keywords.values()))
            return as_given(self._run_viewed(args, None, donate, keywords), library)
        if type(out) is np.ndarray:
            return self._run_viewed(args, out, donate, keywords)
        given, pairs = viewed(out)
        return given_back(self._run_viewed(args, given, donate, keywords), pairs)

    def _run_viewed(self, args: tuple, out: Any, donate: Any, keywords: dict[str, Any]) -> Any:
        source, _ = self.captured()
        plans, key = self._plans_of(source), None
        own = self.signature.parameters
        stream = keywords.get("stream") if len(keywords) == 1 and "stream" not in own else None
        if self._simple and donate is None and (stream is not None or not keywords):
            key = (out is None, *map(kind_of, args))
            plan = plans.get(key)
            if plan is not None and OVERRIDE["device"] is None:
                if not isinstance(plan, Plan):
                    return self._with_device_plan(plan, list(leaf_values(args)), out, stream)
                if stream is None:
                    self._entries.went_through_python(plan, args, keywords)
                    return self._with_plan(plan, list(leaf_values(args)), out)
        inside = current_device() == "python" and is_inside()
        if inside and not self.derivatives:  # a program that another one calls is the plain function
            self._donated(donate)
            return self.__wrapped__(*args, **keywords)
        where = {n: keywords.pop(n) for n in ("device", "stream") if n in keywords and n not in own}
        asked = _Asked(out, donate, where.get("device"), where.get("stream"))
        values = self._bind(args, keywords)
        device = device_of(values, asked.device, asked.stream)
        if device == "python" and inside:
            device = "cpu"  # a gradient that the function takes: there is no other way to compute it
        if device == "python":
            return self._run_in_python(values, asked)
        known = key is not None and len(args) == len(values) and None not in key
        if device != "cpu":
            return self._run_on(device, source, values, asked, key if known else None)
        donated = self._donated(donate) if out is None else ()
        arguments = describe(values, self.annotations, permuted=self._permuted(values, donated))
        plan = self._plan(source, arguments, donated)
        if known and len(arguments.values) == len(plan.names):
            plans[key] = plan
        if donate is None and not where:
            register_arrays(values)
            self._entries.went_through_python(plan, args, keywords)
        return self._with_plan(plan, arguments.values, out)

    def _run_on(
        self, device: str, source: Any, values: list[tuple[str, Any]], asked: _Asked, key: Any
    ) -> Any:
        """On a device with a driver. NumPy arguments are copied there where the device was asked for."""
        from pykern.launching.on_device import Places
        from pykern.program.device import bring_back

        there = bool(homes(values))
        places = Places(device, asked.device is not None or not there or chosen_device() == device)
        arguments = describe(values, self.annotations, places)
        arrays = iter(places.arrays)
        arguments.values = [next(arrays) if isinstance(v, np.ndarray) else v for v in arguments.values]
        plan = self._device_plan(
            device, source, arguments, self._donated(asked.donate) if asked.out is None else ()
        )
        if (
            key is not None
            and there
            and len(arguments.values) == len(plan.names)
            and not any(host is not None for host in places.hosts)
        ):
            self._plans_of(source)[key] = plan
        if there or not places.arrays:
            plan.note_writes(places)
            return self._with_device_plan(plan, arguments.values, asked.out, asked.stream)
        plan.check_hosts(places)
        given = None if asked.out is None else self._out(plan, asked.out, np.ndarray)
        found = plan.run(arguments.values, given, checked_stream(asked.stream, device))
        return plan.build(bring_back(found, places, plan))

    def _run_in_python(self, values: list[tuple[str, Any]], asked: _Asked) -> Any:
        """On the reference device."""
        out = asked.out
        self._donated(asked.donate)
        parameters = describe(values, self.annotations).parameters
        captured = current_graph()
        if captured is not None and not self.derivatives:
            from pykern.program.graph import capture_in_python

            return capture_in_python(captured, self.__wrapped__, values, parameters, out)
        derived, debug = bool(self.derivatives), self.options.debug
        return program_reference.run(self.__wrapped__, values, parameters, out, derived, debug)

    def _with_device_plan(self, plan: DevicePlan, values: list[Any], out: Any, stream: Any = None) -> Any:
        given = None if out is None else self._out(plan, out, Array)
        return call_on(plan, values, given, checked_stream(stream, plan.opened.name))

    def _out(self, plan: DevicePlan, out: Any, kind: type) -> list[Any]:
        shapes = [r.shape for r in plan.layout.results]
        given = out_arrays(out, plan.returned, shapes, plan.dtypes, kind)
        for n, array in enumerate(given):
            if kind is not np.ndarray and array.device_name != plan.opened.name:
                raise DeviceError(
                    f"`out` has an array on {array.device_name} for result {n}, and the program runs on "
                    f"{plan.opened.name}"
                )
        return given

    def _device_plan(
        self, device: str, function: Any, arguments: ProgramArguments, donated: tuple[str, ...]
    ) -> DevicePlan:
        """The plan for a kind of call on a device, made once."""
        from pykern.launching.device_kinds import fitted
        from pykern.program.device import DevicePlan

        there = opened(device)
        whole = [v for v in arguments.values if isinstance(v, Array) and v.contiguous]  # others are copied
        target = fitted(there.info.target, whole, ())
        source = self.source_of(function, arguments.parameters, target, donated)
        with self._lock:
            plan = self._device_plans.get((there.name, source))
        if plan is None:
            names = tuple(arguments.names)
            made = DevicePlan(
                there, compiled(source), source.parameters, names, self.text, self.options.debug
            )
            remember(self.text)
            with self._lock:
                plan = self._device_plans.setdefault((there.name, source), made)
        warn_of(plan.artifact)
        return plan

    def _plans_of(self, source: Any) -> dict[Any, Plan | DevicePlan]:
        """The plans found by kinds of arguments alone, for what captured names mean now."""
        known = self._plans
        if known[0] is not source:
            known = self._plans = (source, {})
        return known[1]

    def _with_plan(self, plan: Plan, values: list[Any], out: Any) -> Any:
        shapes = [r.shape for r in plan.layout.results]
        given = None if out is None else out_arrays(out, plan.returned, shapes, plan.dtypes)
        return call_here(plan, values, given)

    def _plan(self, function: Any, arguments: ProgramArguments, donated: tuple[str, ...]) -> Plan:
        source = self.source_of(function, arguments.parameters, donated=donated)
        with self._lock:
            plan = self._sources.get(source)
        if plan is None:
            plan = Plan(*loaded(tuned(source)), tuple(arguments.names), source)
            remember(self.text)
            with self._lock:
                plan = self._sources.setdefault(source, plan)
        warn_of(plan.artifact)
        return plan

    def _donated(self, donate: Any) -> tuple[str, ...]:
        numbers = self.donate_argnums if donate is None else numbers_of(donate)
        names = list(self.signature.parameters)
        for n in numbers:
            if type(n) is not int or not -len(names) <= n < len(names):
                told = ", ".join(f"{k}: {name}" for k, name in enumerate(names))
                raise KernelTypeError(
                    f"`{self.__name__}` has no parameter number {n!r} to donate", hint=f"they are {told}"
                )
        return tuple(sorted({names[n] for n in numbers}))

    def _permuted(self, values: list[tuple[str, Any]], donated: tuple[str, ...]) -> tuple[str, ...]:
        """Parameters whose arrays are taken with their axes in any order: no memory for results, no gradients."""
        return () if self.derivatives else tuple(name for name, _ in values if name not in donated)

    def _bind(self, args: tuple, keywords: dict[str, Any]) -> list[tuple[str, Any]]:
        return self.bound(args, keywords, has_defaults=not any(self.added))

    def how_to_call(self, args: tuple, keywords: dict[str, Any]) -> str:
        """What a call takes."""
        return how_to_call(list(self.signature.parameters), keywords)

    # -- looking inside ----------------------------------------------------------------------

    def _lower(self, args: tuple, keywords: dict[str, Any]) -> Any:
        from pykern.api.lowered import Lowered

        source, passes = self.source_to_lower(args, keywords)
        return Lowered(source, service().compile(source, keep_stages=True, passes=passes), passes)

    def source_to_lower(self, args: tuple, keywords: dict[str, Any]) -> tuple[ProgramSource, tuple[Any, ...]]:
        """What the compiler is asked for by `lower`, and the passes that run on the tensor stage."""
        from pykern.lowering.targets import checked

        target = keywords.pop("target", None)
        target = CPU if target is None else checked(target)
        passes = tuple(keywords.pop("passes", ()))
        donated = self._donated(keywords.pop("donate", None))
        values = self._bind(args, keywords)
        permuted = self._permuted(values, donated) if target == CPU else ()
        parameters = describe_specs(values, self.annotations, permuted)
        return tuned(self.source_of(self.captured()[0], parameters, target, donated)), passes

    def _is_simple(self) -> bool:
        """Whether a call with positional arguments can be told by their types and shapes alone: a scalar
        annotation converts, a static one makes the value part of the key."""
        parameters = self.signature.parameters.values()
        plain = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
        return plain and all(isinstance(a, ArrayAnnotation) for a in self.annotations.values())

    def __repr__(self) -> str:
        return f"<pykern.api.jit {self.__name__}{self.signature}>"


_PLAIN = inspect.Parameter.POSITIONAL_OR_KEYWORD


if TYPE_CHECKING:
    Program = ProgramBase
else:
    Program = make_launchable(ProgramBase, "Program")
    Program.__doc__ = Docstring(ProgramBase)


def numbers_of(numbers: int | tuple[int, ...]) -> tuple[int, ...]:
    """Parameter numbers from one or several."""
    return (numbers,) if isinstance(numbers, int) else tuple(numbers)


@with_options
def jit(
    function: Callable | None = None,
    *,
    fastmath: bool = False,
    debug: bool | str | None = None,
    donate_argnums: int | tuple[int, ...] = (),
) -> Any:
    """Make an array program of a function: ``@pk.jit``, ``@pk.jit(fastmath=True)`` or ``pk.jit(f)``.

    Results equal NumPy's up to the order of sums: a float sum is added up in blocks and lanes, an order
    that depends on the lengths alone, never on the number of threads. `fastmath` allows reordering
    everywhere. Arrays of the parameters in `donate_argnums` may be overwritten, for a result above all;
    that result is then the donated array itself. `debug` checks the accesses of launched kernels;
    ``"nan"`` their operations.
    """
    if function is None:
        return functools.partial(jit, fastmath=fastmath, debug=debug, donate_argnums=donate_argnums)
    if debug is None:
        debug = settings().debug
    try:
        checks = debug_checks(debug)
        options = KernelOptions(checks.bounds, fastmath, nan=checks.nan)
        made = Program(function, options, numbers_of(donate_argnums))
    except KernelError as error:
        raise placed_at_def(error, function) from None
    before_first_call(made.text)
    return made
