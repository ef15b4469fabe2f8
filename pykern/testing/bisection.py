"""`bisect`: the first stage of a kernel whose result is not what plain Python gives.

Comes in: a kernel and the arguments of a call. Goes out: None where the device agrees with the device ``python``, else
a `Fault`, which names the pass. Each stage's MLIR is run by an interpreter of its own (`pykern.interpreter`),
so that no later pass has a say; halving finds the step between a stage that agrees and one that does not.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pykern.api.kernel import Kernel, KernelBase
from pykern.compiler.service import service
from pykern.data.artifact import Artifact, Stage
from pykern.data.index_space import Extent, LaunchShape
from pykern.data.source import KernelSource, Parameter
from pykern.errors import KernelTypeError
from pykern.interpreter.memory import OutsideMemory
from pykern.launching.arguments import Passed, pass_value
from pykern.launching.launch import Launcher
from pykern.launching.launch_cache import LaunchCache
from pykern.launching.launch_kind import LaunchKind
from pykern.obtain.variant import Variant
from pykern.runtime.loader import load
from pykern.testing.reference import Copies, arrays_in, difference, home_of, names_of, run_call

PYTHON, CODE = "the kernel in Python", "the code that was made of the last stage"


@dataclass(frozen=True)
class Evidence:
    """What shows a fault again: IR before and after the step, the step itself, the call, what Python gives."""

    before: str
    after: str
    step: Callable[..., None] | None
    parameters: tuple[Parameter, ...]
    slots: tuple[tuple[int, ...], ...]
    arrays: tuple[tuple[np.ndarray, ...], ...]
    space: tuple[Extent, ...]
    plain: bool
    workgroup: tuple[int, ...]
    shared: int | None
    expected: tuple[np.ndarray, ...]
    tolerance: tuple[float | None, float | None]


@dataclass(frozen=True)
class Fault:
    """Between which stages a kernel's result became wrong.

    `stage` is the first one that is wrong and `before` the last one that was right; `suspects` are the steps
    between them: one, unless stages cannot be read. `diff` is what the step changed, `difference` where results
    differ.
    """

    kernel: str
    device: str
    stage: str
    before: str
    suspects: tuple[str, ...]
    difference: str
    diff: str = ""
    unread: tuple[tuple[str, str], ...] = ()
    evidence: Evidence | None = field(default=None, repr=False, compare=False)

    def write_reproducer(self, path: str) -> bool:
        """A script that shows the fault without the kernel; False where no one pass is known to be at fault."""
        from pykern.testing.bisection_script import script

        if self.evidence is None or len(self.suspects) != 1:
            return False
        with open(path, "w", encoding="utf-8") as file:
            file.write(script(self))
        return True

    @property
    def name(self) -> str:
        """The pass at fault; several, joined by commas, where it was not possible to tell."""
        return ", ".join(self.suspects)

    def __repr__(self) -> str:
        return f"<pykern.Fault in {self.kernel} on {self.device}: {self.name}>"

    def __str__(self) -> str:
        lines = [
            f"`{self.kernel}` on {self.device}: wrong since {self.stage}",
            f"  last right: {self.before}",
        ]
        if len(self.suspects) > 1:
            lines.append(f"  one of: {', '.join(self.suspects)}")
        lines += [f"  not read: {name} ({why})" for name, why in self.unread]
        return "\n".join([*lines, self.difference])


def bisect(
    kernel: Any,
    *args: Any,
    device: str | None = None,
    passes: Sequence[str | Callable[..., None]] = (),
    rtol: float | None = None,
    atol: float | None = None,
    **launch: Any,
) -> Fault | None:
    """Find the pass that makes `kernel` wrong for these arguments.

    ``bisect(heat, T2, T, 0.1, ndrange=T.shape, device="opencl:0")`` runs the call on `device` and as plain Python, on
    copies of the arrays. Where they agree it gives None. Else it looks for the first stage whose MLIR, interpreted,
    differs: a `Fault`. `passes` run on the kern stage, as those of `Kernel.lower`; `rtol` and `atol` are those of
    `assert_matches_python`. Stages are slow to interpret: choose the smallest arrays that show the fault.

    Raises what the kernel, the compiler and the devices raise.
    """
    if not isinstance(kernel, KernelBase):
        raise KernelTypeError(
            f"bisect takes a kernel, not {type(kernel).__name__}",
            hint="of a program, bisect the kernels it launches; assert_matches_python compares its results",
        )
    device = device or home_of(args) or "cpu"
    search = _Search(kernel, args, launch, device, tuple(passes), rtol, atol)
    return search.run()


class _WithStages(LaunchCache):
    """Compiles with every stage kept, past the disk cache, and keeps what it compiled."""

    def __init__(self, kernel: KernelBase, passes: tuple[Any, ...]) -> None:
        super().__init__(kernel)
        self.names_of_passes = tuple(p for p in passes if isinstance(p, str))
        self.live = tuple(p for p in passes if not isinstance(p, str))
        self.made: list[tuple[KernelSource, Artifact]] = []

    def obtained(self, source: KernelSource) -> Variant:
        artifact = self.compiled(source)
        return Variant(source, artifact, load(artifact.binary, artifact.entry))

    def compiled(self, source: KernelSource) -> Artifact:
        source = replace(source, passes=self.names_of_passes)
        artifact = service().compile(source, keep_stages=True, passes=self.live)
        artifact = replace(artifact, key=f"bisect-{len(self.made)}-{source.key('')}")
        self.made.append((source, artifact))
        return artifact


class _Watched(Launcher):
    """A launcher that remembers what it was asked."""

    def __init__(self, kernel: KernelBase, passes: tuple[Any, ...]) -> None:
        super().__init__(kernel)
        self.cache = self.stages = _WithStages(kernel, passes)
        self.asked = LaunchShape(())

    def source_of(self, kind: LaunchKind) -> Any:
        self.asked = kind.shape
        return super().source_of(kind)

    def _install(self, variant: Variant) -> None:
        """Calls of this kernel all go the long way."""


@dataclass
class _Search:
    kernel: KernelBase
    args: tuple
    launch: dict[str, Any]
    device: str
    passes: tuple[Any, ...]
    rtol: float | None
    atol: float | None
    seen: dict[str, str | None] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)

    def run(self) -> Fault | None:
        args = tuple(_dense(a) for a in self.args) if self.device != "cpu" else self.args
        self.args = args
        self.names = names_of(self.kernel, args, self.launch)
        self.expected, _ = run_call(self.kernel, args, self.launch, "python")
        twin: Any = Kernel(
            self.kernel.__wrapped__,
            self.kernel.options,
            self.kernel.workgroup,
            self.kernel.ndrange,
            self.kernel.text,
        )
        twin.derivatives, twin.timeout = self.kernel.derivatives, self.kernel.timeout
        watched = _Watched(twin, self.passes)
        twin.launcher = watched
        found, _ = run_call(twin, args, self.launch, self.device)
        wrong = self._differences(found)
        if wrong is None:
            return None
        _, artifact = watched.stages.made[-1]
        asked = watched.asked
        self.space, self.plain, self.workgroup = (
            asked.space,
            asked.plain,
            asked.workgroup or artifact.workgroup,
        )
        return self._halve([s for s in artifact.stages if s.kind == "mlir" and s.text], artifact, wrong)

    # -- the search ------------------------------------------------------------------------------

    def _halve(self, stages: list[Stage], artifact: Artifact, wrong: str) -> Fault:
        low, high, shown = -1, len(stages), wrong
        unread = self._stand_ins(stages)
        while True:
            between = [n for n in range(low + 1, high) if n not in unread]
            if not between:
                break
            middle = between[len(between) // 2]
            outcome = self._outcome(stages[middle])
            if outcome is None:
                unread.add(middle)
            elif outcome == "":
                low = middle
            else:
                high, shown = middle, outcome
        return self._fault(stages, artifact, low, high, shown)

    def _stand_ins(self, stages: list[Stage]) -> set[int]:
        """Stages where atomics are loads and stores that their locations mark: texts do not show those."""
        names = [s.name for s in stages]
        if "kern-lower-spirv-memory" not in names:
            return set()
        first = names.index("kern-lower-spirv-memory")
        last = next((n for n, name in enumerate(names) if name.startswith("kern-finish-spirv")), len(names))
        if first == 0 or '"kern.atomic' not in stages[first - 1].text:
            return set()
        self.unread |= dict.fromkeys(names[first:last], "atomics are stand-ins here")
        return set(range(first, last))

    def _outcome(self, stage: Stage) -> str | None:
        """ "" where the stage agrees with Python, else how it differs; None where it cannot be read."""
        from pykern.interpreter.emit import NoReading

        if stage.text not in self.seen:
            try:
                self.seen[stage.text] = self._interpreted(stage.text)
            except NoReading as error:
                self.seen[stage.text] = None
                self.unread[stage.name] = str(error)
            except OutsideMemory as error:
                self.seen[stage.text] = f"  the stage reaches outside of the arrays: {error}"
        return self.seen[stage.text]

    def _interpreted(self, text: str) -> str:
        from pykern.interpreter.stage import Call, run_stage

        passed, arrays = self._passed()
        run_stage(text, Call(passed, self.space, self.plain, self.workgroup, self.launch.get("shared_bytes")))
        return self._differences(arrays) or ""

    def _passed(self) -> tuple[tuple[Passed, ...], list[np.ndarray]]:
        """The arguments on copies of the arrays, and the copies."""
        copies = Copies()
        keywords = {n: v for n, v in self.launch.items() if n in self.kernel.signature.parameters}
        twins = [copies.of(value) for value in self.args]
        named = {name: copies.of(value) for name, value in keywords.items()}
        passed = tuple(
            pass_value(name, value, self.kernel.annotations.get(name))
            for name, value in self.kernel.bind(tuple(twins), dict(named))
        )
        return passed, arrays_in([*twins, *named.values()])

    def _differences(self, found: list[np.ndarray]) -> str | None:
        pairs = zip(self.names, self.expected, found, strict=False)
        wrong = [t for pair in pairs if (t := difference(*pair, self.device, self.rtol, self.atol))]
        return "\n".join(wrong) or None

    # -- what was found --------------------------------------------------------------------------

    def _fault(self, stages: list[Stage], artifact: Artifact, low: int, high: int, shown: str) -> Fault:
        before = stages[low] if low >= 0 else None
        texts = [before.text if before else ""] + [s.text for s in stages[low + 1 : high]]
        steps = [
            stages[n].name
            for n in range(low + 1, min(high + 1, len(stages)))
            if n == high or stages[n].text != texts[n - low - 1]
        ]
        after = stages[high] if high < len(stages) else None
        if after is None:
            made = [s.name for s in artifact.stages if s.kind not in ("mlir",)]
            driver = [] if self.device == "cpu" else [f"the driver of {self.device}"]
            steps += [*made, *driver] or [CODE]
        lines = difflib.unified_diff(
            before.text.splitlines() if before else [],
            after.text.splitlines() if after else [],
            before.name if before else PYTHON,
            after.name if after else CODE,
            lineterm="",
        )
        return Fault(
            self.kernel.__name__,
            self.device,
            after.name if after else CODE,
            before.name if before else PYTHON,
            tuple(steps),
            shown,
            "\n".join(lines) if before and after else "",
            tuple((name, why) for name, why in self.unread.items() if name in steps),
            self._evidence(before, after) if before and after else None,
        )

    def _evidence(self, before: Stage, after: Stage) -> Evidence:
        passed, _ = self._passed()
        live = [p for p in self.passes if not isinstance(p, str)]
        step = next((p for p in live if getattr(p, "__name__", "callback") == after.name), None)
        return Evidence(
            before.text,
            after.text,
            step,
            tuple(p.parameter for p in passed),
            tuple(p.slots for p in passed),
            tuple(p.arrays for p in passed),
            self.space,
            self.plain,
            self.workgroup,
            self.launch.get("shared_bytes"),
            tuple(self.expected),
            (self.rtol, self.atol),
        )


def _dense(value: Any) -> Any:
    """Arrays as a device keeps them."""
    if isinstance(value, np.ndarray):
        return np.ascontiguousarray(value)
    return value.numpy() if getattr(value, "__pykern_array__", False) else value
