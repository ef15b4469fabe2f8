"""Numbers that decide stand in one table: `passes/analysis/cost_model`, with unit and reason.

Elsewhere in `passes/`, `lowering/` and the frontend a number has a name only where it is a fact, not a decision: the
lists here say why each is one.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from tests.project.tree import imports, is_in, modules, trees

TABLE = "pykern.passes.analysis.cost_model"
FOLDERS = ("pykern.passes", "pykern.lowering", "pykern.frontend")
COEFFICIENTS = "pykern.passes.arithmetic.vector_math"
FACTS = {
    ("pykern.passes.analysis.alignment", "BYTES"): "what the widest access takes",
    ("pykern.passes.autodiff.rules.digamma", "_SERIES"): "coefficients",
    ("pykern.passes.autodiff.rules.digamma", "_STEPS"): "belongs to the coefficients",
    ("pykern.passes.autodiff.tensor.cut", "NEVER"): "infinity",
    ("pykern.passes.autodiff.tensor.cut", "_SOURCE"): "numbers of nodes",
    ("pykern.passes.fusion.attention.calls", "FACTORS"): "counts of operands",
    ("pykern.passes.codegen.cpu.contraction.cost_model", "QUADS"): "layout: bytes in 32 bits",
    ("pykern.passes.codegen.cpu.contraction.edges", "ROW"): "bits of a mark",
    ("pykern.passes.codegen.cpu.contraction.narrow", "LIFT"): "the highest bit of a byte",
    ("pykern.passes.codegen.cpu.contraction.narrow_tile", "GROUP_BITS"): "layout: bits of a group",
    ("pykern.passes.codegen.device.factor_boxes", "LINES"): "beside numbers of groups",
    ("pykern.passes.codegen.device.word_layout", "CHUNK"): "layout: words of 16 bytes",
    ("pykern.passes.codegen.device.word_layout", "LINES"): "layout: lines of an instruction",
    ("pykern.passes.codegen.device.word_layout", "_LEAST_CHUNKS"): "layout: of a line without conflicts",
    ("pykern.passes.codegen.device.word_panel", "_BLOCKS"): "what words hold in both orders",
    ("pykern.passes.codegen.device.word_panel", "_SPREAD"): "layout: bytes that take all banks",
    ("pykern.passes.ir.index_arithmetic", "LARGEST"): "beyond all indices",
    ("pykern.passes.kernel.check_nans", "MOST_VALUES"): "layout of a report",
    ("pykern.passes.kernel.constant_loops", "_FIT"): "what 32 bits hold",
    ("pykern.passes.kernel.launch_bounds.slopes", "UNKNOWN_FACTOR"): "beside known factors",
    ("pykern.passes.kernel.launch_bounds.slopes", "_ENDLESS"): "beside known factors",
    ("pykern.passes.kernel.privatise_reductions", "_INTEGERS"): "widths of types",
    ("pykern.passes.raise_to_linalg.conditions", "LARGEST"): "beyond all indices",
    ("pykern.passes.raise_to_linalg.views", "DYNAMIC"): "MLIR's mark of an unknown length",
    ("pykern.passes.registry", "LARGEST"): "what options can hold",
    ("pykern.passes.vectorize.accesses", "_INTEGERS"): "widths of types",
    ("pykern.passes.vectorize.lanes", "_FAR"): "beyond numbers of lanes",
    ("pykern.passes.vectorize.selection", "NO_POSITION"): "what 31 bits hold",
}

FORMAT, FOREIGN, OWN, HARDWARE, TEXT = (
    "numbers of a file format",
    "layouts and codes of Python, NumPy, LLVM, XLA, chips or the system",
    "our own layouts, marks, and room in them",
    "what chips and drivers have or allow",
    "how source text or a message is written",
)
FACTS_OF_TARGETS = {
    "pykern.lowering.elf.aarch64": (FORMAT, "NUMBER PAGE WORD IMPORTED STUB_SIZE"),
    "pykern.lowering.elf.amdgpu": (FORMAT, "NUMBER _WHOLE"),
    "pykern.lowering.elf.code_object": (FORMAT, "PAGE"),
    "pykern.lowering.elf.objects": (FORMAT, "NOBITS WRITE LOCAL NO_TYPE DEFAULT UNDEFINED _PAGE _PROGBITS"),
    "pykern.lowering.elf.shared_object": (FORMAT, "_LINE"),
    "pykern.lowering.elf.tables": (FORMAT, "SEGMENTS Tables.DYNAMIC"),
    "pykern.lowering.elf.writer": (FORMAT, "HEADER_SIZE SHARED_OBJECT LOAD STACK EXECUTABLE Section.size"),
    "pykern.lowering.elf.x86_64": (FORMAT, "NUMBER PAGE WORD IMPORTED STUB_SIZE _MOV _TO_CELL"),
    "pykern.lowering.gpu.compare_offsets": (HARDWARE, "FAR"),
    "pykern.lowering.gpu.flat_memory": (HARDWARE, "FlattenMemory.atomic_width"),
    "pykern.lowering.gpu.integer_elements": (HARDWARE, "WORD"),
    "pykern.lowering.gpu.lane_rows": (FOREIGN, "_QUAD_1032 _HALF_MIRROR _ALL _SWAP_16"),
    "pykern.lowering.gpu.limits": (HARDWARE, "MAX_SHARED CheckLimits.max_depth CheckLimits.max_private"),
    "pykern.lowering.gpu.matrix_memory": (HARDWARE, "COUNT _WORD"),
    "pykern.lowering.gpu.pointers": (HARDWARE, "GLOBAL BUFFER_ALIGNMENT BROUGHT_ALIGNMENT"),
    "pykern.lowering.gpu.tapes": (OWN, "USED"),
    "pykern.lowering.gpu.warpgroup_memory": (HARDWARE, "_TICKS _TERM_BYTES _LINES_OF_TERMS _WORDS _STEPS _SWIZZLE"),
    "pykern.lowering.gpu.work_items": (HARDWARE, "SMALL"),
    "pykern.lowering.llvm.adapt.arrays": (FOREIGN, "STRIDED_WITH_FORMAT BUF CPU"),
    "pykern.lowering.llvm.adapt.calls": (FOREIGN, "BASIC_SIZE"),
    "pykern.lowering.llvm.adapt.frame": (OWN, "MOST_VIEWS MAX_RANK VALUES MUCH"),
    "pykern.lowering.llvm.adapt.space": (FOREIGN, "TUPLE_SUBCLASS"),
    "pykern.lowering.llvm.adapt.views": (FOREIGN, "F_CONTIGUOUS TYPE_NUMBER"),
    "pykern.lowering.llvm.caching_allocator": (OWN, "ALIGNMENT HUGE_PAGE MOST RECORD READ_WRITE"),
    "pykern.lowering.llvm.codegen": (OWN, "QUICK"),
    "pykern.lowering.llvm.fault_handler": (
        FOREIGN, "SIGSEGV _FLAGS _CALLS _ACTION _ACTION_FLAGS _EFAULT _ENTRY",
    ),
    "pykern.lowering.llvm.libllvm": (FOREIGN, "LEVEL_NONE ASSEMBLY EXTERNAL HIDDEN RETURN_STATUS"),
    "pykern.lowering.llvm.object_functions": (OWN, "NEGATIVE"),
    "pykern.lowering.llvm.program.entry_state": (OWN, "SLOT"),
    "pykern.lowering.llvm.program.object_functions": (OWN, "UNALIGNED ALIGNMENT _BEHIND"),
    "pykern.lowering.llvm.program.work": (OWN, "UNKNOWN"),
    "pykern.lowering.llvm.python_objects": (
        FOREIGN, "TYPE DATA C_CONTIGUOUS PAYLOAD BYTES_PAYLOAD START GUARD",
    ),
    "pykern.lowering.llvm.team.calls": (OWN, "RAISED"),
    "pykern.lowering.llvm.team.interrupts": (
        FOREIGN, "FIRST ACTION_BYTES WITH_INFO UNBLOCK FLOATING_STATE CONTROL",
    ),
    "pykern.lowering.llvm.team.memory_blocks": (OWN, "HEAD CAPACITY"),
    "pykern.lowering.llvm.team.state": (OWN, "LINE MOST SLOTS CHUNKS INSIDE FRAME_BYTES"),
    "pykern.lowering.llvm.team.system": (
        FOREIGN, "WAIT ALL MONOTONIC MASK_BYTES ATTRIBUTES_BYTES SECOND OTHER",
    ),
    "pykern.lowering.llvm.team.threads": (FOREIGN, "SYNCHRONOUS DETACHED"),
    "pykern.lowering.llvm.team.watch": (OWN, "NOBODY STACK"),
    "pykern.lowering.llvm.team.workers": (OWN, "STACK"),
    "pykern.lowering.llvm.text_ir.function": (OWN, "LIKELY"),
    "pykern.lowering.nvvm.chips": (HARDWARE, "SUBGROUP MAX_GROUP MAX_DEPTH STATIC_SHARED REGISTERS Chip.reserved"),
    "pykern.lowering.nvvm.occupancy": (HARDWARE, "REGISTER_UNIT PARTITIONS SHARED_UNIT"),
    "pykern.lowering.rocdl.barriers": (HARDWARE, "CDNA_SHARED"),
    "pykern.lowering.rocdl.chips": (HARDWARE, "MAX_GROUP _K"),
    "pykern.lowering.rocdl.codegen": (FORMAT, "CODE_OBJECT"),
    "pykern.lowering.rocdl.metadata": (FORMAT, "_PT_NOTE _NT_AMDGPU_METADATA"),
    "pykern.lowering.rocdl.occupancy": (HARDWARE, "SHARED_UNIT"),
    "pykern.lowering.rocdl.pipeline": (HARDWARE, "PRIVATE"),
    "pykern.lowering.source.expressions": (TEXT, "ATOM"),
    "pykern.lowering.source.language": (HARDWARE, "Language.atomic_bits"),
    "pykern.lowering.source.msl": (HARDWARE, "Metal.atomic_bits"),
    "pykern.lowering.source.narrow_words": (TEXT, "_GIVEN _BIAS _INFINITE"),
    "pykern.lowering.source.native_wgsl": (HARDWARE, "NativeWgsl.atomic_bits"),
    "pykern.lowering.source.pairs": (TEXT, "_SWAPPED"),
    "pykern.lowering.source.scalars": (FOREIGN, "_FIRST_UNSIGNED _ORDERED_EQUAL"),
    "pykern.lowering.source.wgsl": (HARDWARE, "Wgsl.atomic_bits"),
    "pykern.lowering.source.words": (OWN, "MOST"),
    "pykern.lowering.spirv.cut_loops": (HARDWARE, "MOST_ITERATIONS"),
    "pykern.lowering.spirv.loop_results": (HARDWARE, "PLACES"),
    "pykern.lowering.spirv.nesting": (HARDWARE, "MOST_NESTED"),
    "pykern.lowering.xp.scalars": (FOREIGN, "_FIRST_UNSIGNED"),
}  # fmt: skip
"""The same for `lowering/`, by module: formats, layouts and limits are many numbers with one reason."""

FACTS_OF_THE_FRONTEND = {
    "pykern.frontend.operations": (TEXT, "_LONGEST"),
    "pykern.frontend.program.closures": (OWN, "DEEPEST _TOLD"),
    "pykern.frontend.program.gathering": (OWN, "Taken.axis"),
    "pykern.frontend.program.tiles": (OWN, "TileValue.reach"),
}
ALL_FACTS = {
    *FACTS,
    *(
        (module, name)
        for module, (_, names) in (FACTS_OF_TARGETS | FACTS_OF_THE_FRONTEND).items()
        for name in names.split()
    ),
}


def _is_number(node: ast.expr) -> bool:
    """Numbers, and what is computed of numbers alone."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Tuple) and bool(node.elts) and all(map(_is_number, node.elts))


