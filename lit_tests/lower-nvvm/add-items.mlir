// RUN: %pykern-opt %s --kern-add-items | FileCheck %s

// The group's number times its size, and the work-item's own: one instruction, whatever LLVM knows of their bits.

// CHECK-LABEL: llvm.func @item
// CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[GROUP:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[ITEM:.*]] = llvm.inline_asm {{.*}}"mad.lo.s32 $0, $1, 64, $2;", "=r,r,r" %[[GROUP]], %[[TID]] : (i32, i32) -> i32
// CHECK: llvm.return %[[ITEM]]
llvm.func @item() -> i32 {
  %size = llvm.mlir.constant(64 : i32) : i32
  %tid = nvvm.read.ptx.sreg.tid.x range <i32, 0, 64> : i32
  %group = nvvm.read.ptx.sreg.ctaid.x : i32
  %first = llvm.mul %group, %size overflow<nsw> : i32
  %item = llvm.add %first, %tid overflow<nsw> : i32
  llvm.return %item : i32
}

// Sums with something else, and of 64 bits, stay.

// CHECK-LABEL: llvm.func @others
// CHECK-NOT: llvm.inline_asm
llvm.func @others(%x: i32, %y: i64) -> i64 {
  %size = llvm.mlir.constant(64 : i32) : i32
  %long = llvm.mlir.constant(64 : i64) : i64
  %tid = nvvm.read.ptx.sreg.tid.x range <i32, 0, 64> : i32
  %first = llvm.mul %x, %size overflow<nsw> : i32
  %sum = llvm.add %first, %x : i32
  %wide = llvm.sext %tid : i32 to i64
  %far = llvm.mul %y, %long : i64
  %place = llvm.add %far, %wide : i64
  %shown = llvm.sext %sum : i32 to i64
  %both = llvm.add %place, %shown : i64
  llvm.return %both : i64
}
