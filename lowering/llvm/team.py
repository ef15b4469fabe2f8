"""Threads of a team that wake on the processor of the one that woke them move away at once. LLVM IR text.

Comes in: nothing. Goes out: `pk_home`, where a launch says which processor it runs on, and `pk_apart`, which every
other thread of the team calls first. Linux may wake a thread on its waker's processor and leave both there for a
tenth of a second, while the next processor has nothing to do: each call takes twice as long. A thread that finds
itself there forbids itself that processor for a moment, which moves it, if it may use as many as there are threads.
"""

from __future__ import annotations

from pykern.abi import TABLE_INDEX

MASK_WORDS = 16
"""64 processors each, as in the C library's `cpu_set_t`."""

TEAM_TEXT = f"""
declare i64 @llvm.ctpop.i64(i64)

define internal i64 @pk_home() noinline nounwind {{
  %table = load ptr, ptr @pk_table
  %place = getelementptr ptr, ptr %table, i64 {TABLE_INDEX["sched_getcpu"]}
  %ask = load ptr, ptr %place
  %there = icmp ne ptr %ask, null
  br i1 %there, label %known, label %unknown
known:
  %cpu = call i32 %ask()
  %wide = sext i32 %cpu to i64
  %home = add i64 %wide, 1
  ret i64 %home
unknown:
  ret i64 0
}}

define internal void @pk_apart(i64 %home, i64 %team) noinline nounwind {{
  %here = call i64 @pk_home()
  %same = icmp eq i64 %here, %home
  %some = icmp sgt i64 %home, 0
  %few = icmp sle i64 %home, {64 * MASK_WORDS}
  %s0 = and i1 %same, %some
  %s1 = and i1 %s0, %few
  br i1 %s1, label %together, label %done
together:
  %mask = alloca [{MASK_WORDS} x i64], align 8
  %table = load ptr, ptr @pk_table
  %gp = getelementptr ptr, ptr %table, i64 {TABLE_INDEX["sched_getaffinity"]}
  %get = load ptr, ptr %gp
  %got = call i32 %get(i32 0, i64 {8 * MASK_WORDS}, ptr %mask)
  %known = icmp eq i32 %got, 0
  br i1 %known, label %count, label %done
count:
  %n = phi i64 [ 0, %together ], [ %m, %count ]
  %sum = phi i64 [ 0, %together ], [ %more, %count ]
  %wp = getelementptr i64, ptr %mask, i64 %n
  %word = load i64, ptr %wp
  %bits = call i64 @llvm.ctpop.i64(i64 %word)
  %more = add i64 %sum, %bits
  %m = add i64 %n, 1
  %last = icmp eq i64 %m, {MASK_WORDS}
  br i1 %last, label %counted, label %count
counted:
  %enough = icmp sge i64 %more, %team
  br i1 %enough, label %move, label %done
move:
  %cpu = sub i64 %home, 1
  %which = lshr i64 %cpu, 6
  %at = and i64 %cpu, 63
  %bit = shl i64 1, %at
  %off = xor i64 %bit, -1
  %cp = getelementptr i64, ptr %mask, i64 %which
  %whole = load i64, ptr %cp
  %without = and i64 %whole, %off
  store i64 %without, ptr %cp
  %sp = getelementptr ptr, ptr %table, i64 {TABLE_INDEX["sched_setaffinity"]}
  %set = load ptr, ptr %sp
  %moved = call i32 %set(i32 0, i64 {8 * MASK_WORDS}, ptr %mask)
  store i64 %whole, ptr %cp
  %back = call i32 %set(i32 0, i64 {8 * MASK_WORDS}, ptr %mask)
  br label %done
done:
  ret void
}}
"""
