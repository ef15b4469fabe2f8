"""Following every op through the passes, back to the line of Python it was written as.

Comes in: the stages of a compilation, one by one, as a `Recorder` gets them. Goes out: the same stages
with `Stage.lineage`, and what a work-item costs. MLIR's own `snapshot-op-locations` prints the stage and
writes the line of each op into its location; rewrites hand locations on, so the next snapshot finds the
line of the parent there. From the last MLIR on, the line table of the debug information takes that part.
Read next: `code_lines`, `costs`.
"""

from __future__ import annotations

import collections
import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mlir import ir
from mlir.passmanager import PassManager

from pykern.compiler.code_lines import CodeLine, read_asm, read_llvm
from pykern.compiler.costs import costs_of, has_ids
from pykern.compiler.program_costs import COUNTED, program_costs
from pykern.compiler.spirv_lines import CARRYING, instruction, origins
from pykern.data.artifact import Stage
from pykern.data.lineage import BACKWARD, OPERATION, OTHER, PLUMBING, PRIMAL, TANGENT, Lineage, Place
from pykern.environment.memory_file import MemoryFile
from pykern.errors import KernelError
from pykern.lowering.record import PrintedLine, Recorder
from pykern.passes.autodiff import parts as derivative
from pykern.passes.kernels import programs

TAG = "pykern.stage"
_PARTS = {derivative.ADJOINT: BACKWARD, derivative.TANGENT: TANGENT}
PARSED = "-"
"""The file of ops that a pass reads from text of its own: nobody's Python."""

CARRIERS = frozenset(
    {
        "arith.constant", "builtin.module", "builtin.unrealized_conversion_cast", "arith.index_cast",
        "arith.index_castui", "cf.br", "func.return", "gpu.module", "gpu.module_end", "gpu.return", "index.casts",
        "index.castu", "linalg.yield", "llvm.br", "llvm.extractvalue", "llvm.insertvalue", "llvm.mlir.addressof",
        "llvm.mlir.constant", "llvm.mlir.poison", "llvm.mlir.undef", "llvm.mlir.zero", "llvm.return",
        "memref.cast", "memref.extract_strided_metadata", "memref.reinterpret_cast", "scf.forall.in_parallel",
        "scf.reduce", "scf.yield", "spirv.Branch", "spirv.Constant", "spirv.Return", "spirv.Undef",
        "spirv.mlir.addressof", "spirv.mlir.merge", "spirv.module", "ub.poison", "vector.yield",
    }
)  # fmt: skip
"""Ops that compute nothing: constants, casts that change no bits, descriptors, ends of blocks.

A conversion often gives them the location of whichever op wanted them first: to light them up with
its line would tell nothing."""


@dataclass
class Origin:
    """What the location of an op tells: lines in the last stage, and the place in Python."""

    parents: list[int] = field(default_factory=list)
    own: int = 0
    python: ir.Location | None = None
    part: str = PRIMAL
    kept: list[ir.Location] = field(default_factory=list)


@dataclass
class Look:
    """A stage as a snapshot left it."""

    text: str
    lineage: Lineage


