"""Names the kernel in which the process dies of a segmentation fault. LLVM IR text, an object of its own.

Comes in: nothing. Goes out: a shared object with `pk_watch`, which is given a table of the code that is loaded
(`pykern.runtime.faults`) and sets a handler of SIGSEGV and SIGBUS. The handler writes a message where the fault, or a
call that led to it, is in that code; then it hands on to the handler before, or lets the signal do what it does without
one. It allocates nothing, takes no lock, and calls what POSIX lets signal handlers call.
"""

from __future__ import annotations

import platform
import time

from pykern.data.artifact import Artifact
from pykern.lowering.llvm.codegen import assemble
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.record import Record

_MACHINES = {"x86_64": (168, 160, 14), "aarch64": (440, 432, 135)}
"""Bytes from Linux's `ucontext_t` to the program counter and the stack pointer, and the number of rt_sigprocmask."""
SIGSEGV, SIGBUS = 11, 7
_FLAGS = 0x40000000 | 0x08000000 | 4
"""SA_NODEFER | SA_ONSTACK | SA_SIGINFO."""
_CALLS, _SENT = 64, 1024
"""Words of the stack in which a return address is looked for: below a function of the C library that a kernel called
(`memcpy`), and where somebody has sent the signal once more, as faulthandler does."""

_TEXT = f"""
@table = internal global ptr null
@before = internal global [2 x [152 x i8]] zeroinitializer
@busy = internal global i32 0
declare i32 @sigaction(i32, ptr, ptr)
declare i32 @raise(i32)
declare i64 @write(i32, ptr, i64)
declare i64 @syscall(i64, ...)
declare ptr @__errno_location()

; The kernel looks at the set before it finds that there is no such change to make.
define internal i1 @readable(ptr %p) {{
  %r = call i64 (i64, ...) @syscall(i64 <mask>, i64 -1, ptr %p, ptr null, i64 8)
  %errno = call ptr @__errno_location()
  %error = load i32, ptr %errno
  %good = icmp ne i32 %error, 14
  ret i1 %good
}}

define internal ptr @found(i64 %place) {{
  %table = load ptr, ptr @table
  %count = load atomic i64, ptr %table acquire, align 8
  br label %loop
loop:
  %n = phi i64 [0, %0], [%next, %more]
  %end = icmp uge i64 %n, %count
  br i1 %end, label %none, label %look
look:
  %at0 = mul i64 %n, 32
  %at = add i64 %at0, 8
  %entry = getelementptr i8, ptr %table, i64 %at
  %low = load i64, ptr %entry
  %from = sub i64 %place, %low
  %sizep = getelementptr i8, ptr %entry, i64 8
  %size = load i64, ptr %sizep
  %inside = icmp ult i64 %from, %size
  br i1 %inside, label %this, label %more
more:
  %next = add i64 %n, 1
  br label %loop
this:
  ret ptr %entry
none:
  ret ptr null
}}

define internal ptr @on_stack(i64 %sp, i64 %words) {{
  br label %loop
loop:
  %n = phi i64 [0, %0], [%next, %more]
  %end = icmp uge i64 %n, %words
  br i1 %end, label %none, label %look
look:
  %offset = mul i64 %n, 8
  %at = add i64 %sp, %offset
  %p = inttoptr i64 %at to ptr
  %in_page = and i64 %at, 4095
  %begins = icmp eq i64 %in_page, 0
  %starts = icmp eq i64 %n, 0
  %new = or i1 %begins, %starts
  br i1 %new, label %ask, label %read
ask:
  %good = call i1 @readable(ptr %p)
  br i1 %good, label %read, label %none
read:
  %word = load volatile i64, ptr %p
  %entry = call ptr @found(i64 %word)
  %is = icmp ne ptr %entry, null
  br i1 %is, label %this, label %more
more:
  %next = add i64 %n, 1
  br label %loop
this:
  ret ptr %entry
none:
  ret ptr null
}}

define internal void @fault(i32 %signal, ptr %info, ptr %context) {{
  %errno = call ptr @__errno_location()
  %error = load i32, ptr %errno
  %codep = getelementptr i8, ptr %info, i64 8
  %code = load i32, ptr %codep
  %sent = icmp sle i32 %code, 0
  %again = atomicrmw add ptr @busy, i32 1 acq_rel
  %first = icmp eq i32 %again, 0
  br i1 %first, label %look, label %hand_on
look:
  %pcp = getelementptr i8, ptr %context, i64 <pc>
  %pc = load i64, ptr %pcp
  %here = call ptr @found(i64 %pc)
  %known = icmp ne ptr %here, null
  br i1 %known, label %tell, label %below
below:
  %spp = getelementptr i8, ptr %context, i64 <sp>
  %sp = load i64, ptr %spp
  %even = and i64 %sp, -8
  %words = select i1 %sent, i64 {_SENT}, i64 {_CALLS}
  %led = call ptr @on_stack(i64 %even, i64 %words)
  %any = icmp ne ptr %led, null
  br i1 %any, label %tell, label %hand_on
tell:
  %entry = phi ptr [%here, %look], [%led, %below]
  %textp = getelementptr i8, ptr %entry, i64 16
  %text = load ptr, ptr %textp
  %lengthp = getelementptr i8, ptr %entry, i64 24
  %length = load i64, ptr %lengthp
  %told = call i64 @write(i32 2, ptr %text, i64 %length)
  br label %hand_on
hand_on:
  store i32 %error, ptr %errno
  %done = atomicrmw sub ptr @busy, i32 1 acq_rel
  %bus = icmp eq i32 %signal, {SIGBUS}
  %which = zext i1 %bus to i64
  %old = getelementptr [152 x i8], ptr @before, i64 %which
  %handler = load ptr, ptr %old
  %number = ptrtoint ptr %handler to i64
  %none = icmp ule i64 %number, 1
  br i1 %none, label %default, label %call
call:
  %flagsp = getelementptr i8, ptr %old, i64 136
  %flags = load i32, ptr %flagsp
  %wants = and i32 %flags, 4
  %long = icmp ne i32 %wants, 0
  br i1 %long, label %with_info, label %plain
with_info:
  call void %handler(i32 %signal, ptr %info, ptr %context)
  ret void
plain:
  call void %handler(i32 %signal)
  ret void
default:
  %set = call i32 @sigaction(i32 %signal, ptr %old, ptr null)
  br i1 %sent, label %repeat, label %return
repeat:
  %raised = call i32 @raise(i32 %signal)
  ret void
return:
  ret void
}}

define void @pk_watch(ptr %table) {{
  store ptr %table, ptr @table
  %action = alloca [152 x i8], align 8
  call void @llvm.memset.p0.i64(ptr %action, i8 0, i64 152, i1 false)
  store ptr @fault, ptr %action
  %flags = getelementptr i8, ptr %action, i64 136
  store i32 {_FLAGS}, ptr %flags
  %bus = getelementptr [152 x i8], ptr @before, i64 1
  %a = call i32 @sigaction(i32 {SIGSEGV}, ptr %action, ptr @before)
  %b = call i32 @sigaction(i32 {SIGBUS}, ptr %action, ptr %bus)
  ret void
}}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""


def lower(record: Record) -> Artifact:
    """Generate code, link."""
    text = _TEXT
    for name, number in zip(("pc", "sp", "mask"), _MACHINES[platform.machine()], strict=True):
        text = text.replace(f"<{name}>", str(number))
    started = time.perf_counter()
    binary = link_shared(assemble(text, quickly=True))  # it runs at most once, and its making is waited for
    record.add("link", "", started, "none")
    return Artifact("", "pk_watch", "entry:faults", "pk_watch", binary)
