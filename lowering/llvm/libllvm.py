"""LLVM through its C API: the library that MLIR's own bindings are linked to, called by ctypes.

Comes in: LLVM IR text. Goes out: text, objects, assembly. Only functions of the stable C API are called. Modules live
in a context of their own each, and are disposed of with it.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from typing import Any

from pykern.errors import TargetError
from pykern.lowering import llvm_library

TARGETS = ("X86", "AArch64")
LEVEL_NONE, LEVEL_LESS, LEVEL_AGGRESSIVE, RELOC_PIC, MODEL_DEFAULT = 0, 1, 3, 2, 0
ASSEMBLY, OBJECT = 0, 1
EXTERNAL, AVAILABLE_EXTERNALLY, INTERNAL = 0, 1, 8
HIDDEN = 1
RETURN_STATUS = 2

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "LLVMContextCreate": (c_void_p, ()),
    "LLVMContextDispose": (None, (c_void_p,)),
    "LLVMCreateMemoryBufferWithMemoryRangeCopy": (c_void_p, (c_char_p, c_size_t, c_char_p)),
    "LLVMParseIRInContext2": (c_int, (c_void_p, c_void_p, POINTER(c_void_p), POINTER(c_void_p))),
    "LLVMLinkModules2": (c_int, (c_void_p, c_void_p)),
    "LLVMVerifyModule": (c_int, (c_void_p, c_int, POINTER(c_void_p))),
    "LLVMDisposeModule": (None, (c_void_p,)),
    "LLVMCloneModule": (c_void_p, (c_void_p,)),
    "LLVMPrintModuleToString": (c_void_p, (c_void_p,)),
    "LLVMDisposeMessage": (None, (c_void_p,)),
    "LLVMGetFirstFunction": (c_void_p, (c_void_p,)),
    "LLVMGetNextFunction": (c_void_p, (c_void_p,)),
    "LLVMIsDeclaration": (c_int, (c_void_p,)),
    "LLVMGetNamedFunction": (c_void_p, (c_void_p, c_char_p)),
    "LLVMSetLinkage": (None, (c_void_p, c_int)),
    "LLVMSetVisibility": (None, (c_void_p, c_int)),
    "LLVMGetValueName2": (c_char_p, (c_void_p, POINTER(c_size_t))),
    "LLVMSetTarget": (None, (c_void_p, c_char_p)),
    "LLVMSetModuleDataLayout": (None, (c_void_p, c_void_p)),
    "LLVMGetDefaultTargetTriple": (c_void_p, ()),
    "LLVMGetHostCPUName": (c_void_p, ()),
    "LLVMGetHostCPUFeatures": (c_void_p, ()),
    "LLVMGetTargetFromTriple": (c_int, (c_char_p, POINTER(c_void_p), POINTER(c_void_p))),
    "LLVMCreateTargetMachine": (c_void_p, (c_void_p, c_char_p, c_char_p, c_char_p, c_int, c_int, c_int)),
    "LLVMCreateTargetDataLayout": (c_void_p, (c_void_p,)),
    "LLVMTargetMachineEmitToMemoryBuffer": (
        c_int,
        (c_void_p, c_void_p, c_int, POINTER(c_void_p), POINTER(c_void_p)),
    ),
    "LLVMGetBufferStart": (c_void_p, (c_void_p,)),
    "LLVMGetBufferSize": (c_size_t, (c_void_p,)),
    "LLVMDisposeMemoryBuffer": (None, (c_void_p,)),
    "LLVMCreatePassBuilderOptions": (c_void_p, ()),
    "LLVMPassBuilderOptionsSetLoopInterleaving": (None, (c_void_p, c_int)),
    "LLVMPassBuilderOptionsSetLoopVectorization": (None, (c_void_p, c_int)),
    "LLVMPassBuilderOptionsSetSLPVectorization": (None, (c_void_p, c_int)),
    "LLVMPassBuilderOptionsSetLoopUnrolling": (None, (c_void_p, c_int)),
    "LLVMRunPasses": (c_void_p, (c_void_p, c_char_p, c_void_p, c_void_p)),
    "LLVMGetErrorMessage": (c_void_p, (c_void_p,)),
    "LLVMGetVersion": (None, (POINTER(c_uint), POINTER(c_uint), POINTER(c_uint))),
}


@functools.cache
def library() -> ctypes.CDLL:
    """The library with its functions declared. Raises `TargetError` where it is not installed, or another version."""
    loaded = llvm_library.load()
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(loaded, name, None)
        if function is None:
            raise TargetError(f"LLVM's library, {loaded._name}, has no {name}", hint=llvm_library.advice())
        function.restype, function.argtypes = result, arguments
    for target in TARGETS:
        for part in ("TargetInfo", "Target", "TargetMC", "AsmPrinter"):
            initialize = getattr(loaded, f"LLVMInitialize{target}{part}", None)
            if initialize is not None:
                initialize.restype = None
                initialize()
    return loaded


class Machine:
    """LLVM's description of a processor; position-independent, so that objects can be shared.

    Empty texts are the processor this runs on. Raises `TargetError` where LLVM does not know it.
    """

    def __init__(
        self, llvm: ctypes.CDLL, triple: str, cpu: str, features: str, level: int = LEVEL_AGGRESSIVE
    ) -> None:
        self.llvm = llvm
        native = not triple
        self.triple = triple.encode() or self._text(llvm.LLVMGetDefaultTargetTriple())
        target, error = c_void_p(), c_void_p()
        if llvm.LLVMGetTargetFromTriple(self.triple, byref(target), byref(error)):
            raise TargetError(f"LLVM: {self._text(error.value).decode()}")
        cpu_name = cpu.encode() or (self._text(llvm.LLVMGetHostCPUName()) if native else b"")
        flags = features.encode() or (self._text(llvm.LLVMGetHostCPUFeatures()) if native else b"")
        self.pointer = llvm.LLVMCreateTargetMachine(
            target, self.triple, cpu_name, flags, level, RELOC_PIC, MODEL_DEFAULT
        )
        self.layout = llvm.LLVMCreateTargetDataLayout(self.pointer)
        self.options = llvm.LLVMCreatePassBuilderOptions()
        for what in ("LoopInterleaving", "LoopVectorization", "SLPVectorization", "LoopUnrolling"):
            getattr(llvm, f"LLVMPassBuilderOptionsSet{what}")(self.options, 1)

    @contextmanager
    def module(self, *texts: str) -> Iterator[Module]:
        """The texts as one module for this machine, verified. It ends with the block."""
        context = self.llvm.LLVMContextCreate()
        try:
            made = Module(self, context, texts[0])
            for text in texts[1:]:
                made.link(Module(self, context, text))
            self.llvm.LLVMSetTarget(made.pointer, self.triple)
            self.llvm.LLVMSetModuleDataLayout(made.pointer, self.layout)
            made.verify()
            yield made
            self.llvm.LLVMDisposeModule(made.pointer)
        finally:
            self.llvm.LLVMContextDispose(context)

    def _text(self, pointer: int | None) -> bytes:
        """A message of LLVM's, which is given back."""
        if not pointer:
            return b""
        text = ctypes.string_at(pointer)
        self.llvm.LLVMDisposeMessage(pointer)
        return text