class Tracer(Recorder):
    """Keeps what each stage left, with its lineage. Close it when the compilation is over."""

    def __init__(self, partial: str = "") -> None:
        super().__init__(texts=True)
        self._partial = partial
        self._module: ir.Module | None = None
        self._file = MemoryFile()
        self._path = ""
        self._last: Look | None = None
        self._code: list[CodeLine] = []

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Tracer:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, KernelError) and error.during:
            self._write(error.during)  # the last word in the file of stages: what failed
        self.close()

    def watch(self, module: ir.Module) -> None:
        """The module whose stages are going to be recorded."""
        self._module = module

    def add(self, name: str, text: str, started: float, kind: str = "mlir") -> None:
        self(Stage(name, text, (time.perf_counter() - started) * 1e3, kind))

    def add_lines(self, name: str, lines: Sequence[PrintedLine], started: float, kind: str) -> None:
        """Keep text that was printed from the module as the last stage left it."""
        files: dict[str, int] = {}
        origins = [[_origin(each, self._path, "") for each in locations] for _, locations in lines]
        text = "\n".join(text for text, _ in lines) + "\n"
        stage = Stage(name, text, (time.perf_counter() - started) * 1e3, kind)
        lineage = Lineage(
            files=(),
            kinds="".join(OPERATION if found else OTHER for found in origins),
            parents=tuple(tuple(sorted({each.own for each in found if each.own})) for found in origins),
            places=tuple(
                next((_place(each.python, files) for each in reversed(found) if each.python), None)
                for found in origins
            ),
            ops={},
            parts=_told_apart(
                [next((e.part for e in found if e.part != PRIMAL), PRIMAL) for found in origins]
            ),
        )
        self(replace(stage, lineage=replace(lineage, files=tuple(files))))

    def __call__(self, stage: Stage) -> None:
        """Keep a stage; what it leaves is looked at now, before the next pass changes it."""
        if stage.kind == "mlir" and self._module is not None:
            self._count(self._module, stage.name)
            look = self._look(self._module.operation) if self._last is None else self._last
            self._last = None
            stage = replace(stage, text=look.text, lineage=look.lineage)
        elif stage.kind in ("llvm", "asm") and stage.text and self._last is not None:
            stage = self._code_stage(stage)
        elif stage.kind == "spirv" and stage.text and self.stages:
            stage = _spirv_stage(stage, self.stages[-1])
        self.stages.append(stage)
        if stage.lineage is not None:
            self._write(stage)

    def _write(self, what: Stage | str) -> None:
        if self._partial:
            with open(self._partial, "ab") as file:
                pickle.dump(what, file, protocol=5)

    def _count(self, module: ir.Module, stage: str) -> None:
        """Costs are those of the last stage where work-items ask who they are: the simplified kernel. Of an array
        program those of its arrays before they are fused, a stage whose name comes again for loops over memory."""
        if stage == COUNTED and programs(module):
            if any(s.name == COUNTED for s in self.stages):
                return
            self.costs = program_costs(module)
        elif not self.stages or has_ids(module):
            self.costs = costs_of(module)

    def before_code(self, op: ir.Operation) -> None:
        """The last look at `op`, whose code is made next: from here on debug information tells the lines."""
        self._last = self._look(op)
        self._code = []
        if not _has_functions_of_llvm(op):
            return
        _run(op, f"snapshot-op-locations{{filename={self._file.path}}}")
        _run(op, "ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly}")

    def _look(self, op: ir.Operation) -> Look:
        # a path of its own: equal locations would be joined, and the parent of an unmoved line lost
        before, self._path = self._path, self._file.other_path(len(self.stages) + 1)
        _run(op, f"snapshot-op-locations{{filename={self._path} tag={TAG}}}")
        with open(self._path, encoding="utf-8") as file:
            text = file.read().rstrip("\n")
        return Look(text, self._read(op, before, len(text.splitlines())))

    def _read(self, root: ir.Operation, before: str, count: int) -> Lineage:
        files: dict[str, int] = {}
        kinds = [OTHER] * count
        parents: list[tuple[int, ...]] = [()] * count
        places: list[Place | None] = [None] * count
        parts = [PRIMAL] * count
        ops: collections.Counter[str] = collections.Counter()

        def visit(op: ir.Operation) -> ir.WalkResult:
            operation = op.operation
            origin = _origin(operation.location, self._path, before)
            ops[operation.name] += 1
            if origin.own:  # ends of blocks that are not printed have no line
                row = origin.own - 1
                kinds[row] = PLUMBING if operation.name in CARRIERS else OPERATION
                parents[row] = tuple(sorted(set(origin.parents)))
                places[row] = _place(origin.python, files)
                parts[row] = origin.part
            # what older stages said has served: locations stay short
            operation.location = ir.Location.fused(origin.kept, context=operation.context)
            return ir.WalkResult.ADVANCE

        root.walk(visit, ir.WalkOrder.PRE_ORDER)
        return Lineage(
            tuple(files), "".join(kinds), tuple(parents), tuple(places), dict(ops), _told_apart(parts)
        )

    def _code_stage(self, stage: Stage) -> Stage:
        """A stage below MLIR: its lines name lines of the last MLIR."""
        assert self._last is not None
        last = self._last.lineage
        lines = read_llvm(stage.text) if stage.kind == "llvm" else read_asm(stage.text, self._file.name)
        before: dict[int, list[int]] = collections.defaultdict(list)
        for number, line in enumerate(self._code, 1):
            before[line.origin].append(number)
        kinds, parents, places, parts = [], [], [], []
        for line in lines:
            row = line.origin - 1
            known = 0 <= row < len(last.kinds)
            carrier = line.calling or (known and last.kinds[row] != OPERATION)
            kinds.append(OTHER if not line.instruction else PLUMBING if carrier else OPERATION)
            places.append(last.places[row] if known else None)
            parts.append(last.parts[row] if known and last.parts else PRIMAL)
            if not known:
                parents.append(())
            else:
                parents.append(tuple(before[line.origin]) if self._code else last.parents[row])
        ops = collections.Counter(line.instruction for line in lines if line.instruction)
        self._code = lines
        lineage = Lineage(
            last.files, "".join(kinds), tuple(parents), tuple(places), dict(ops), _told_apart(parts)
        )
        return replace(stage, text="\n".join(line.text for line in lines), lineage=lineage)