def _trees() -> dict[str, ast.Module]:
    return {
        name: trees()[path]
        for name, path in modules().items()
        if any(is_in(name, folder) for folder in FOLDERS)
        if not is_in(name, TABLE) and not is_in(name, COEFFICIENTS)
    }


def _first_name(target: ast.expr) -> str:
    return ast.unparse(target.elts[0] if isinstance(target, ast.Tuple) else target)


def _assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, ast.Assign):
            yield _first_name(node.targets[0]), node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield ast.unparse(node.target), node.value


def named_numbers(tree: ast.Module) -> Iterator[str]:
    """The constants of a module that are numbers, and the fields of its classes with a number as default.

    As a default, 0 and 1 are no thresholds.
    """
    for name, value in _assigned(tree.body):
        if _is_number(value):
            yield name
    for each in [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]:
        for name, value in _assigned(each.body):
            if _is_number(value) and ast.unparse(value) not in ("0", "1"):
                yield f"{each.name}.{name}"


def test_named_numbers_stand_in_the_table():
    found = {(module, name) for module, tree in _trees().items() for name in named_numbers(tree)}
    assert found - ALL_FACTS == set(), f"numbers that decide stand in {TABLE}, with unit and reason"
    assert ALL_FACTS - found == set(), "these are gone: take them off the list"


def test_a_new_threshold_is_found():
    text = "FEWEST = 7\nSIDES: tuple = (4, 1 << 3)\nclass P:\n    most: int = 12\n    guard: int = 1\n"
    assert list(named_numbers(ast.parse(text))) == ["FEWEST", "SIDES", "P.most"]


def test_the_table_imports_nothing_else():
    wrong = [i for i in imports() if is_in(i.module, TABLE) and not is_in(i.imported, TABLE)]
    assert [i for i in wrong if i.imported != "__future__"] == []


def test_each_number_says_why():
    """Every constant of the table is followed by its unit and reason."""
    silent = []
    for name, path in modules().items():
        body = trees()[path].body if is_in(name, TABLE) else []
        for node, following in itertools.pairwise([*body, None]):
            if isinstance(node, ast.Assign) and not (
                isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            ):
                silent.append(f"{name}:{node.lineno}")
    assert not silent
