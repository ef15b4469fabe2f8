"""Looking inside: `Lowered` holds every stage of a kernel, `Compiled` what came out of it.

Nothing here needs a device or data: arguments may be `spec`s.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pykern.compiler.service import service
from pykern.data.artifact import Artifact, Remark, Stage, no_stage
from pykern.data.debug_checks import debug_checks
from pykern.data.index_space import group_size, index_space, is_alone, is_plain, is_unit
from pykern.data.program_source import ProgramSource
from pykern.data.provided import provided
from pykern.data.source import (
    ArraySpec,
    KernelOptions,
    KernelSource,
    LaunchSpec,
    is_tiled,
)
from pykern.data.target import CPU, Target, parse
from pykern.errors import KernelSyntaxError, KernelTypeError, LaunchError, NotRaisable, TargetError
from pykern.launching.arguments import homes
from pykern.launching.short_lengths import with_short_lengths
from pykern.launching.specs import Spec, parameter
from pykern.lowering.targets import checked
from pykern.obtain.code import no_code
from pykern.runtime import registry

if TYPE_CHECKING:
    from pykern.api.kernel import KernelBase


@dataclass(frozen=True)
class Compiled:
    """Machine code of a kernel."""

    artifact: Artifact

    @property
    def binary(self) -> bytes:
        """The shared object (CPU)."""
        return self.artifact.binary

    @property
    def resources(self) -> dict[str, object]:
        """What the code takes; for the CPU: code bytes, stack bytes, vector width in bits."""
        return dict(self.artifact.resources)

    @property
    def source(self) -> str:
        """The kernel in another language, of a target such as ``wgsl``. Raises `TargetError` for other targets."""
        if parse(self.artifact.target).family not in ("source", "xp"):
            raise TargetError(
                f"{self.artifact.target} is no language", hint='lower with target="wgsl", for example'
            )
        return self.binary.decode()

    def asm(self) -> str:
        """The assembly text, or the source of a target that is a language; of an array program on a device that of
        each of its kernels."""
        if parse(self.artifact.target).family in ("source", "xp"):
            return self.source
        found = [s for s in self.artifact.stages if s.kind == "asm"]
        if self.artifact.program is None or not found:
            return next(s.text for s in found)
        return "\n".join(s.text for s in found if s.name == found[0].name)

    def __repr__(self) -> str:
        return (
            f"<pykern.Compiled {self.artifact.kernel} for {self.artifact.target}, {len(self.binary)} bytes>"
        )


@dataclass(frozen=True)
class Lowered:
    """A kernel with the IR after every pass. `stages` is in order; stages have `name`, `text`, `ms`."""

    source: KernelSource | ProgramSource
    artifact: Artifact
    passes: tuple[Any, ...] = ()
    """Live callables that ran on the kern stage."""

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What passes say of their work: each has `text`, and the `file` and `line` of Python it is about."""
        return self.artifact.remarks

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The IR after every pass, in order."""
        return self.artifact.stages

    @property
    def level(self) -> str:
        """The level of a derivative: "raised" or "direct"; "" for what is no derivative."""
        if getattr(self.source, "kernel", None) is not None:
            return "raised"
        derivatives = self.source.derivatives
        return "" if not derivatives else "direct" if isinstance(self.source, KernelSource) else "raised"

    def stage(self, name: str | int) -> Stage:
        """A stage by its number, its name, or a part of its name that only fits one."""
        if isinstance(name, int):
            if not -len(self.stages) <= name < len(self.stages):
                raise KeyError(f"no stage {name}; there are {len(self.stages)}")
            return self.stages[name]
        exact = [s for s in self.stages if s.name == name]
        found = exact or [s for s in self.stages if name and name in s.name]
        if not found:
            raise KeyError(no_stage(name, [s.name for s in self.stages]))
        return found[-1] if exact else found[0]

    def as_text(self, stage: str | int = "kern") -> str:
        """The IR of a stage."""
        return self.stage(stage).text

    def diff(self, a: str | int, b: str | int) -> str:
        """What changed from stage `a` to stage `b`, as a unified diff."""
        before, after = self.stage(a), self.stage(b)
        lines = difflib.unified_diff(
            before.text.splitlines(), after.text.splitlines(), before.name, after.name, lineterm=""
        )
        return "\n".join(lines)

    def compile(self) -> Compiled:
        """The machine code (made together with the stages). Raises `TargetError` for what is only looked at."""
        if not self.artifact.binary:
            raise no_code(self.artifact)
        return Compiled(self.artifact)

    def __repr__(self) -> str:
        return (
            f"<pykern.Lowered {self.artifact.kernel} for {self.artifact.target}, {len(self.stages)} stages>"
        )

    def __str__(self) -> str:
        width = max(len(s.name) for s in self.stages)
        rows = [f"{s.name:{width}}  {s.ms:8.2f} ms  {len(s.text.splitlines()):5} lines" for s in self.stages]
        return "\n".join([f"{self.artifact.kernel} for {self.artifact.target}", *rows])

    def _repr_html_(self) -> str:
        """Notebooks: the explorer's page, in a frame that can reach nothing outside of it."""
        return provided("lowered_html")(self)


