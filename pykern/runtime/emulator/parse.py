"""The reader of PTX: text to `pykern.runtime.emulator.ptx.Module`.

Comes in: PTX. Goes out: its functions as basic blocks. Statements end with a semicolon; labels, directives and braces
stand on lines of their own, but for scopes of one line, ``{ .reg .b16 tmp; ... }``, whose registers get own names.
"""

from __future__ import annotations

import itertools
import re

from pykern.runtime.emulator.ptx import (
    BYTES,
    LEAVING,
    NO_RESULT,
    READ_TOO,
    Block,
    Function,
    Instruction,
    Module,
    Place,
    Symbol,
    UnknownPtx,
    rounded_up,
)
from pykern.runtime.emulator.statements import split_operands, statements, without_linkage

GAP = 64
"""Bytes between arrays of shared memory that belong to nobody: an access behind an array is found there."""
_HEAD = re.compile(r"\.(entry|func)\s*(?:\(\s*(.*?)\s*\)\s*)?([\w$]+)\s*\((.*?)\)(?=\s|$)", re.S)
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align \d+ )?\.(\w+)\s+(?:\.ptr\s+)?(?:\.\w+\s+)?(?:\.align \d+\s+)?([\w$]+)(?:\[(\d+)\])?"
)
_MEMORY = re.compile(
    r"\.(shared|local|global|const)\s+(?:\.align (\d+) )?\.(\w+)\s+([\w$]+)(?:\[(\d*)\])?(?:\s*=\s*\{?([^}]*)\}?)?$"
)
_FILE = re.compile(r'\.file\s+(\d+)\s+"([^"]*)"')
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_IGNORED = (
    ".version",
    ".target",
    ".address_size",
    ".pragma",
    ".section",
    ".maxntid",
    ".minnctapersm",
    ".reqntid",
    ".b8",
)


def parsed(text: str) -> Module:
    """Raises `UnknownPtx`."""
    return _Reader().read(text)


