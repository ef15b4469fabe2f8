"""Which line of the last MLIR each instruction of a SPIR-V binary comes from.

Comes in: the text of a ``spirv.module``, and the binary's instructions. Goes out: for each instruction the line, 0
for none. Every operation becomes one instruction, in order, but for constants, which go to the front: two lists
of names are laid side by side, as in a difference.
"""

from __future__ import annotations

import difflib
import re

_OPERATION = re.compile(r'^\s*(?:[%\w:#, ]+= )?"?spirv\.([\w.]+)')
_INSTRUCTION = re.compile(r"^\s*(?:%\S+ = )?(Op\w+)")
_RENAMED = {
    "func": "OpFunction", "mlir.selection": "OpSelectionMerge", "mlir.loop": "OpLoopMerge",
    "GlobalVariable": "OpVariable", "Branch": "OpBranch",
}  # fmt: skip
_NOTHING = {
    "Constant",
    "mlir.addressof",
    "mlir.merge",
    "module",
    "Undef",
    "EntryPoint",
    "ExecutionMode",
    "mlir.yield",
}
_DECLARATIONS = re.compile(
    r"Op(Capability|Extension|ExtInstImport|MemoryModel|EntryPoint|ExecutionMode\w*|Source\w*|String|Name|MemberName"
    r"|Decorat\w+|MemberDecorate\w*|Type\w+|Constant\w*|SpecConstant\w*|Undef|Label|FunctionParameter|FunctionEnd|Line|NoLine)$"
)
CARRYING = frozenset({"OpBranch", "OpPhi", "OpReturn", "OpSelectionMerge", "OpLoopMerge", "OpUnreachable"})
"""Ends and heads of blocks, and the values they hand on: they compute nothing."""


def instruction(row: str) -> str:
    """The name of the instruction of a row, "" for declarations, types, constants and labels."""
    found = _INSTRUCTION.match(row)
    return "" if found is None or _DECLARATIONS.match(found[1]) else found[1]


def origins(module: str, rows: list[str]) -> list[int]:
    """For each row of the binary's text the line of `module` that it was written as, 0 for none."""
    operations = [(n, name) for n, row in enumerate(module.splitlines(), 1) if (name := _named(row))]
    instructions = [(n, name) for n, row in enumerate(rows) if (name := instruction(row))]
    found = [0] * len(rows)
    for is_variable in (False, True):  # variables stand at the begin of their function, in their own order
        one = [(n, name) for n, name in operations if (name == "OpVariable") == is_variable]
        other = [(n, name) for n, name in instructions if (name == "OpVariable") == is_variable]
        names = [name for _, name in one], [name for _, name in other]
        for block in difflib.SequenceMatcher(None, *names, autojunk=False).get_matching_blocks():
            for k in range(block.size):
                found[other[block.b + k][0]] = one[block.a + k][0]
    return found


def _named(row: str) -> str:
    """The instruction that an operation of the spirv dialect becomes."""
    found = _OPERATION.match(row)
    if found is None or found[1] in _NOTHING:
        return ""
    name = found[1]
    if name in _RENAMED:
        return _RENAMED[name]
    if name.startswith(("CL.", "GL.")):
        return "OpExtInst"
    vendor, _, rest = name.partition(".")
    return f"Op{rest}{vendor}" if rest and vendor in ("KHR", "EXT", "INTEL", "NV") else f"Op{name}"
