"""Memory that compiled code asks for while it runs: `memref.alloc` on the CPU. LLVM IR text, linked to the code.

`finalize-memref-to-llvm{use-generic-functions=true}` calls these two. Large pieces, such as rows that do not fit the
caches, are kept memory (`pykern.lowering.llvm.kept_memory`) where that is loaded: malloc asks the system for new pages
each time. Every piece has the same head, so it is given back to whom it came from.
"""

from __future__ import annotations

from pykern.abi import KEPT_LEAST, TABLE_INDEX

ALLOCATE, RELEASE = "_mlir_memref_to_llvm_alloc", "_mlir_memref_to_llvm_free"

NO_MEMORY = "kern.no_memory"
"""A function that ends the launch with a MemoryError (`pykern.lowering.llvm.team.calls`)."""
TOLD = "pykern: no memory for what a kernel keeps while it runs\n"
"""Where there is no team of threads nobody could go on: such code has no way to give up halfway."""
GIVING_UP = f"""
@pk_table = external hidden global ptr
@pk_told = private constant [{len(TOLD)} x i8] c"{TOLD[:-1]}\\0A"
declare i64 @write(i32, ptr, i64)
declare void @abort() noreturn

define void @"{NO_MEMORY}"() noinline cold nounwind {{
  %table = load ptr, ptr @pk_table
  %place = getelementptr i64, ptr %table, i64 {TABLE_INDEX["pk_no_memory"]}
  %leave = load ptr, ptr %place
  %there = icmp ne ptr %leave, null
  br i1 %there, label %team, label %nobody
team:
  call void %leave()
  br label %nobody
nobody:
  %told = call i64 @write(i32 2, ptr @pk_told, i64 {len(TOLD)})
  call void @abort()
  unreachable
}}
"""

ALLOCATION = f"""
@pk_table = external hidden global ptr

declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare void @"{NO_MEMORY}"()

define noalias ptr @{ALLOCATE}(i64 %size) noinline nounwind {{
  %large = icmp sge i64 %size, {KEPT_LEAST}
  br i1 %large, label %ask, label %small
ask:
  %table = load ptr, ptr @pk_table
  %place = getelementptr i64, ptr %table, i64 {TABLE_INDEX["pk_take"]}
  %take = load ptr, ptr %place
  %there = icmp ne ptr %take, null
  br i1 %there, label %kept, label %small
kept:
  %block = call ptr %take(i64 %size)
  %some = icmp ne ptr %block, null
  br i1 %some, label %given, label %out
given:
  ret ptr %block
small:
  %room = add i64 %size, 64
  %begin = call ptr @malloc(i64 %room)
  %none = icmp eq ptr %begin, null
  br i1 %none, label %out, label %got
out:
  call void @"{NO_MEMORY}"()
  unreachable
got:
  %piece = getelementptr i8, ptr %begin, i64 64
  %whose = getelementptr i8, ptr %piece, i64 -24
  store ptr %begin, ptr %whose
  %capacity = getelementptr i8, ptr %piece, i64 -8
  store i64 0, ptr %capacity
  ret ptr %piece
}}

define void @{RELEASE}(ptr %piece) noinline nounwind {{
  %whose = getelementptr i8, ptr %piece, i64 -24
  %begin = load ptr, ptr %whose
  %capacity = getelementptr i8, ptr %piece, i64 -8
  %bytes = load i64, ptr %capacity
  %small = icmp eq i64 %bytes, 0
  br i1 %small, label %mallocs, label %kept
mallocs:
  call void @free(ptr %begin)
  ret void
kept:
  %table = load ptr, ptr @pk_table
  %place = getelementptr i64, ptr %table, i64 {TABLE_INDEX["pk_give"]}
  %give = load ptr, ptr %place
  call void %give(ptr %piece)
  ret void
}}
"""
