"""Memory that compiled code takes while it runs, and how a launch that is left gives it back.

Comes in: bytes. Goes out: blocks, each with the same head before it: whose memory it is and its capacity, as kept
memory has them, and two links. A thread's launch, or its chunk, has a list of the blocks that were taken in it: who
goes out of it by `longjmp` gives them back. All of that is done here, where no launch is interrupted.
"""

from __future__ import annotations

from pykern.data.abi import KEPT_LEAST
from pykern.lowering.llvm.python_objects import table
from pykern.lowering.llvm.team.state import FRAME, TeamBody
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I64, NULL, PTR, VOID, Value

HEAD = 64
CAPACITY, BEGIN, NEXT, BACK = -8, -24, -32, -40
"""Bytes from a block to what its head says: the capacity where it is kept memory, 0 where it is malloc's; where that
memory begins; the next block; and the place that has the address of this one, null where it is in no list."""


def write_memory_blocks(module: Module) -> None:
    """The functions of this file."""
    _link(module)
    _unlink(module)
    _allocate(module)
    _resize(module)
    _release(module)


def give_back(f: TeamBody, frame: Value) -> None:
    """All that was taken within a frame that was left."""
    with f.while_(lambda: f.is_(f.load(PTR, frame, FRAME["blocks"]), "!=", NULL)):
        f.call("pk_release", VOID, f.load(PTR, frame, FRAME["blocks"]))


def _link(module: Module) -> None:
    """Into the list of this thread's frame; into none where it has none."""
    f = TeamBody(module, "pk_link", VOID, [PTR])
    (block,) = f.arguments
    frame = f.frame()
    f.store(NULL, block, BACK)
    with f.if_then(f.is_(frame, "!=", NULL)):
        first = f.place(frame, FRAME["blocks"])
        others = f.load(PTR, first)
        f.store(others, block, NEXT)
        with f.if_then(f.is_(others, "!=", NULL)):
            f.store(f.place(block, NEXT), others, BACK)
        f.store(first, block, BACK)
        f.store(block, first)
    f.ret()


def _unlink(module: Module) -> None:
    f = TeamBody(module, "pk_unlink", VOID, [PTR])
    (block,) = f.arguments
    back = f.load(PTR, block, BACK)
    with f.if_then(f.is_(back, "!=", NULL)):
        others = f.load(PTR, block, NEXT)
        f.store(others, back)
        with f.if_then(f.is_(others, "!=", NULL)):
            f.store(back, others, BACK)
    f.ret()


def _headed(f: TeamBody, begin: Value) -> Value:
    """The block in memory of malloc's."""
    block = f.place(begin, HEAD)
    f.store(begin, block, BEGIN)
    f.store(0, block, CAPACITY)
    f.call("pk_link", VOID, block)
    return block


def _allocate(module: Module) -> None:
    """A block, at a multiple of 16; null where there is no memory, and no launch that could be left."""
    f = TeamBody(module, "pk_allocate", PTR, [I64])
    (size,) = f.arguments
    take = table(f, "pk_take")
    large = f.is_(size, ">=", KEPT_LEAST)
    with f.if_then(f.and_(large, f.is_(take, "!=", NULL))):
        block = f.call_pointer(take, PTR, size)
        with f.if_then(f.is_(block, "!=", NULL), likely=True):
            f.call("pk_link", VOID, block)
            f.ret(block)
    with f.if_then(f.not_(f.and_(large, f.is_(take, "!=", NULL)))):
        begin = f.call("malloc", PTR, f.add(size, HEAD))
        with f.if_then(f.is_(begin, "!=", NULL), likely=True):
            f.ret(_headed(f, begin))
    f.call("pk_no_memory", VOID)
    f.ret(NULL)


def _resize(module: Module) -> None:
    """A block of malloc's in another length, of no block a new one; null as above."""
    f = TeamBody(module, "pk_resize", PTR, [PTR, I64])
    block, size = f.arguments
    begin = f.variable(NULL)
    with f.if_then(f.is_(block, "!=", NULL)):
        f.store(f.load(PTR, block, BEGIN), begin)
        f.call("pk_unlink", VOID, block)
    got = f.call("realloc", PTR, f.load(PTR, begin), f.add(size, HEAD))
    with f.if_then(f.is_(got, "!=", NULL), likely=True):
        f.ret(_headed(f, got))
    with f.if_then(f.is_(block, "!=", NULL)):
        f.call("pk_link", VOID, block)
    f.call("pk_no_memory", VOID)
    f.ret(NULL)


def _release(module: Module) -> None:
    f = TeamBody(module, "pk_release", VOID, [PTR])
    (block,) = f.arguments
    with f.if_then(f.is_(block, "==", NULL)):
        f.ret()
    f.call("pk_unlink", VOID, block)
    with f.if_then(f.is_(f.load(I64, block, CAPACITY), "==", 0)):
        f.call("free", VOID, f.load(PTR, block, BEGIN))
        f.ret()
    f.call_pointer(table(f, "pk_give"), VOID, block)
    f.ret()
