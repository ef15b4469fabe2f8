"""The one tree of errors: each knows its place in the user's source, a code, and a way out.

Comes in: a reason, where it applies a `SourceSpan`, and what to write instead.
Goes out: an exception whose text shows file, line, the line itself, a caret, the advice, and the page of its code.
A class has a code, and finer ones where a reason comes up often: `CODES`.
"""

from __future__ import annotations

import sys

from pykern.data.locations import SourceSpan
from pykern.data.shown_frames import shown_by_frames

CALLED_FROM, LAUNCHED_FROM = "called from ", "launched from "
"""Begin of the notes that tell the calls and launches which led to a place, innermost first."""

__all__ = [
    "AssertionFailed", "CompilerCrash", "DataRace", "DeviceError", "KernelError", "KernelSyntaxError",
    "KernelTypeError", "LaunchError", "NotANumber", "NotDifferentiable", "NotRaisable", "OutOfBounds",
    "OutOfMemory", "PassError", "TargetError", "TimedOut", "UsedAfterFree", "VerifyError",
]  # fmt: skip

UNDEFINED_NAME, NO_VALUE, CAPTURED, INDICES = "PK015", "PK016", "PK017", "PK018"
ARGUMENT_TYPE, ARGUMENTS, CHANGED_KIND = "PK019", "PK020", "PK021"
NDRANGE, WORKGROUP, ARRAY_MEMORY = "PK022", "PK023", "PK024"
NO_DEVICE, DIFFERENT_DEVICES = "PK025", "PK026"

NAN_HINT = "look at where its operands come from, or guard it: pk.where, if, pk.isnan"
TIME_HINT = "look for a loop that does not end, or give a longer timeout="
NEGATIVE_POWER = "an integer is raised to a negative power"
BY_ZERO = "an integer is divided by zero"
ZERO_STEP = "the step of a range is zero"
"""What ``debug=True`` and the reference device say of it."""

CODES: dict[str, tuple[str, str]] = {
    "PK001": ("KernelSyntaxError", "Python that kernels do not have"),
    "PK002": ("KernelTypeError", "types that do not fit"),
    "PK003": ("VerifyError", "a pass left invalid IR"),
    "PK004": ("PassError", "a pass or a pipeline failed"),
    "PK005": ("NotRaisable", "a kernel has no form on whole arrays"),
    "PK006": ("NotDifferentiable", "no right derivative is known"),
    "PK007": ("TargetError", "the target lacks what the kernel needs"),
    "PK008": ("CompilerCrash", "the compiler died"),
    "PK009": ("LaunchError", "a launch that this kernel cannot run"),
    "PK010": ("DeviceError", "a device failed, or cannot do this"),
    "PK011": ("OutOfBounds", "an access outside of an array"),
    "PK012": ("AssertionFailed", "an assert did not hold"),
    "PK013": ("OutOfMemory", "a device is out of memory"),
    "PK014": ("UsedAfterFree", "an array is used after it was freed"),
    UNDEFINED_NAME: ("KernelSyntaxError", "a name is not defined"),
    NO_VALUE: ("KernelSyntaxError", "a name has no value on some path"),
    CAPTURED: ("KernelTypeError", "an object from outside that kernels cannot use"),
    INDICES: ("KernelTypeError", "the number or the type of indices is wrong"),
    ARGUMENT_TYPE: ("KernelTypeError", "a value that kernels cannot take as an argument"),
    ARGUMENTS: ("KernelTypeError", "arguments that do not match the parameters"),
    CHANGED_KIND: ("KernelTypeError", "a name means two kinds of things"),
    NDRANGE: ("LaunchError", "the ndrange is missing or wrong"),
    WORKGROUP: ("LaunchError", "the workgroup is wrong"),
    ARRAY_MEMORY: ("LaunchError", "arrays that are read-only, or overlap"),
    NO_DEVICE: ("DeviceError", "there is no such device"),
    DIFFERENT_DEVICES: ("DeviceError", "arrays and launch on different devices"),
    "PK027": ("NotANumber", "an operation made a NaN of numbers"),
    "PK028": ("DataRace", "two work-items access an element without an order"),
    "PK029": ("TimedOut", "a launch took longer than its time limit"),
}
"""Every code: the class that carries it, and what it means in a few words. ``docs/errors`` has a page for each."""


