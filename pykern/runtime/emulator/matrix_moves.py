"""Matrices of 8 by 8 numbers of 16 bits between shared memory and the registers of a warp: `ldmatrix`, `stmatrix`.

Comes in: a waiting `Instruction`. Goes out: LLVM IR before the wait (`bring_rows`, `bring_fragments`) and behind it
(`take_fragments`, `take_rows`). Lane n has the address of row n % 8 of matrix n / 8, and makes the access to it; lane n
holds the numbers 2 (n % 4) and 2 (n % 4) + 1 of row n / 4 of each matrix, of its columns with ``.trans``.
"""

from __future__ import annotations

import re

from pykern.runtime.emulator.accesses import host_address
from pykern.runtime.emulator.operands import Values, elements
from pykern.runtime.emulator.ptx import Instruction, UnknownPtx

_FORM = re.compile(r"(ldmatrix|stmatrix)\.sync\.aligned\.m8n8\.x([124])(\.trans)?\.shared\.b16")
_ROW_BYTES = 16
_MATRIX_BYTES = 128
LOADED_WORDS = 2
"""Words of 8 bytes that each lane brings: a row."""
STORED_WORDS = 3
"""Its part of four matrices, and the host's address of a row."""


def bring_rows(t: Values, one: Instruction) -> None:
    """`ldmatrix`: each lane that has an address in use reads a row."""
    count, _ = _form(one, one.operands[0])
    lane = t.slot("lane")
    with t.when(t.value(f"icmp ult i64 {lane}, {8 * count}")):
        source = host_address(t, one, one.operands[1], _ROW_BYTES, "read")
        for half in (0, 8):
            t.store("i64", t.load("i64", t.offset(source, half)), t.offset(_row(t, "given", lane), half))


def take_fragments(t: Values, one: Instruction) -> None:
    _, transposed = _form(one, one.operands[0])
    for number, register in enumerate(elements(one.operands[0])):
        halves = [t.load("i16", place) for place in _held(t, "taken", number, transposed)]
        t.write(register, t.pair(*halves), "b32")


def bring_fragments(t: Values, one: Instruction) -> None:
    """`stmatrix`: each lane brings its numbers, and the address of its row, which is checked here."""
    count, transposed = _form(one, one.operands[1])
    for number, register in enumerate(elements(one.operands[1])):
        word = t.read(register, "b32")
        for place, shift in zip(_held(t, "given", number, transposed), (0, 16), strict=True):
            t.store("i16", t.half(word, shift), place)
    lane = t.slot("lane")
    with t.when(t.value(f"icmp ult i64 {lane}, {8 * count}")):
        target = host_address(t, one, one.operands[0], _ROW_BYTES, "write")
        t.store("ptr", target, _address_cell(t, "given", lane))


def take_rows(t: Values, one: Instruction) -> None:
    count, _ = _form(one, one.operands[1])
    lane = t.slot("lane")
    with t.when(t.value(f"icmp ult i64 {lane}, {8 * count}")):
        target = t.load("ptr", _address_cell(t, "taken", lane))
        for half in (0, 8):
            t.store("i64", t.load("i64", t.offset(_row(t, "taken", lane), half)), t.offset(target, half))


def _form(one: Instruction, registers: str) -> tuple[int, bool]:
    """How many matrices, and whether they are transposed. Raises `UnknownPtx`."""
    found = _FORM.fullmatch(one.name)
    if found is None or len(elements(registers)) != int(found[2]):
        raise UnknownPtx(f"the instruction {one.name}")
    return int(found[2]), bool(found[3])


def _row(t: Values, area: str, lane: str) -> str:
    return t.cell(t.slot(area), lane, _ROW_BYTES)


def _address_cell(t: Values, area: str, lane: str) -> str:
    """Behind four matrices."""
    return t.cell(t.value(f"add i64 {t.slot(area)}, {4 * _MATRIX_BYTES}"), lane)


def _held(t: Values, area: str, matrix: int, transposed: bool) -> list[str]:
    """Where the two numbers of a lane are."""
    lane = t.slot("lane")
    group, member = t.value(f"lshr i64 {lane}, 2"), t.value(f"and i64 {lane}, 3")
    along, across = (_ROW_BYTES, 2) if transposed else (2, _ROW_BYTES)
    begin = t.value(f"add i64 {t.slot(area)}, {matrix * _MATRIX_BYTES}")
    first = t.value(f"add i64 {begin}, {t.value(f'mul i64 {group}, {across}')}")
    second = t.value(f"add i64 {first}, {t.value(f'mul i64 {member}, {2 * along}')}")
    return [t.pointer(t.value(f"add i64 {second}, {number * along}")) for number in (0, 1)]
