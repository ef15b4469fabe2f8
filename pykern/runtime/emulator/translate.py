"""PTX to LLVM IR: one function for each of the text's, with every instruction in its place.

Comes in: a `Module`. Goes out: `Translated`, the text of an LLVM module. A kernel is a function of the launch's words,
the thread's frame and the wait it stood at; it gives the wait that it comes to, 0 when it ends. Registers are stack
slots, which LLVM makes values of; those that are live behind a wait are kept in the frame.
Read next: `opcodes` (the rules' table), `scheduler` (who calls it).
"""

from __future__ import annotations

from dataclasses import dataclass

from pykern.runtime.emulator import (
    accesses,
    arithmetic,
    async_copies,
    barriers,
    conversions,
    functions,
    integers,
    mbarriers,
    moves,
    waits,
    warpgroup_products,
)
from pykern.runtime.emulator.liveness import live_after_waits
from pykern.runtime.emulator.opcodes import rule_of
from pykern.runtime.emulator.operands import Values
from pykern.runtime.emulator.ptx import LEAVING, Function, Instruction, Module, UnknownPtx

RULES = (
    accesses, arithmetic, async_copies, barriers, conversions, functions, integers, mbarriers, moves,
    warpgroup_products,
)  # fmt: skip
"""Modules that register rules."""


@dataclass(frozen=True)
class Translated:
    """The LLVM IR of one kernel and what it calls. `waits` are its waits by number, from 1 on."""

    text: str
    kernel: str
    frame_bytes: int
    waits: tuple[Instruction, ...]


def translated(module: Module, name: str, prefix: str) -> Translated:
    """The kernel `name`; symbols begin with `prefix`. Raises `UnknownPtx`."""
    writers = [_FunctionWriter(module, function, prefix) for function in _called(module, name)]
    for writer in writers:
        writer.translate()
    defined = {writer.symbol for writer in writers}
    declared = {
        key: text for writer in writers for key, text in writer.declared.items() if key not in defined
    }
    text = "\n".join((*declared.values(), *("\n".join(writer.lines) for writer in writers)))
    kernel = writers[0]
    return Translated(text, kernel.symbol, 8 * len(kernel.frame), tuple(kernel.waits))


def _called(module: Module, name: str) -> list[Function]:
    """A kernel, and the functions that it calls."""
    if name not in module.functions:
        raise UnknownPtx(f"no function {name}")
    found = [module.functions[name]]
    for function in found:
        for one in (one for block in function.blocks for one in block.instructions if one.stem == "call"):
            callee = next((o for o in one.operands if o in module.functions), None)
            if callee is None:
                raise UnknownPtx(f"a call of {', '.join(one.operands)}")
            if module.functions[callee] not in found:
                found.append(module.functions[callee])
    return found