KEYWORDS = ("ndrange", "workgroup", "shared_bytes", "target", "passes", "debug")


@dataclass(frozen=True)
class Raised:
    """Whether a kernel is linalg on tensors, by `Kernel.raised`: true or false, with the IR or the reason."""

    lowered: Lowered | None
    reason: NotRaisable | None

    def __bool__(self) -> bool:
        return self.lowered is not None

    @property
    def text(self) -> str:
        """The raised form; "" where there is none."""
        return "" if self.lowered is None else self.lowered.stages[-1].text

    def __repr__(self) -> str:
        if self.lowered is None:
            return f"<not raised: {self.reason.reason if self.reason else ''}>"
        return f"<raised: `{self.lowered.artifact.kernel}` is linalg on tensors, see .text>"


def raised(kernel: KernelBase, args: tuple, keywords: dict[str, Any]) -> Raised:
    """See `Kernel.raised`."""
    if is_tiled(kernel.captured()[0]):
        hint = 'k.lower(...).as_text("program") shows it'
        return Raised(None, NotRaisable("a tile kernel is on whole arrays from the start", hint=hint))
    try:
        return Raised(lower(kernel, args, {**keywords, "target": "linalg"}), None)
    except NotRaisable as reason:
        return Raised(None, reason)


def lower(kernel: KernelBase, args: tuple, keywords: dict[str, Any]) -> Lowered:
    """See `Kernel.lower`. Keywords are those of `KEYWORDS`; others are arguments."""
    passes = tuple(keywords.get("passes", ()))
    live = tuple(p for p in passes if not isinstance(p, str))
    compile = partial(service().compile, keep_stages=True, passes=live)
    return Lowered(*compiled_by(compile, kernel, args, {**keywords, "passes": passes}), live)


def compiled_by(
    compile: Callable[[KernelSource], Artifact], kernel: KernelBase, args: tuple, keywords: dict[str, Any]
) -> tuple[KernelSource, Artifact]:
    """What is compiled, and the code; for the short lengths of the arguments where there is no code for others."""
    source = source_of(kernel, args, keywords)
    try:
        return source, compile(source)
    except (KernelSyntaxError, KernelTypeError):
        known = source_of(kernel, args, keywords, short_lengths=True)
        if known == source:
            raise
    return known, compile(known)


def source_of(
    kernel: KernelBase, args: tuple, keywords: dict[str, Any], short_lengths: bool = False
) -> KernelSource:
    """What the compiler is asked for by `lower`, but for live passes. `short_lengths` of arrays are known to it."""
    keywords = dict(keywords)
    options = {n: keywords.pop(n) for n in KEYWORDS if n in keywords}
    values = kernel.bind(args, keywords)
    parameters = tuple(parameter(n, v, kernel.annotations.get(n)) for n, v in values)
    target = options.get("target")
    target = _target_of(values) if target is None else checked(target)
    source = KernelSource(
        kernel.captured()[0],
        parameters,
        _launch_spec(kernel, options, any(isinstance(v, Spec) for _, v in values)),
        _checked(kernel.options, options.get("debug"), target),
        target=target,
        derivatives=kernel.derivatives,
        passes=tuple(p for p in options.get("passes", ()) if isinstance(p, str)),
    )
    if not short_lengths:
        return source
    shapes = [
        tuple(v.shape) if isinstance(p.spec, ArraySpec) and not isinstance(v, Spec) else None
        for p, (_, v) in zip(parameters, values, strict=True)
    ]
    return with_short_lengths(source, shapes, chooses=False, checked=True)


def _checked(options: KernelOptions, debug: bool | str | None, target: Target) -> KernelOptions:
    """The options with what ``debug=`` asks for, where it is given; the CPU alone ends a launch."""
    options = replace(options, limited=options.limited and target.family == "llvm")
    if debug is None:
        return options
    checks = debug_checks(debug)
    return replace(options, debug=checks.bounds, nan=checks.nan, races=checks.races)


def _target_of(values: list[tuple[str, Any]]) -> Target:
    """What kernels are compiled for where the arrays live."""
    for name in homes(values).values():
        return parse(registry.info(name).target)
    return CPU


def _launch_spec(kernel: KernelBase, options: dict[str, Any], has_specs: bool) -> LaunchSpec:
    given = options.get("ndrange", kernel.ndrange)
    if given is None:
        raise LaunchError(f"`{kernel.__name__}.lower` needs an ndrange", hint="pass ndrange=(n, m)")
    names = given if isinstance(given, tuple) else (given,)
    symbolic = any(n is None or isinstance(n, str) for n in names)
    space = index_space(tuple(1 if n is None or isinstance(n, str) else n for n in names))
    plain = is_plain(space)
    known = has_specs or kernel.ndrange is not None or is_alone(kernel.derivatives, space)
    static = plain and not symbolic and known
    workgroup = options.get("workgroup", kernel.workgroup)
    size = () if workgroup is None else group_size(workgroup, len(space))
    shared = options.get("shared_bytes") is not None
    counts = tuple(e.count for e in space) if static else None
    return LaunchSpec(len(space), plain, counts, size, shared, is_unit(space))