class Module:
    """LLVM IR. Raises `TargetError` with LLVM's words where a text or a module is not valid."""

    def __init__(self, machine: Machine, context: int, text: str) -> None:
        self.machine, self.llvm = machine, machine.llvm
        content = text.encode()
        buffer = self.llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(content, len(content), b"kernel")
        module = c_void_p()
        try:  # which leaves the buffer as it is, and to us
            self._check(lambda error: self.llvm.LLVMParseIRInContext2(context, buffer, byref(module), error))
        finally:
            self.llvm.LLVMDisposeMemoryBuffer(buffer)
        self.pointer = module.value

    def link(self, other: Module) -> None:
        """Take in another module, which is gone then."""
        if self.llvm.LLVMLinkModules2(self.pointer, other.pointer):
            raise TargetError("LLVM: modules could not be linked")

    def verify(self) -> None:
        self._check(lambda error: self.llvm.LLVMVerifyModule(self.pointer, RETURN_STATUS, error))

    def hide_all_but(self, names: tuple[str, ...]) -> None:
        """What nobody outside calls can be inlined and dropped."""
        function = self.llvm.LLVMGetFirstFunction(self.pointer)
        while function:
            name = self.llvm.LLVMGetValueName2(function, byref(c_size_t())).decode()
            if not self.llvm.LLVMIsDeclaration(function) and name not in names:
                self.llvm.LLVMSetLinkage(function, INTERNAL)
            function = self.llvm.LLVMGetNextFunction(function)

    def share(self, names: tuple[str, ...]) -> None:
        """Functions that other objects of the shared object call, as far as they are here."""
        self._link_as(names, EXTERNAL)

    def give_away(self, names: tuple[str, ...]) -> None:
        """Functions that another module of the shared object has: only declared here."""
        self._link_as(names, AVAILABLE_EXTERNALLY)
        if names:
            self.run("elim-avail-extern")

    def keep_only(self, names: tuple[str, ...]) -> None:
        """Functions for another module of the shared object, and what they call."""
        self.hide_all_but(names)
        self._link_as(names, EXTERNAL)
        self.run("globaldce")

    def _link_as(self, names: tuple[str, ...], linkage: int) -> None:
        """Nobody outside of the shared object sees them."""
        for name in names:
            function = self.llvm.LLVMGetNamedFunction(self.pointer, name.encode())
            if not function:
                continue
            self.llvm.LLVMSetLinkage(function, linkage)
            self.llvm.LLVMSetVisibility(function, HIDDEN)

    def run(self, passes: str) -> None:
        """Run passes, given as `opt -passes=` takes them."""
        error = self.llvm.LLVMRunPasses(
            self.pointer, passes.encode(), self.machine.pointer, self.machine.options
        )
        if error:
            raise TargetError(f"LLVM: {ctypes.string_at(self.llvm.LLVMGetErrorMessage(error)).decode()}")

    def emit(self, kind: int, copy: bool = False) -> bytes:
        """Machine code. It changes the module it is made of: of a copy, if more is wanted of this one."""
        buffer, emit = c_void_p(), self.llvm.LLVMTargetMachineEmitToMemoryBuffer
        module = self.llvm.LLVMCloneModule(self.pointer) if copy else self.pointer
        try:
            self._check(lambda error: emit(self.machine.pointer, module, kind, error, byref(buffer)))
        finally:
            if copy:
                self.llvm.LLVMDisposeModule(module)
        start, size = self.llvm.LLVMGetBufferStart(buffer), self.llvm.LLVMGetBufferSize(buffer)
        code = ctypes.string_at(start, size)
        self.llvm.LLVMDisposeMemoryBuffer(buffer)
        return code

    def __str__(self) -> str:
        return self.machine._text(self.llvm.LLVMPrintModuleToString(self.pointer)).decode()

    def _check(self, call: Callable[[Any], int]) -> None:
        error = c_void_p()
        failed = call(byref(error))
        said = self.machine._text(error.value)  # a success may leave an empty message
        if failed:
            raise TargetError(f"LLVM: {said.decode().strip()}")
