"""What the parts of the programs' entry share: where a call's state lies on the stack, and the words they read.

Comes in: the layout of `pykern.data.abi` ("array programs"). Goes out: offsets, and loads of single words.
"""

from __future__ import annotations

from pykern.data.abi import PLAN_ROOM, PLAN_WORDS, RESULT_WORDS
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.values import I64, Type, Value

# What a call knows, on the stack: two counters, then words each for as many as there may be.
SLOT, SPAN = 0, 8
OBJECTS, ARRAYS, RESULTS, NUMBERS = (16 + 8 * PLAN_ROOM * n for n in range(4))
SLOTS, LOW, HIGH, WRITES = (16 + 8 * PLAN_ROOM * n for n in (4, 7, 9, 11))
NAMES = 16 + 8 * PLAN_ROOM * 13
STATE_WORDS = 2 + 14 * PLAN_ROOM


def plan_word(f: Body, plan: Value, name: str, kind: Type = I64) -> Value:
    return f.load(kind, plan, 8 * PLAN_WORDS.index(name))


def section(f: Body, plan: Value, name: str) -> Value:
    return f.place(plan, f.mul(plan_word(f, plan, name), 8))


def result_word(f: Body, record: Value, name: str, kind: Type = I64) -> Value:
    return f.load(kind, record, 8 * RESULT_WORDS.index(name))
