"""`Artifact`: what the compiler gives back, as plain data.

Comes in: the compiler fills it. Goes out: the runtime loads `binary`, `Lowered` shows `stages`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import field
from difflib import get_close_matches

from pykern.data.costs import Costs
from pykern.data.launch_bounds import NO_BOUNDS, LaunchBounds
from pykern.data.lineage import Lineage
from pykern.data.locations import SourceSpan
from pykern.data.records import record

ACCESS_OFFSETS = "access offsets"
"""The resource of the target `ACCESSES`: which elements the kernel accesses, `pykern.data.access_offsets`."""
FROM_END = "from end"
"""The resource of the reference device's: accesses that count from the end, `pykern.frontend.from_end`."""
PRODUCT = "product"
"""The resource of a kernel that computes products of matrices: large launches may run in tiles."""
SHORT_NUMBERS = "short numbers"
"""The resource of a kernel for the CPU: the numbers of a launch for which it may get code of its own,
`pykern.passes.analysis.short_numbers`."""
LONG_NAME = 60
"""Characters of a stage's name that messages show."""
ENDINGS = {
    "mlir": "mlir", "llvm": "ll", "asm": "s", "spirv": "spvasm", "c": "c", "opencl-c": "cl", "cuda-cpp": "cu",
    "hip-cpp": "hip", "msl": "metal", "wgsl": "wgsl",
}  # fmt: skip
"""Kinds of stages, and how files of them end."""
SHARDING = "sharding"
"""The resource of a text over whole arrays: the rule by which dimensions are cut among devices, then its letters that
are never cut."""
SCRATCH = "scratch"
"""The resource of CPU code that asks for memory while it runs: kept memory, where that is loaded."""


@record
class Stage:
    """The IR after one pass: `ms` is the time the pass took, `kind` is one of `ENDINGS`.

    `lineage` tells where each line comes from, where that was asked for.
    """

    name: str
    text: str
    ms: float
    kind: str = "mlir"
    lineage: Lineage | None = None

    def __repr__(self) -> str:
        return f"<pykern.Stage {short(self.name)!r}: {len(self.text.splitlines())} lines of {self.kind}>"


def no_stage(name: str, names: Sequence[str]) -> str:
    """Why there is no stage of a name: those that are nearly called so, else all of them."""
    near = get_close_matches(name, names, 3, 0.5)
    if near:
        return f"no stage {name!r}: did you mean {' or '.join(dict.fromkeys(repr(short(n)) for n in near))}?"
    return f"no stage {name!r}; there are {', '.join(dict.fromkeys(short(n) for n in names))}"


def short(name: str) -> str:
    """A stage's name without the options of a long pipeline."""
    return name if len(name) <= LONG_NAME else f"{name[:LONG_NAME]}…"


@record
class Remark:
    """A sentence about a line of Python; `file` is "" and `line` 0 where it is about the kernel."""

    text: str
    file: str = ""
    line: int = 0


@record
class Site:
    """A place in a kernel that may report at run time: a print, an assert, a bounds check.

    `template` is the text of a print (with ``{}`` for each value) or of an assert. `callers` are the calls that led
    to it, innermost first, where it is in a function.
    """

    kind: str
    span: SourceSpan
    template: str = ""
    dtypes: tuple[str, ...] = ()
    callers: tuple[SourceSpan, ...] = ()


@record
class ArgumentUse:
    """What a kernel does with an array argument."""

    reads: bool
    writes: bool


@record
class ResultSpec:
    """A result of an array program. `argument` is the flattened argument whose memory it takes, or -1."""

    dtype: str
    shape: tuple[int, ...]
    argument: int = -1


@record
class TapeUse:
    """The tape that a launch brings for a derivative.

    `words` is what each work-item needs, 0 where launches have to count it; `told` tells whether the
    lengths and scalars of a launch decide it, so that what one launch counted holds for the next.
    """

    words: int
    told: bool