class KernelError(Exception):
    """Base of every error pykern raises.

    `code` is stable (``PK012``), `span` the place in the user's kernel (or None),
    `hint` what to do, `notes` further places that matter ("`x` was made i32 here").
    """

    code = "PK000"
    source: object = None
    """What was compiled when it failed, where that is known: `pk.explore(error)` shows how far it came."""
    passes: tuple = ()
    parameters: tuple[str, ...] = ()
    """Of a program's function: whose values would have to be known when compiling for it not to be raised."""
    during: str = ""
    """The pass that raised it; known where it is raised, not across processes."""

    def __init__(
        self,
        reason: str,
        span: SourceSpan | None = None,
        hint: str | None = None,
        notes: tuple[tuple[str, SourceSpan | None], ...] = (),
        code: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span
        self.hint = hint
        self.extra_notes = notes
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        """All of it; in a traceback that ends at its place, which shows line and caret itself, without these."""
        return render(self, self.span is None or not shown_by_frames(self.__traceback__, self.span))

    def __reduce__(self):  # errors cross the process boundary
        arguments = (self.reason, self.span, self.hint, self.extra_notes, self.code)
        return (type(self), arguments, {"parameters": self.parameters})


class KernelSyntaxError(KernelError):
    """The kernel uses Python that kernels do not have."""

    code = "PK001"


def nested_too_deeply(name: str, span: SourceSpan | None = None) -> KernelSyntaxError:
    """The error for a function that Python's limit of recursion, here and now, has no room for."""
    return KernelSyntaxError(
        f"`{name}` is nested too deeply, or calls functions that are: Python's limit of recursion here is "
        f"{sys.getrecursionlimit()}",
        span,
        hint="give parts of long expressions names, and make chains of `elif` and of calls shorter; "
        "sys.setrecursionlimit allows more",
    )


class KernelTypeError(KernelError, TypeError):
    """Operands, arguments or annotations whose types do not fit."""

    code = "PK002"


class VerifyError(KernelError):
    """A pass left IR that its stage does not allow."""

    code = "PK003"


class PassError(KernelError):
    """A pass or pipeline failed, or a pipeline text does not parse."""

    code = "PK004"


class NotRaisable(KernelError):
    """The loops of this kernel have no proved form on tensors."""

    code = "PK005"


class NotDifferentiable(KernelError):
    """No right derivative of this kernel is known."""

    code = "PK006"


class TargetError(KernelError):
    """The target lacks what the kernel needs."""

    code = "PK007"


class CompilerCrash(KernelError):
    """The compiler process died; `reproducer` is the file that shows it again."""

    code = "PK008"
    reproducer: str | None = None


class LaunchError(KernelError, ValueError):
    """Arguments or launch keywords that this kernel cannot run with."""

    code = "PK009"


class DeviceError(KernelError):
    """A device that is not there, or failed."""

    code = "PK010"


class OutOfBounds(KernelError, IndexError):
    """An access outside of an array, found before a launch or by ``debug=True``; nothing outside was touched."""

    code = "PK011"


class AssertionFailed(KernelError, AssertionError):
    """An ``assert`` of a kernel did not hold for some work-item."""

    code = "PK012"


class OutOfMemory(DeviceError, MemoryError):
    """A device has no room for an array, also after giving back what was kept for reuse."""

    code = "PK013"


class UsedAfterFree(DeviceError):
    """An array whose memory was given back with `Array.free` is used."""

    code = "PK014"


class NotANumber(KernelError, ArithmeticError):
    """An operation made a NaN of operands that are none, found by ``debug="nan"``."""

    code = "PK027"


class DataRace(KernelError):
    """Two work-items access an element with no order between them, found by ``debug="races"``."""

    code = "PK028"


class TimedOut(KernelError, TimeoutError):
    """A launch took longer than the kernel's ``timeout=``; its arrays are partly written."""

    code = "PK029"


def render(error: KernelError, places: bool = True) -> str:
    """The text of an error: reason, then the place with its caret, then hint and notes; without the `places` of the
    error and of the calls that led there, where frames above it show them."""
    lines = [f"{error.reason} [{error.code}]" if error.code else error.reason]
    if error.span is not None and places:
        lines += error.span.render()
    if error.hint:
        lines.append(f"  help: {error.hint}")
    for text, span in error.extra_notes:
        if span is not None and not places and text.startswith((CALLED_FROM, LAUNCHED_FROM)):
            continue
        lines.append(f"  note: {text}")
        if span is not None:
            lines += span.render()
    if error.code in CODES:
        lines.append(f"  more: pykern explain {error.code}")
    return "\n".join(lines)
