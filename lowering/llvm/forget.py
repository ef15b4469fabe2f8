"""Forget an error of Python's in a call that is made once more by Python's way, which meets it again.

Comes in: code in the making. Goes out: `pk_forget` in it, and calls of that. Ctrl-C comes but once, so it is set again.
"""

from __future__ import annotations

from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I32, PTR, VOID

FORGET = """
@PyExc_KeyboardInterrupt = external global ptr
declare i32 @PyErr_ExceptionMatches(ptr)
declare void @PyErr_Clear()
declare void @PyErr_SetInterrupt()

define internal void @pk_forget() noinline cold {
  %interrupt = load ptr, ptr @PyExc_KeyboardInterrupt
  %is = call i32 @PyErr_ExceptionMatches(ptr %interrupt)
  call void @PyErr_Clear()
  %interrupted = icmp ne i32 %is, 0
  br i1 %interrupted, label %again, label %done
again:
  call void @PyErr_SetInterrupt()
  br label %done
done:
  ret void
}
"""
"""The same as text, for entries that are."""


def write_forget(module: Module) -> None:
    """`pk_forget`."""
    f = Body(module, "pk_forget", VOID, [])
    interrupt = f.load(PTR, module.outside("PyExc_KeyboardInterrupt"))
    interrupted = f.is_(f.call("PyErr_ExceptionMatches", I32, interrupt), "!=", I32(0))
    f.call("PyErr_Clear", VOID)
    with f.if_then(interrupted, likely=False):
        f.call("PyErr_SetInterrupt", VOID)
    f.ret()


def clear(f: Body) -> None:
    """Forget Python's error, if there is one."""
    f.call("pk_forget", VOID)
