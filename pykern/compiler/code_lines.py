"""Which line of the last MLIR each line of LLVM IR or assembly comes from.

Comes in: text with debug information that names lines of one file. Goes out: the text's lines without
that information, and for each the line it names. The forms are LLVM's: ``!dbg !7`` with
``!7 = !DILocation(line: …)``, and ``.loc file line column``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class CodeLine:
    """A line of code; `origin` is 0 where nothing is told, `instruction` its mnemonic, "" for no instruction.

    `calling`: in a function that no line of MLIR became: what reads the arguments of a launch.
    """

    text: str
    origin: int
    instruction: str
    calling: bool = False


_DBG = re.compile(r",? !dbg !(\d+)")
_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+)")
_DEBUG_DATA = re.compile(
    r'^!\d+ = (distinct )?!DI|^!llvm\.dbg\.cu|^!\d+ = !\{i32 \d+, !"Debug Info Version"|^target datalayout'
)
_LLVM_INSTRUCTION = re.compile(r"^  (?:[%@\w.\"-]+ = )?(?:tail |musttail |notail )?([a-z]\w*)")
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"([^"]*)"\s+)?"([^"]*)"')
_SECTION = re.compile(r"^\s*\.section\s+(\S+)")
_NOISE = re.compile(
    r"^\s*\.(loc|file|cfi_\w+|ident|addrsig)\b|^\.?L?\$?L?(__)?(tmp|func_begin|func_end|debug)\w*:"
)
_ASM_FUNCTION = re.compile(r"""^(?!\.L|\$L|L)[\w.$"]+:|^\s*\.(visible|entry|func)\b""")
_ASM_INSTRUCTION = re.compile(r"^\s+\{?\s*(?:@!?%?\w+\s+)?([a-zA-Z][\w.]*)")


def read_llvm(text: str) -> list[CodeLine]:
    """The lines of LLVM IR. All its locations are of one file: MLIR's functions are the only ones with any."""
    rows = text.splitlines()
    lines = {m[1]: int(m[2]) for row in rows if (m := _LOCATION.match(row))}
    read: list[CodeLine] = []
    calling = False
    for row in rows:
        if _DEBUG_DATA.match(row):
            continue
        if row.startswith("define "):
            calling = not _DBG.search(row)
        marked = _DBG.search(row)
        mnemonic = _LLVM_INSTRUCTION.match(row)
        origin = int(lines.get(marked[1], 0)) if marked and mnemonic else 0
        read.append(CodeLine(_DBG.sub("", row), origin, mnemonic[1] if mnemonic else "", calling))
    return _without_empty_end(read)


def read_asm(text: str, file: str) -> list[CodeLine]:
    """The lines of assembly, for processors and PTX alike; sections of debug information are left out."""
    files: set[str] = set()
    rows = text.splitlines()
    for row in rows:
        if (m := _FILE.match(row)) and m[3].rpartition("/")[2] == file:
            files.add(m[1])
    read: list[CodeLine] = []
    origin, hidden = 0, False
    for row in rows:
        if m := _SECTION.match(row):
            hidden = m[1].strip('"').startswith((".debug", ".pseudo_probe"))
        elif re.match(r"^\s*\.(text|data|bss|visible)\b", row):
            hidden = False
        if hidden:
            continue
        if m := _LOC.match(row):
            origin = int(m[2]) if m[1] in files else 0
        if _NOISE.match(row):
            continue
        if _ASM_FUNCTION.match(row):
            origin = 0
        mnemonic = _ASM_INSTRUCTION.match(row)
        read.append(CodeLine(row, origin if mnemonic else 0, mnemonic[1] if mnemonic else ""))
    return _mark_calling(_without_empty_end(read))


def _without_empty_end(lines: list[CodeLine]) -> list[CodeLine]:
    while lines and not lines[-1].text.strip():
        lines.pop()
    return lines


def _mark_calling(lines: list[CodeLine]) -> list[CodeLine]:
    starts = [n for n, line in enumerate(lines) if _ASM_FUNCTION.match(line.text)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if not any(line.origin for line in lines[start:end]):
            lines[start:end] = [replace(line, calling=True) for line in lines[start:end]]
    return lines