def _spirv_stage(stage: Stage, last: Stage) -> Stage:
    """The instructions of a binary, after the module that it was made of."""
    assert last.lineage is not None
    rows = stage.text.rstrip("\n").splitlines()
    names, lines = [instruction(row) for row in rows], origins(last.text, rows)
    kinds = [
        OTHER
        if not name
        else PLUMBING
        if name in CARRYING
        else last.lineage.kinds[line - 1]
        if line
        else OPERATION
        for name, line in zip(names, lines, strict=True)
    ]
    parents = tuple((line,) if line else () for line in lines)
    places = tuple(last.lineage.places[line - 1] if line else None for line in lines)
    parts = [last.lineage.parts[line - 1] if line and last.lineage.parts else PRIMAL for line in lines]
    ops = dict(collections.Counter(name for name in names if name))
    lineage = Lineage(last.lineage.files, "".join(kinds), parents, places, ops, _told_apart(parts))
    return replace(stage, text="\n".join(rows), lineage=lineage)


def _told_apart(parts: list[str]) -> str:
    """Parts of the lines, "" where all are of one."""
    return "".join(parts) if any(part != PRIMAL for part in parts) else ""


def _run(op: ir.Operation, pipeline: str) -> None:
    with op.context:
        PassManager.parse(f"{op.name}({pipeline})").run(op)


def _has_functions_of_llvm(op: ir.Operation) -> bool:
    found = False

    def visit(inner: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found = found or inner.operation.name == "llvm.func"
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _origin(location: ir.Location, stage: str, before: str) -> Origin:
    """Sort the parts of a location: of this stage's snapshot, of the one before, Python, what else is to be kept."""
    origin = Origin()
    for part in location.locations if location.is_a_fused() else [location]:
        if not _is_snapshot(part):
            origin.kept.append(part)
            origin.python = origin.python or _file_location(part)
            if origin.part == PRIMAL:
                origin.part = _PARTS.get(derivative.part_of(part), PRIMAL)
            if part.is_a_name():  # a pass marks an op with a name around the location it had
                origin.parents.extend(_origin(part.child_loc, stage, before).parents)
        elif part.child_loc.filename == stage:
            origin.own = part.child_loc.start_line
            origin.kept.append(part)
        elif part.child_loc.filename == before:
            origin.parents.append(part.child_loc.start_line)
    return origin


def _is_snapshot(location: ir.Location) -> bool:
    return location.is_a_name() and location.name_str == TAG


def _file_location(location: ir.Location) -> ir.Location | None:
    """The innermost place of Python: where a function was inlined, the line inside of it."""
    if location.is_a_file():
        return location if location.start_line > 0 and location.filename != PARSED else None
    if location.is_a_name():
        return None if _is_snapshot(location) else _file_location(location.child_loc)
    if location.is_a_callsite():
        return _file_location(location.callee)
    if location.is_a_fused():
        return next((f for part in location.locations if (f := _file_location(part)) is not None), None)
    return None


def _place(location: ir.Location | None, files: dict[str, int]) -> Place | None:
    if location is None:
        return None
    file = files.setdefault(location.filename, len(files))
    return Place(file, location.start_line, location.start_col - 1)
