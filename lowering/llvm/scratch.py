"""Memory that compiled code asks for while it runs: `memref.alloc` on the CPU, and tapes. LLVM IR text, linked to it.

`finalize-memref-to-llvm{use-generic-functions=true}` calls the first two. The team of threads does what they do
(`pykern.lowering.llvm.team.memory_blocks`), so that a launch that is left gives its memory back, and one that gets none
ends with a MemoryError. Where there is no team it is malloc's, with the same head.
"""

from __future__ import annotations

from pykern.data.abi import TABLE_INDEX
from pykern.lowering.llvm.team.memory_blocks import BACK, BEGIN, CAPACITY, HEAD

ALLOCATE, RELEASE = "_mlir_memref_to_llvm_alloc", "_mlir_memref_to_llvm_free"
RESIZE = "pykern.resize"
"""Of a block that `ALLOCATE` or it made; of a null pointer a new one. Only for blocks that it makes larger later."""
TOLD = "pykern: no memory for what a kernel keeps while it runs\n"
"""Where there is no launch of the team's nobody could go on: such code has no way to give up halfway."""


def _asked(name: str, arguments: str, result: str = "ptr") -> str:
    """Ask the team, or go on at `alone`."""
    place, made = TABLE_INDEX[name], "  %made = " if result != "void" else "  "
    back = "br label %given" if result != "void" else "ret void"
    return f"""
  %table = load ptr, ptr @pk_table
  %place = getelementptr i64, ptr %table, i64 {place}
  %does = load ptr, ptr %place
  %there = icmp ne ptr %does, null
  br i1 %there, label %team, label %alone
team:
{made}call {result} %does({arguments})
  {back}
"""


_HEADED = f"""
  %none = icmp eq ptr %begin, null
  br i1 %none, label %out, label %got
got:
  %piece = getelementptr i8, ptr %begin, i64 {HEAD}
  %whose = getelementptr i8, ptr %piece, i64 {BEGIN}
  store ptr %begin, ptr %whose
  %capacity = getelementptr i8, ptr %piece, i64 {CAPACITY}
  store i64 0, ptr %capacity
  %back = getelementptr i8, ptr %piece, i64 {BACK}
  store ptr null, ptr %back
  ret ptr %piece
given:
  %some = icmp ne ptr %made, null
  br i1 %some, label %good, label %out
good:
  ret ptr %made
out:
  %told = call i64 @write(i32 2, ptr @pk_told, i64 {len(TOLD)})
  call void @abort()
  unreachable
"""

ALLOCATION = f"""
@pk_table = external hidden global ptr
@pk_told = private constant [{len(TOLD)} x i8] c"{TOLD[:-1]}\\0A"
declare i64 @write(i32, ptr, i64)
declare void @abort() noreturn
declare noalias ptr @malloc(i64)
declare noalias ptr @realloc(ptr, i64)
declare void @free(ptr)

define noalias ptr @{ALLOCATE}(i64 %size) noinline nounwind {{
{_asked("pk_allocate", "i64 %size")}
alone:
  %room = add i64 %size, {HEAD}
  %begin = call ptr @malloc(i64 %room)
{_HEADED}
}}

define noalias ptr @"{RESIZE}"(ptr %before, i64 %size) noinline nounwind {{
{_asked("pk_resize", "ptr %before, i64 %size")}
alone:
  %old = icmp eq ptr %before, null
  %shift = select i1 %old, i64 0, i64 -{HEAD}
  %from = getelementptr i8, ptr %before, i64 %shift
  %room = add i64 %size, {HEAD}
  %begin = call ptr @realloc(ptr %from, i64 %room)
{_HEADED}
}}

define void @{RELEASE}(ptr %piece) noinline nounwind {{
{_asked("pk_release", "ptr %piece", "void")}
alone:
  %none = icmp eq ptr %piece, null
  br i1 %none, label %done, label %some
some:
  %whose = getelementptr i8, ptr %piece, i64 {BEGIN}
  %begin = load ptr, ptr %whose
  call void @free(ptr %begin)
  br label %done
done:
  ret void
}}
"""
