"""Memory that compiled code takes while it runs, and how a launch that is left gives it back.

Comes in: bytes. Goes out: pieces, each with the same head before it: whose memory it is and its capacity, as kept
memory has them, and two links. A thread's launch, or its chunk, has a list of the pieces that were taken in it: who
goes out of it by `longjmp` gives them back. All of that is done here, where no launch is interrupted.
"""

from __future__ import annotations

from pykern.data.abi import KEPT_LEAST, TABLE_INDEX
from pykern.lowering.llvm.team.state import FRAME, TeamBody
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I64, NULL, PTR, VOID, Value

HEAD = 64
CAPACITY, BEGIN, NEXT, BACK = -8, -24, -32, -40
"""Bytes from a piece to what its head says: the capacity where it is kept memory, 0 where it is malloc's; where that
memory begins; the next piece; and the place that has the address of this one, null where it is in no list."""


def write_pieces(module: Module) -> None:
    """The functions of this file."""
    _link(module)
    _unlink(module)
    _allocate(module)
    _resize(module)
    _release(module)


def give_back(f: TeamBody, frame: Value) -> None:
    """All that was taken within a frame that was left."""
    with f.while_(lambda: f.is_(f.load(PTR, frame, FRAME["pieces"]), "!=", NULL)):
        f.call("pk_release", VOID, f.load(PTR, frame, FRAME["pieces"]))


def _table(f: TeamBody, name: str) -> Value:
    return f.load(PTR, f.load(PTR, f.module.globals["pk_table"]), 8 * TABLE_INDEX[name])


def _link(module: Module) -> None:
    """Into the list of this thread's frame; into none where it has none."""
    f = TeamBody(module, "pk_link", VOID, [PTR])
    (piece,) = f.arguments
    frame = f.frame()
    f.store(NULL, piece, BACK)
    with f.if_then(f.is_(frame, "!=", NULL)):
        first = f.place(frame, FRAME["pieces"])
        others = f.load(PTR, first)
        f.store(others, piece, NEXT)
        with f.if_then(f.is_(others, "!=", NULL)):
            f.store(f.place(piece, NEXT), others, BACK)
        f.store(first, piece, BACK)
        f.store(piece, first)
    f.ret()


def _unlink(module: Module) -> None:
    f = TeamBody(module, "pk_unlink", VOID, [PTR])
    (piece,) = f.arguments
    back = f.load(PTR, piece, BACK)
    with f.if_then(f.is_(back, "!=", NULL)):
        others = f.load(PTR, piece, NEXT)
        f.store(others, back)
        with f.if_then(f.is_(others, "!=", NULL)):
            f.store(back, others, BACK)
    f.ret()


def _headed(f: TeamBody, begin: Value) -> Value:
    """The piece in memory of malloc's."""
    piece = f.place(begin, HEAD)
    f.store(begin, piece, BEGIN)
    f.store(0, piece, CAPACITY)
    f.call("pk_link", VOID, piece)
    return piece


def _allocate(module: Module) -> None:
    """A piece, at a multiple of 16; null where there is no memory, and no launch that could be left."""
    f = TeamBody(module, "pk_allocate", PTR, [I64])
    (size,) = f.arguments
    take = _table(f, "pk_take")
    large = f.is_(size, ">=", KEPT_LEAST)
    with f.if_then(f.and_(large, f.is_(take, "!=", NULL))):
        piece = f.call_pointer(take, PTR, size)
        with f.if_then(f.is_(piece, "!=", NULL), likely=True):
            f.call("pk_link", VOID, piece)
            f.ret(piece)
    with f.if_then(f.not_(f.and_(large, f.is_(take, "!=", NULL)))):
        begin = f.call("malloc", PTR, f.add(size, HEAD))
        with f.if_then(f.is_(begin, "!=", NULL), likely=True):
            f.ret(_headed(f, begin))
    f.call("pk_no_memory", VOID)
    f.ret(NULL)


def _resize(module: Module) -> None:
    """A piece of malloc's in another length, of no piece a new one; null as above."""
    f = TeamBody(module, "pk_resize", PTR, [PTR, I64])
    piece, size = f.arguments
    begin = f.variable(NULL)
    with f.if_then(f.is_(piece, "!=", NULL)):
        f.store(f.load(PTR, piece, BEGIN), begin)
        f.call("pk_unlink", VOID, piece)
    got = f.call("realloc", PTR, f.load(PTR, begin), f.add(size, HEAD))
    with f.if_then(f.is_(got, "!=", NULL), likely=True):
        f.ret(_headed(f, got))
    with f.if_then(f.is_(piece, "!=", NULL)):
        f.call("pk_link", VOID, piece)
    f.call("pk_no_memory", VOID)
    f.ret(NULL)


def _release(module: Module) -> None:
    f = TeamBody(module, "pk_release", VOID, [PTR])
    (piece,) = f.arguments
    with f.if_then(f.is_(piece, "==", NULL)):
        f.ret()
    f.call("pk_unlink", VOID, piece)
    with f.if_then(f.is_(f.load(I64, piece, CAPACITY), "==", 0)):
        f.call("free", VOID, f.load(PTR, piece, BEGIN))
        f.ret()
    f.call_pointer(_table(f, "pk_give"), VOID, piece)
    f.ret()