class _FunctionWriter(Values):
    def __init__(self, module: Module, function: Function, prefix: str) -> None:
        super().__init__(module, function)
        self.prefix = prefix
        self.symbol = f"{prefix}{function.name}"
        self.waits: list[Instruction] = []
        self._labels = {block.label: self._label(number) for number, block in enumerate(function.blocks)}
        self._live = live_after_waits(function)
        self.frame = {r: n for n, r in enumerate(sorted({r for kept in self._live.values() for r in kept}))}

    def translate(self) -> None:
        self._head()
        for number, block in enumerate(self.function.blocks):
            self.begin(self._label(number))
            for one in block.instructions:
                self._instruction(one, number)
            if not block.instructions or block.instructions[-1].stem not in LEAVING:
                self._go_on(number)
        self.lines.append("}")
        if self.function.is_kernel:
            table = [f'i32 {n}, label %"resume{n}"' for n in range(1, len(self.waits) + 1)]
            at = next(n for n, line in enumerate(self.lines) if line == "  ;switch")
            self.lines[at] = f'  switch i32 %state, label %"{self._label(0)}" [{" ".join(table)}]'

    def _head(self) -> None:
        function = self.function
        if function.is_kernel:
            head = f"define i32 @{self.symbol}(ptr %launch, ptr %frame, i32 %state) {{"
        else:
            names = [
                *([function.result] if function.result else []),
                *(name for name, _ in function.parameters),
            ]
            given = "".join(f', ptr %"{name}"' for name in names)
            head = f"define internal void @{self.symbol}(ptr %launch{given}) {{"
        self.lines += [head, "start:"]
        for register, bits in function.registers.items():
            self.do(f"{self.place(register)} = alloca i{bits}")
        for name, nbytes in function.arguments.items():
            self.do(f'%"{name}" = alloca [{nbytes} x i8], align 16')
        self.do("%carry = alloca i1")
        if function.is_kernel:
            self.do(";switch")
        else:
            self.jump(self._label(0))

    def _label(self, number: int) -> str:
        return f"block{number}"

    def _go_on(self, number: int) -> None:
        if number + 1 < len(self.function.blocks):
            self.jump(self._label(number + 1))
        else:
            self._end()

    def _end(self) -> None:
        self.do("ret i32 0" if self.function.is_kernel else "ret void")

    def _instruction(self, one: Instruction, block: int) -> None:
        if one.stem in LEAVING:
            self._control(one, block)
        elif one.guard:
            with self.when(self._guard(one)):
                self._plain(one)
        else:
            self._plain(one)

    def _guard(self, one: Instruction) -> str:
        value = self.read(one.guard, "pred")
        return self.value(f"xor i1 {value}, true") if one.negated else value

    def _plain(self, one: Instruction) -> None:
        if one.waits:
            self._wait(one)
        elif one.stem == "call":
            self._call(one)
        elif one.stem == "trap":
            self.call("void", "pk_trap", ("ptr", "%launch"), ("i64", str(one.number)))
        else:
            rule_of(one)(self, one)

    def _control(self, one: Instruction, block: int) -> None:
        if one.stem == "bra":
            target = self._labels[one.operands[0]]
            if one.guard:
                self.branch(self._guard(one), target, self._label(block + 1))
            else:
                self.jump(target)
        elif one.stem == "brx":
            index = self.read(one.operands[0], "b32")
            targets = [self._labels[label] for label in self.function.targets[one.operands[1]]]
            rows = " ".join(f'i32 {n}, label %"{label}"' for n, label in enumerate(targets))
            self.do(f'switch i32 {index}, label %"{targets[-1]}" [{rows}]')
        elif one.guard:
            ends, behind = self.label("ends"), self._label(block + 1)
            self.branch(self._guard(one), ends, behind)
            self.begin(ends)
            self._end()
        else:
            self._end()

    def _call(self, one: Instruction) -> None:
        """``call.uni (result), name, (arguments)``: all are passed by their addresses."""
        name = next(o for o in one.operands if o in self.module.functions)
        given = [part.strip() for o in one.operands if o.startswith("(") for part in o.strip("()").split(",")]
        arguments = [("ptr", "%launch"), *(("ptr", f'%"{part}"') for part in given if part)]
        self.call("void", f"{self.prefix}{name}", *arguments)

    def _wait(self, one: Instruction) -> None:
        if not self.function.is_kernel:
            raise UnknownPtx(f"{one.name} in a function that is called")
        if one.guard:
            raise UnknownPtx(f"{one.name} under a predicate")
        self.waits.append(one)
        number, kept = len(self.waits), self._live[one.number]
        waits.bring(self, one)
        for register in kept:
            bits = self.function.registers[register]
            value = self.load(f"i{bits}", self.place(register))
            self.store(f"i{bits}", value, self.offset("%frame", 8 * self.frame[register]))
        self.do(f"ret i32 {number}")
        self.begin(f"resume{number}")
        for register in kept:
            bits = self.function.registers[register]
            value = self.load(f"i{bits}", self.offset("%frame", 8 * self.frame[register]))
            self.store(f"i{bits}", value, self.place(register))
        waits.take(self, one)