@record
class DeviceCode:
    """What launching code on a GPU-like device takes beside its binary.

    `format` is "spirv", "ptx", "cubin" or "hsaco". `arguments` holds "memory", "slot" or the text of a `tensor_form`
    for each argument of the kernel, in the order of `pykern.data.abi`; `offsets` tells whether every memory is
    followed by the slot that holds its offset. `shared_bytes` is the static shared memory of a group;
    `dynamic_shared` tells whether the launch adds to it, for each of `dynamic_arrays` as much; `tape` is there
    where it brings one. `sites` are those that the target has added: number k is -1 - k in a report.
    `launch_shared` is shared memory that launches of a program's kernel bring, in bytes.
    `each` is how many work-items of a launch one of the device does, in each dimension; empty where it does one.
    `names` are those of the arguments in a text that holds a program, "" where the text leaves one out.
    """

    format: str
    arguments: tuple[str, ...]
    offsets: bool = False
    shared_bytes: int = 0
    dynamic_shared: bool = False
    tape: TapeUse | None = None
    dynamic_arrays: int = 1
    sites: tuple[Site, ...] = ()
    names: tuple[str, ...] = ()
    launch_shared: int = 0
    each: tuple[int, ...] = ()

    def covered(self, group: tuple[int, ...]) -> tuple[int, ...]:
        """The work-items of a launch that a group of this size does, in each dimension."""
        return tuple(map(operator.mul, group, self.each)) if self.each else group


@record
class PlanKernel:
    """A kernel of a program on a device: `begin` and `end` say where in the program's binary its own lies.

    `writes` are numbers of the arguments it writes; `reports` tells whether it takes the program's report.
    """

    symbol: str
    begin: int
    end: int
    workgroup: tuple[int, ...]
    device: DeviceCode
    writes: tuple[int, ...] = ()
    reports: bool = False


@record
class ProgramPlan:
    """What the host does for an array program on a device.

    `steps` is JSON; `pykern.program.steps` tells its form. Values live in `registers` numbered places, those of
    the program's arguments first.
    """

    kernels: tuple[PlanKernel, ...]
    registers: int
    steps: str


@record
class ProgramLayout:
    """What calling an array program takes beside its arguments.

    `results` are in order, the new values of `updated` arguments last; `tree` is JSON that tells how the
    returned value is made of them. `scratch_bytes` of memory have to be brought along. `plan` is there
    where the program runs on a device. `long` tells whether it takes so long, or nobody knows how long, that other
    threads of Python should run meanwhile.
    """

    results: tuple[ResultSpec, ...]
    tree: str
    updated: tuple[int, ...] = ()
    scratch_bytes: int = 0
    plan: ProgramPlan | None = None
    long: bool = True


@record
class Artifact:
    """A compiled kernel, or a compiled array program: then `program` is there.

    `binary` is a shared object for the CPU, and what `device` says for other devices; `entry` its symbol.
    `uses` has one `ArgumentUse` per array argument, in the order of the flattened arguments. `workgroup`
    is the size the code was made for, () where work-items know no groups. `sites` are named by number
    in the code. `bounds` are checked before each launch. `stages` is empty unless it was asked for.
    """

    key: str
    kernel: str
    target: str
    entry: str
    binary: bytes
    uses: tuple[ArgumentUse, ...] = ()
    workgroup: tuple[int, ...] = ()
    shared_bytes: int = 0
    sites: tuple[Site, ...] = ()
    bounds: LaunchBounds = NO_BOUNDS
    resources: dict[str, object] = field(default_factory=dict)
    stages: tuple[Stage, ...] = ()
    times: tuple[tuple[str, float], ...] = ()
    """Milliseconds per stage, in order; there also where the texts are not."""
    program: ProgramLayout | None = None
    device: DeviceCode | None = None
    remarks: tuple[Remark, ...] = ()
    """What passes say of their work; see `pykern.passes.remarks`."""
    warnings: tuple[Remark, ...] = ()
    """What is told of launches of more than one work-item; see `pykern.passes.kernel.work_item_warnings`."""
    costs: Costs | None = None
    """What one work-item does; there where lines were followed."""

    def __repr__(self) -> str:
        return f"<pykern.Artifact {self.kernel} for {self.target}, {len(self.binary)} bytes>"

    @property
    def lacks_code(self) -> bool:
        """Whether there are stages alone, because what makes the code is not installed."""
        plan = self.program.plan if self.program is not None else None
        return not self.binary and (self.device is not None or bool(plan is not None and plan.kernels))

    @property
    def reports(self) -> bool:
        """Whether launches leave a report."""
        return bool(self.sites or (self.device is not None and self.device.sites))

    def reported(self, cell: int) -> Site:
        """The site that the first cell of a report names."""
        if cell > 0:
            return self.sites[cell - 1]
        assert self.device is not None
        return self.device.sites[-1 - cell]
