// RUN: %pykern-opt %s --kern-states-in-place | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// A loop that keeps its states steps from one entry of the stack to the next; what is read later are the entries.
// 8 entries of 32 bytes lie 64 bytes apart, and there is room for what the last iteration makes.

// CHECK-LABEL: func.func @keeps
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<8xf32>
// CHECK: %[[STACK:.*]] = memref.alloc() : memref<576xi8>
// CHECK: %[[FIRST:.*]] = memref.view %[[STACK]][%{{.*}}][] : memref<576xi8> to memref<8xf32>
// CHECK: memref.copy %[[X]], %[[FIRST]]
// CHECK: scf.for %[[T:.*]] = %{{.*}} iter_args(%[[CARRIED:.*]] = %[[X]])
// CHECK: %[[AT:.*]] = arith.muli %[[T]], %c64
// CHECK: %[[HERE:.*]] = memref.view %[[STACK]][%[[AT]]][] : memref<576xi8> to memref<8xf32>
// CHECK: %[[NEXT:.*]] = arith.addi %[[T]], %c1
// CHECK: %[[AFTER:.*]] = arith.muli %[[NEXT]], %c64
// CHECK: %[[THERE:.*]] = memref.view %[[STACK]][%[[AFTER]]][] : memref<576xi8> to memref<8xf32>
// CHECK-NOT: memref.copy
// CHECK: linalg.generic {{.*}} ins(%[[HERE]] : memref<8xf32>) outs(%[[THERE]] : memref<8xf32>)
// CHECK: scf.yield %[[CARRIED]]
// CHECK: %[[LAST:.*]] = memref.view %[[STACK]]
// CHECK: scf.for %[[R:.*]] =
// CHECK: %[[BACK:.*]] = arith.muli %[[R]], %c64
// CHECK: %[[ENTRY:.*]] = memref.view %[[STACK]][%[[BACK]]][] : memref<576xi8> to memref<8xf32>
// CHECK: %[[READ:.*]] = memref.cast %[[ENTRY]] : memref<8xf32> to memref<8xf32, strided<[1], offset: ?>>
// CHECK: linalg.generic {{.*}} ins(%[[READ]] :
// CHECK: return %[[LAST]]
func.func @keeps(%x: memref<8xf32>, %y: memref<8xf32>) -> memref<8xf32> attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %stack = memref.alloc() : memref<8x8xf32>
  %last = scf.for %t = %c0 to %c8 step %c1 iter_args(%state = %x) -> (memref<8xf32>) {
    %entry = memref.subview %stack[%t, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    memref.copy %state, %entry : memref<8xf32> to memref<8xf32, strided<[1], offset: ?>>
    %next = memref.alloc() : memref<8xf32>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%state : memref<8xf32>) outs(%next : memref<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.mulf %a, %a : f32
      linalg.yield %s : f32
    }
    scf.yield %next : memref<8xf32>
  }
  scf.for %r = %c0 to %c8 step %c1 {
    %entry = memref.subview %stack[%r, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%entry : memref<8xf32, strided<[1], offset: ?>>) outs(%y : memref<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
    }
  }
  return %last : memref<8xf32>
}

// A loop that starts elsewhere counts its iterations.

// CHECK-LABEL: func.func @starts_elsewhere
// CHECK-SAME: %[[FROM:[a-z0-9]+]]: index
// CHECK: scf.for %[[T:.*]] = %[[FROM]] to
// CHECK: %[[N:.*]] = arith.subi %[[T]], %[[FROM]]
// CHECK: arith.muli %[[N]], %c64
// CHECK-NOT: memref.copy
// CHECK: return
func.func @starts_elsewhere(%from: index, %to: index, %x: memref<8xf32>) attributes {kern.program} {
  %c1 = arith.constant 1 : index
  %stack = memref.alloc() : memref<8x8xf32>
  %last = scf.for %t = %from to %to step %c1 iter_args(%state = %x) -> (memref<8xf32>) {
    %n = arith.subi %t, %from : index
    %entry = memref.subview %stack[%n, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    memref.copy %state, %entry : memref<8xf32> to memref<8xf32, strided<[1], offset: ?>>
    %next = memref.alloc() : memref<8xf32>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%state : memref<8xf32>) outs(%next : memref<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    scf.yield %next : memref<8xf32>
  }
  return
}

// A state that is changed in place, one that stays for an iteration more, and a stack that is not filled from 0 on
// are left as they are.

// CHECK-LABEL: func.func @in_place
// CHECK-NOT: memref.view
// CHECK: return
func.func @in_place(%x: memref<8xf32>) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %cst = arith.constant 0.0 : f32
  %stack = memref.alloc() : memref<8x8xf32>
  %last = scf.for %t = %c0 to %c8 step %c1 iter_args(%state = %x) -> (memref<8xf32>) {
    %entry = memref.subview %stack[%t, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    memref.copy %state, %entry : memref<8xf32> to memref<8xf32, strided<[1], offset: ?>>
    linalg.fill ins(%cst : f32) outs(%state : memref<8xf32>)
    %next = memref.alloc() : memref<8xf32>
    memref.copy %state, %next : memref<8xf32> to memref<8xf32>
    scf.yield %next : memref<8xf32>
  }
  return
}

// CHECK-LABEL: func.func @two_states
// CHECK-NOT: memref.view
// CHECK: return
func.func @two_states(%x: memref<8xf32>, %y: memref<8xf32>) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %stack = memref.alloc() : memref<8x8xf32>
  %last:2 = scf.for %t = %c0 to %c8 step %c1 iter_args(%state = %x, %old = %y) -> (memref<8xf32>, memref<8xf32>) {
    %entry = memref.subview %stack[%t, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    memref.copy %state, %entry : memref<8xf32> to memref<8xf32, strided<[1], offset: ?>>
    %next = memref.alloc() : memref<8xf32>
    memref.copy %old, %next : memref<8xf32> to memref<8xf32>
    scf.yield %next, %state : memref<8xf32>, memref<8xf32>
  }
  return
}

// CHECK-LABEL: func.func @backwards
// CHECK-NOT: memref.view
// CHECK: return
func.func @backwards(%x: memref<8xf32>) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %stack = memref.alloc() : memref<8x8xf32>
  %last = scf.for %t = %c0 to %c8 step %c1 iter_args(%state = %x) -> (memref<8xf32>) {
    %n = arith.subi %c7, %t : index
    %entry = memref.subview %stack[%n, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    memref.copy %state, %entry : memref<8xf32> to memref<8xf32, strided<[1], offset: ?>>
    %next = memref.alloc() : memref<8xf32>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%state : memref<8xf32>) outs(%next : memref<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    scf.yield %next : memref<8xf32>
  }
  return
}
