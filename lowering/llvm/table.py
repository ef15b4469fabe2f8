"""What every kernel and program has with it: the address of the table, and how a nest asks for threads. LLVM IR text.

Comes in: nothing. Goes out: `RUNTIME`, which is made into code once and linked to each, and `LAUNCHED`, the same for
what has an entry of its own. `pk_parallel` shares a nest among threads, as `pk_share` of the table does, or runs it
here where there is none. `pk_unlocked` runs a long launch, as `pk_call` does, or leaves it to Python, which gets the
team first.
Read next: `pykern.lowering.llvm.team`.
"""

from __future__ import annotations

from pykern.data.abi import REFUSED, TABLE_INDEX

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

LAUNCHED = f"""{RUNTIME}
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)

define hidden i32 @pk_unlocked(ptr %run, ptr %slots) {{
  %table = load ptr, ptr @pk_table
  %place = getelementptr ptr, ptr %table, i64 {TABLE_INDEX["pk_call"]}
  %call = load ptr, ptr %place
  %there = icmp ne ptr %call, null
  br i1 %there, label %team, label %nobody
team:
  %stopped = tail call i32 %call(ptr %run, ptr %slots)
  ret i32 %stopped
nobody:
  %awaitedp = getelementptr i64, ptr %table, i64 {TABLE_INDEX["team_awaited"]}
  %awaited = load i64, ptr %awaitedp
  %waits = icmp ne i64 %awaited, 0
  br i1 %waits, label %refused, label %alone
refused:
  ret i32 {REFUSED}
alone:
  %thread = call ptr @PyEval_SaveThread()
  call void %run(ptr %slots)
  call void @PyEval_RestoreThread(ptr %thread)
  ret i32 0
}}
"""
