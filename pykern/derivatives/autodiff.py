"""`pk.autodiff`: the gradient of a kernel, as a kernel.

Comes in: a kernel. Goes out: an object that is launched like it, with `Dup(x, dx)` for what is
differentiated. The mathematics is in `pykern.passes.autodiff`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from pykern.api.in_graphs import called_apart, is_traced
from pykern.api.kernel import Kernel, KernelBase
from pykern.capture.placing import placed
from pykern.data.source import ArraySpec, Derivative, StructSpec
from pykern.data.synthetic_frame import at_users_line
from pykern.derivatives.raised_gradient import RaisedGradients
from pykern.errors import KernelError, KernelTypeError, LaunchError, NotDifferentiable
from pykern.launching.entries import LAUNCH_KEYWORDS
from pykern.launching.specs import Spec
from pykern.runtime.event import COMPLETED, Event
from pykern.types import IntentAnnotation

MODES = ("reverse", "forward")
LEVELS = ("auto", "raised", "direct")


@dataclass(frozen=True)
class Dup:
    """An argument and its shadow: ``pk.Dup(x, dx)``.

    For an array, `shadow` is an array of the same shape and dtype; for a scalar, a 0-d array of its
    dtype (float64 for a Python float). In reverse mode the shadow of what the kernel writes goes in as
    the cotangent and comes out as zero, the shadows of the others are added to. In forward mode
    shadows are the tangents.
    """

    value: Any
    shadow: Any


class Autodiff:
    """A kernel's derivative. Launch it as the kernel, with `Dup` for what is differentiated."""

    def __init__(self, kernel: Any, mode: str, level: str, deterministic: bool = False) -> None:
        self.kernel, self.mode, self.level, self.deterministic = kernel, mode, level, deterministic
        self.__name__ = f"{kernel.__name__}.{mode}"
        self.__wrapped__ = kernel
        self._flat: dict[tuple[int, ...], Any] = {}
        self._raised: dict[Any, RaisedGradients] = {}
        self._dependent: dict[Any, bool] = {}

    @at_users_line
    def __call__(self, *args: Any, **keywords: Any) -> Event:
        """Launch over ``ndrange``. Raises `NotDifferentiable` at the kernel's line, or `LaunchError`."""
        if is_traced():
            return called_apart(self, args, keywords)
        return self._run(args, keywords)

    def _run(self, args: tuple, keywords: dict[str, Any]) -> Event:
        flat, values, launch = self.flattened(args, keywords)
        spaces = launch.get("ndrange")
        if self.mode == "reverse" and isinstance(spaces, list) and len(spaces) > 1:
            return self._last_to_first(flat, values, launch)
        event = None
        if self._may_be_raised(flat):
            event = self._run_raised(flat, values, launch)
        return flat(*values, **launch) if event is None else event

    @at_users_line
    def lower(self, *args: Any, **keywords: Any) -> Any:
        """Every stage of the derivative for these arguments or specs, as `Lowered`; nothing runs.

        `Lowered.level` says which level it is.
        """
        flat, values, launch = self.flattened(args, keywords)
        if self._may_be_raised(flat):
            try:
                lowered = self._raised_of(flat).lower(values, launch)
            except KernelError as error:
                raise placed(error, flat.text) from None
            if lowered is not None:
                return lowered
        return flat.lower(*values, **launch)

    def _last_to_first(self, flat: Any, values: list[Any], launch: dict[str, Any]) -> Event:
        """Launches in turn are reversed in turn, which takes arrays that none of them changes for another."""
        spaces = launch["ndrange"]
        try:
            if self._puts_back(flat, values, {**launch, "ndrange": spaces[0]}):
                raise NotDifferentiable(
                    f"`{self.kernel.__name__}` reads what it writes, so its launches in turn depend on each other",
                    hint="differentiate them one by one, each with its arrays as they were before it",
                )
        except KernelError as error:
            raise placed(error, flat.text) from None
        for space in reversed(spaces):
            flat(*values, **{**launch, "ndrange": space})
        return COMPLETED

    def _puts_back(self, flat: Any, values: list[Any], launch: dict[str, Any]) -> bool:
        """Whether the reverse writes an array of the kernel: then cells that were read are put back."""
        key = (flat, flat.captured()[0], *(_dtype(v) for v in values))
        if key not in self._dependent:
            asked = {k: v for k, v in launch.items() if k in ("ndrange", "workgroup", "shared_bytes")}
            lowered = flat.lower(*values, **asked)
            own = set(self._primal().signature.parameters)
            names = [p.name for p in lowered.source.parameters for _ in array_specs(p.spec)]
            uses = zip(names, lowered.artifact.uses, strict=True)
            self._dependent[key] = any(use.reads and use.writes for name, use in uses if name in own)
        return self._dependent[key]

    def _run_raised(self, flat: Any, values: list[Any], launch: dict[str, Any]) -> Event | None:
        try:
            return self._raised_of(flat).run(values, launch)
        except KernelError as error:
            raise placed(error, flat.text) from None

    def _may_be_raised(self, flat: Any) -> bool:
        """Whether the derivative may be one of whole arrays: tangents of work-items flow with their values."""
        return self.level != "direct" and (self.mode == "reverse" or self._raised_of(flat).tiled)

    def _raised_of(self, flat: Any) -> RaisedGradients:
        if flat not in self._raised:
            self._raised[flat] = RaisedGradients(flat, self.level)
        return self._raised[flat]

    def flattened(self, args: tuple, keywords: dict[str, Any]) -> tuple[Any, list[Any], dict[str, Any]]:
        """The kernel with shadows as parameters, and the values for them."""
        names = (*LAUNCH_KEYWORDS, "target", "passes", "debug")
        launch = {name: keywords.pop(name) for name in names if name in keywords}
        try:
            bound = self._primal().bind(args, keywords)
            active = tuple(n for n, (_, value) in enumerate(bound) if isinstance(value, Dup))
            if not active:
                raise LaunchError(
                    f"nothing of `{self.kernel.__name__}` is differentiated",
                    hint="pass an argument with its shadow: pk.Dup(x, dx)",
                )
            values: list[Any] = []
            for name, value in bound:
                values += _checked(name, value) if isinstance(value, Dup) else [value]
        except KernelError as error:
            raise placed(error, self._primal().text) from None
        return self._kernel(active), values, launch

    def _primal(self) -> KernelBase:
        return self.kernel

    def _kernel(self, active: tuple[int, ...]) -> Any:
        """The kernel of the derivative by the parameters `active`, made once."""
        if active not in self._flat:
            derivative = Derivative(self.mode, self.level, active, self.deterministic)
            self._flat[active] = differentiated(self._primal(), derivative)
        return self._flat[active]

    def __repr__(self) -> str:
        return f"<pykern.autodiff {self.kernel!r}, {self.mode}>"


