"""The image of `pk_adapt`: its functions, put together, compiled and linked.

Comes in: nothing. Goes out: an artifact, loaded once a process by `pykern.obtain.adapter_code`. Read next: `calls`.
"""

from __future__ import annotations

import time

from pykern.data.artifact import Artifact
from pykern.lowering.llvm.adapt.arrays import write_arrays
from pykern.lowering.llvm.adapt.calls import write_calls
from pykern.lowering.llvm.adapt.frame import write_frame
from pykern.lowering.llvm.codegen import generate
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import PTR, VOID
from pykern.lowering.record import Record

EXPORTS = ("pk_init", "pk_adapt", "pk_missed")


def lower(record: Record) -> Artifact:
    """Write it, generate code, link."""
    code = generate(text(), (), EXPORTS, texts=record.texts)
    started = time.perf_counter()
    binary = link_shared(*code.objects)
    record.add("link", "", started, "none")
    return Artifact("", "pk_adapt", "entry:adapt", "pk_adapt", binary)


def text() -> str:
    """LLVM IR."""
    module = Module()
    module.define("pk_table", "internal global ptr null")
    f = Body(module, "pk_init", VOID, [PTR])
    f.store(f.arguments[0], module.globals["pk_table"])
    f.ret()
    write_frame(module)
    write_arrays(module)
    write_calls(module)
    return str(module)
