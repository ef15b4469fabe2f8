"""Forget an error of Python's in a call that is made once more by Python's way, which meets it again.

Comes in: code in the making. Goes out: `pk_forget` in it, and calls of that. Ctrl-C comes but once, so it is set again.
"""

from __future__ import annotations

from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I32, PTR, VOID


def write_forget(module: Module) -> None:
    """`pk_forget`."""
    f = Body(module, "pk_forget", VOID, [])
    module.linkage["pk_forget"] = "internal"
    f.attributes += ["noinline", "cold"]
    interrupt = f.load(PTR, module.outside("PyExc_KeyboardInterrupt"))
    interrupted = f.is_(f.call("PyErr_ExceptionMatches", I32, interrupt), "!=", I32(0))
    f.call("PyErr_Clear", VOID)
    with f.if_then(interrupted, likely=False):
        f.call("PyErr_SetInterrupt", VOID)
    f.ret()


def clear(f: Body) -> None:
    """Forget Python's error, if there is one."""
    f.call("pk_forget", VOID)