class _Reader:
    def __init__(self) -> None:
        self.module = Module()
        self._files: dict[int, str] = {}
        self._place: Place | None = None
        self._unsized: dict[str, int] = {}
        self._numbers, self._numbers_of_scopes = itertools.count(), itertools.count()
        self._scopes: list[dict[str, str]] = []
        self._scope_numbers: list[int] = []
        self._function: Function | None = None

    def read(self, text: str) -> Module:
        text = re.sub(r"//[^\n]*", "", text)
        for number, name in _FILE.findall(text):
            self._files[int(number)] = name
        for statement in statements(text.partition(".section")[0] if ".section" in text else text):
            self._statement(statement)
        for name, alignment in self._unsized.items():  # launches add it behind all other shared memory
            begin = rounded_up(self.module.sizes["shared"], alignment)
            self.module.symbols[name] = Symbol("shared", begin, 0)
            self.module.sizes["shared"] = begin
        for function in self.module.functions.values():
            _connect(function)
        return self.module

    def _statement(self, text: str) -> None:
        function = self._function
        if text == "{":
            self._scopes.append({})
            self._scope_numbers.append(next(self._numbers_of_scopes))
        elif text == "}":
            self._scopes.pop()
            self._scope_numbers.pop()
            if not self._scopes:
                self._function = None
        elif _HEAD.search(text):
            self._function = self._head(text)
        elif text.startswith(".loc "):
            found = _LOC.match(text)
            assert found
            file, line, column = map(int, found.groups())
            self._place = Place(self._files.get(file, ""), line, column) if line else None
        elif text.startswith(".file") or text.startswith(_IGNORED):
            return
        elif _MEMORY.match(without_linkage(text)):
            self._memory(without_linkage(text))
        elif function is None:
            raise UnknownPtx(text)
        elif text.endswith(":"):
            function.blocks.append(Block(self._label(text[:-1].strip())))
        elif text.startswith((".reg", ".param")):
            self._declare(function, text)
        else:
            self._instruction(function, text)

    def _head(self, text: str) -> Function:
        found = _HEAD.search(text)
        assert found
        kind, result, name, parameters = found.groups()
        results = _PARAMETER.findall(result or "")
        made = Function(
            name,
            kind == "entry",
            results[0][1] if results else "",
            tuple((n, BYTES[t] * int(count or 1)) for t, n, count in _PARAMETER.findall(parameters)),
            [Block("entry")],
        )
        if not text.endswith(";"):  # else only declared
            self.module.functions[name] = made
        self._place = None
        return made

    def _memory(self, text: str) -> None:
        found = _MEMORY.match(text)
        assert found
        space, align, kind, name, count, values = found.groups()
        space = "global" if space == "const" else space
        nbytes = BYTES[kind] * int(count or (0 if "[" in text else 1))
        if nbytes == 0 and space == "shared":
            self._unsized[name] = max(int(align or 1), 16)
            return
        begin = rounded_up(self.module.sizes[space], max(int(align or 1), 16))
        data = b"".join(
            (int(v, 0) % (1 << 8 * BYTES[kind])).to_bytes(BYTES[kind], "little")
            for v in (values or "").split(",")
            if v
        )
        self.module.symbols[name] = Symbol(space, begin, nbytes, data.ljust(nbytes, b"\0"))
        self.module.sizes[space] = begin + nbytes + (GAP if space == "shared" else 0)

    def _declare(self, function: Function, text: str) -> None:
        if text.startswith(".param"):
            for kind, name, count in _PARAMETER.findall(text):
                function.arguments[name] = max(function.arguments.get(name, 0), BYTES[kind] * int(count or 1))
            return
        kind, names = text.removeprefix(".reg").split(None, 1)
        bits = 1 if kind == ".pred" else 8 * BYTES[kind[1:]]
        for name in map(str.strip, names.split(",")):
            several = re.fullmatch(r"(%\w+)<(\d+)>", name)
            if several:
                function.registers |= {f"{several[1]}{n}": bits for n in range(int(several[2]))}
                continue
            own = name
            if len(self._scopes) > 1:
                own = self._scopes[-1][name] = f"{name}.{len(function.registers)}"
            function.registers[own] = bits

    def _label(self, name: str) -> str:
        """Labels of inline assembly are those of its scope; the compiler's own begin with a dollar sign."""
        inside = len(self._scopes) > 1 and not name.startswith("$")
        return f"{name}.{self._scope_numbers[-1]}" if inside else name

    def _instruction(self, function: Function, text: str) -> None:
        for scope in self._scopes:
            for name, own in scope.items():
                text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", own, text)
        guard, negated = "", False
        if text.startswith("@"):
            guard, text = text[1:].split(None, 1)
            guard, negated = guard.removeprefix("!"), guard.startswith("!")
        name, _, rest = text.partition(" ")
        name = name.replace(".shared::cta", ".shared").replace("cvta.to.shared::cluster", "cvta.to.shared")
        operands = split_operands(rest)
        if name.partition(".")[0] == "bra":
            operands = (self._label(operands[0]),)
        if name.startswith(".branchtargets"):
            raise UnknownPtx(text)
        if name.endswith(":"):  # a table: "$L_brx_0: .branchtargets $L1, $L2"
            function.targets[name[:-1]] = tuple(o.removeprefix(".branchtargets").strip() for o in operands)
            return
        stem = name.partition(".")[0]
        is_address = bool(operands) and operands[0].startswith("[")
        first = () if stem in NO_RESULT or is_address else operands[:1]
        writes = tuple(r for o in first for r in function.registers_in(o))
        kept = 0 if stem in READ_TOO else len(first)
        read = [r for o in operands[kept:] for r in function.registers_in(o)]
        made = Instruction(
            name, operands, next(self._numbers), guard, negated, self._place,
            (*read, *([guard] if guard else [])), writes,
        )  # fmt: skip
        self.module.instructions.append(made)
        block = function.blocks[-1]
        block.instructions.append(made)
        if made.stem in LEAVING or made.stem == "trap":
            function.blocks.append(Block(f"$after{made.number}"))


def _connect(function: Function) -> None:
    """Tell each block which may follow."""
    index = {block.label: number for number, block in enumerate(function.blocks)}
    for number, block in enumerate(function.blocks):
        last = block.instructions[-1] if block.instructions else None
        following = (number + 1,) if number + 1 < len(function.blocks) else ()
        if last is not None and last.stem == "bra":
            block.after = (index[last.operands[0]], *(following if last.guard else ()))
        elif last is not None and last.stem == "brx":
            block.after = tuple(index[label] for label in function.targets[last.operands[1]])
        elif last is not None and last.stem in ("ret", "exit", "trap") and not last.guard:
            block.after = ()
        else:
            block.after = following
