"""A compiler for tests of the service: it does what the name of the kernel says. Run in the worker."""

from __future__ import annotations

import ctypes
import os
import sys
import time

from pykern.compiler.worker import serve
from pykern.data.artifact import Artifact, Stage
from pykern.data.locations import SourceSpan
from pykern.data.source import KernelSource
from pykern.errors import CompilerCrash, KernelTypeError, LaunchError


class PrivateError(LaunchError):
    """Known to the compiler only."""

    code = "PK099"


class Unpicklable:
    def __reduce__(self):
        raise TypeError("this stays here")


def compile(source: KernelSource, *, keep_stages: bool = False, careful: bool = False) -> Artifact:
    name = source.function.name
    if name == "optimised_abort" and not careful:
        os.write(2, b"Assertion `TheLoop->contains(BB)' failed.\n")
        os.abort()
    resources: dict[str, object] = {"pid": os.getpid(), "cwd": os.getcwd(), "path": list(sys.path)}
    if name == "abort":
        os.write(2, b"Assertion `idx < size()' failed.\n")
        os.abort()
    elif name == "segfault":
        ctypes.string_at(0)
    elif name == "mlir_segfault":
        from mlir import ir
        from mlir.dialects import llvm

        with ir.Context() as context:
            context.allow_unregistered_dialects = True
            module = ir.Module.parse('"no.translation"() : () -> ()')
            llvm.translate_module_to_llvmir(module.operation)
    elif name == "mlir_abort":
        from mlir import ir

        with ir.Context(), ir.Location.unknown():
            module = ir.Module.parse(
                "func.func @f(%a: i32) -> i32 { %b = arith.addi %a, %a : i32 return %b : i32 }"
            )
            block = module.body.operations[0].regions[0].blocks[0]
            block.operations[0].erase()
    elif name == "leave":
        os._exit(1)
    elif name == "killed":
        os.kill(os.getpid(), 9)
    elif name == "hang":
        time.sleep(1000)
    elif name == "spin":  # holds the GIL, as MLIR does
        ctypes.PyDLL(None).sleep(1000)
    elif name.startswith("slow"):
        time.sleep(0.3)
    elif name == "type_error":
        span = SourceSpan("heat.py", 3, 4, 9, "type_error", "    x = y + 1")
        raise KernelTypeError("no such sum", span, hint="cast", notes=(("made here", span),))
    elif name == "private_error":
        raise PrivateError("only here")
    elif name == "raises":
        raise ZeroDivisionError("a fault of ours")
    elif name == "unpicklable":
        resources["x"] = Unpicklable()
    elif name == "prints":
        print("a word from a pass")
        os.write(1, b"from C\n")
        resources["stdin"] = sys.stdin.read()
    elif name == "spawns":
        os.system("sleep 1000 &")
        os.abort()
    elif name == "large":
        resources["text"] = source.function.text[::-1]
    elif name == "crash_error":
        raise CompilerCrash("of another kind")
    stages = (Stage("kern", "module {}", 1.0),) if keep_stages else ()
    return Artifact(
        source.key("")[:8], name, str(source.target), "pk_run", b"\x7fELF", resources=resources, stages=stages
    )


def load():
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if mode == "no-import":
        raise ImportError("No module named 'mlir'")
    if mode == "no-library":
        raise OSError("libLLVM.so: cannot open shared object file")
    if mode == "dies":
        os.write(2, b"LLVM ERROR: bad start\n")
        os.abort()
    if mode == "slow-start":
        time.sleep(1.5)
    return compile


if __name__ == "__main__":
    serve(load, idle_seconds=0.2 if sys.argv[1:] == ["idle"] else 60.0)
