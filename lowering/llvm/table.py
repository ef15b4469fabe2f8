"""What every kernel and program has with it: the address of the table, and how a nest asks for threads. LLVM IR text.

Comes in: nothing. Goes out: `RUNTIME`, which is made into code once and linked to each. `pk_parallel` shares a nest
among threads, as `pk_share` of the table does, or runs it here where there is none.
Read next: `pykern.lowering.llvm.team`.
"""

from __future__ import annotations

from pykern.abi import TABLE_INDEX

RUNTIME = f"""
@pk_table = hidden global ptr null

define void @pk_init(ptr %table) {{
  store ptr %table, ptr @pk_table
  ret void
}}

define hidden void @pk_parallel(ptr %fn, ptr %c, i64 %extent, ptr %seen) {{
  %table = load ptr, ptr @pk_table
  %place = getelementptr ptr, ptr %table, i64 {TABLE_INDEX["pk_share"]}
  %share = load ptr, ptr %place
  %there = icmp ne ptr %share, null
  br i1 %there, label %team, label %alone
team:
  call void %share(ptr %fn, ptr %c, i64 %extent, ptr %seen)
  ret void
alone:
  call void %fn(ptr %c, i64 0, i64 %extent)
  ret void
}}
"""
