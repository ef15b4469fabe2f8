"""What every kernel and program has with it: the table, and the team of threads. LLVM IR text.

Comes in: nothing. Goes out: `RUNTIME`, which is made into code once and linked to each. `pk_parallel` shares a nest
among threads. `pk_home` is where a launch says which processor it runs on, and `pk_apart` what every other thread of
the team calls first: it moves away from the processor of the one that woke it. Linux may wake a thread there and leave
both there for a tenth of a second, while the next processor has nothing to do: each call takes twice as long. Such a
thread forbids itself that processor for a moment, which moves it, if it may use as many as there are threads.
"""

from __future__ import annotations

from pykern.abi import TABLE_INDEX

MASK_WORDS = 16
"""64 processors each, as in the C library's `cpu_set_t`."""

RUNTIME = f"""
@pk_table = hidden global ptr null

declare i64 @llvm.ctpop.i64(i64)

define void @pk_init(ptr %table) {{
  store ptr %table, ptr @pk_table
  ret void
}}

define hidden i64 @pk_home() noinline nounwind {{
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

define hidden void @pk_apart(i64 %home, i64 %team) noinline nounwind {{
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

define internal void @pk_split(ptr %data) {{
  %fn = load ptr, ptr %data
  %cp = getelementptr ptr, ptr %data, i64 1
  %c = load ptr, ptr %cp
  %ep = getelementptr i64, ptr %data, i64 2
  %extent = load i64, ptr %ep
  %table = load ptr, ptr @pk_table
  %np = getelementptr ptr, ptr %table, i64 {TABLE_INDEX["omp_get_thread_num"]}
  %nf = load ptr, ptr %np
  %n32 = call i32 %nf()
  %n = sext i32 %n32 to i64
  %tp = getelementptr ptr, ptr %table, i64 {TABLE_INDEX["omp_get_num_threads"]}
  %tf = load ptr, ptr %tp
  %t32 = call i32 %tf()
  %t = sext i32 %t32 to i64
  %other = icmp ne i64 %n, 0
  br i1 %other, label %apart, label %go
apart:
  %hp = getelementptr i64, ptr %data, i64 3
  %home = load i64, ptr %hp
  call void @pk_apart(i64 %home, i64 %t)
  br label %go
go:
  %next = add i64 %n, 1
  %lo0 = mul i64 %extent, %n
  %lo = udiv i64 %lo0, %t
  %hi0 = mul i64 %extent, %next
  %hi = udiv i64 %hi0, %t
  call void %fn(ptr %c, i64 %lo, i64 %hi)
  ret void
}}

define hidden void @pk_parallel(ptr %fn, ptr %c, i64 %extent) {{
  %data = alloca [4 x i64], align 16
  %table = load ptr, ptr @pk_table
  %wp = getelementptr i64, ptr %table, i64 {TABLE_INDEX["threads"]}
  %wanted = load i64, ptr %wp
  %several = icmp sgt i64 %wanted, 1
  %gp = getelementptr ptr, ptr %table, i64 {TABLE_INDEX["GOMP_parallel"]}
  %gomp = load ptr, ptr %gp
  %there = icmp ne ptr %gomp, null
  %go = and i1 %several, %there
  br i1 %go, label %team, label %alone
team:
  store ptr %fn, ptr %data
  %cp = getelementptr ptr, ptr %data, i64 1
  store ptr %c, ptr %cp
  %ep = getelementptr i64, ptr %data, i64 2
  store i64 %extent, ptr %ep
  %home = call i64 @pk_home()
  %hp = getelementptr i64, ptr %data, i64 3
  store i64 %home, ptr %hp
  %fewer = icmp slt i64 %extent, %wanted
  %size = select i1 %fewer, i64 %extent, i64 %wanted
  %size32 = trunc i64 %size to i32
  call void %gomp(ptr @pk_split, ptr %data, i32 %size32, i32 0)
  ret void
alone:
  call void %fn(ptr %c, i64 0, i64 %extent)
  ret void
}}
"""
