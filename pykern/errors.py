"""The one tree of errors: each knows its place in the user's source, a code, and a way out.

Comes in: a reason, where it applies a `SourceSpan`, and what to write instead.
Goes out: an exception whose text shows file, line, the line itself, a caret and the advice.
"""

from __future__ import annotations

from pykern.locations import SourceSpan


class KernelError(Exception):
    """Base of every error pykern raises.

    `code` is stable (``PK012``), `span` the place in the user's kernel (or None),
    `hint` what to do, `notes` further places that matter ("`x` was made i32 here").
    """

    code = "PK000"
    source: object = None
    """What was compiled when it failed, where that is known: `pk.explore(error)` shows how far it came."""
    passes: tuple = ()

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
        return render(self)

    def __reduce__(self):  # errors cross the process boundary
        return (type(self), (self.reason, self.span, self.hint, self.extra_notes, self.code))


class KernelSyntaxError(KernelError):
    """The kernel uses Python that kernels do not have."""

    code = "PK001"


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
    """An access outside of an array, found by ``debug=True``; nothing outside was touched."""

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


def render(error: KernelError) -> str:
    """The text of an error: reason, then the place with its caret, then hint and notes."""
    lines = [f"{error.reason} [{error.code}]"]
    if error.span is not None:
        lines += error.span.render()
    if error.hint:
        lines.append(f"  help: {error.hint}")
    for text, span in error.extra_notes:
        lines.append(f"  note: {text}")
        if span is not None:
            lines += span.render()
    return "\n".join(lines)