@at_users_line
def autodiff(kernel: Any, mode: str = "reverse", level: str = "auto", deterministic: bool = False) -> Any:
    """The derivative of a kernel: ``pk.autodiff(heat)(pk.Dup(T2, dT2), pk.Dup(T, dT), c, ndrange=...)``.

    Reverse mode adds the vector-Jacobian product to the shadows; arrays keep the values they have.
    Forward mode runs the kernel and carries tangents along. `level` is ``"direct"`` (each work-item by
    itself, any control flow), ``"raised"`` (as operations on whole arrays) or ``"auto"``. Work-items that
    add to one cell do so in any order, and float sums depend on it: `deterministic` gives them one order.

    Raises `NotDifferentiable` at the launch, at the line of the kernel that has no right derivative.
    """
    if mode not in MODES:
        raise KernelTypeError(f"mode={mode!r}", hint="there are 'reverse' and 'forward'")
    if level not in LEVELS:
        raise KernelTypeError(f"level={level!r}", hint="there are 'auto', 'raised' and 'direct'")
    if isinstance(kernel, KernelBase):
        return Autodiff(kernel, mode, level, deterministic)
    raise KernelTypeError(
        f"pk.autodiff takes a kernel, not {type(kernel).__name__}", hint="decorate the function: @pk.kernel"
    )


def differentiated(kernel: KernelBase, derivative: Derivative) -> Any:
    """A kernel like `kernel` with a shadow behind each parameter that is differentiated."""
    made = Kernel(kernel.__wrapped__, kernel.options, kernel.workgroup, kernel.ndrange, kernel.text)
    taken = set(kernel.signature.parameters)
    parameters: list[inspect.Parameter] = []
    for number, parameter in enumerate(kernel.signature.parameters.values()):
        plain = parameter.replace(kind=parameter.POSITIONAL_OR_KEYWORD, default=parameter.empty)
        parameters.append(plain)
        if number in derivative.active:
            name = f"d_{parameter.name}"
            while name in taken:
                name = f"d_{name}"
            taken.add(name)
            parameters.append(plain.replace(name=name, annotation=parameter.empty))
    made.signature = inspect.Signature(parameters)
    made.annotations = {n: _without_intent(a) for n, a in kernel.annotations.items()}
    made.derivatives = (*kernel.derivatives, derivative)
    made.__name__ = f"{kernel.__name__}.{derivative.mode}"
    return made


def _without_intent(annotation: Any) -> Any:
    """A derivative reads what the kernel only writes."""
    return annotation.of if isinstance(annotation, IntentAnnotation) else annotation


def _checked(name: str, dup: Dup) -> list[Any]:
    """The two values of a `Dup`. Raises `LaunchError` where the shadow does not fit."""
    value, shadow = dup.value, dup.shadow
    if isinstance(value, Spec) or isinstance(shadow, Spec):
        return [value, shadow]
    if isinstance(value, (bool, int, np.bool_, np.integer)):
        raise KernelTypeError(
            f"`{name}` is an integer: nothing can be differentiated by it", hint="pass it plainly, or a float"
        )
    if isinstance(value, (float, np.floating)):
        wanted = np.dtype(np.float64) if isinstance(value, float) else value.dtype
        if getattr(shadow, "shape", None) != () or getattr(shadow, "dtype", None) != wanted:
            raise LaunchError(
                f"the shadow of the scalar `{name}` is {_described(shadow)}",
                hint=f"pass a 0-d array: np.zeros((), np.{wanted.name})",
            )
        return [value, shadow]
    if getattr(shadow, "shape", None) != getattr(value, "shape", None) or _dtype(shadow) != _dtype(value):
        raise LaunchError(
            f"the shadow of `{name}` is {_described(shadow)}, and `{name}` is {_described(value)}",
            hint=f"make it with np.zeros_like({name})",
        )
    return [value, shadow]


def array_specs(spec: Any) -> list[ArraySpec]:
    """The arrays of a parameter, flattened."""
    if isinstance(spec, StructSpec):
        return [found for _, inner in spec.fields for found in array_specs(inner)]
    return [spec] if isinstance(spec, ArraySpec) else []


def _dtype(value: Any) -> str:
    return str(getattr(value, "dtype", type(value).__name__))


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"{_dtype(value)}{list(shape)}" if shape is not None else f"a {type(value).__name__}"
