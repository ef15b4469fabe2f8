// RUN: %pykern-opt %s --split-input-file --kern-thread-exits --canonicalize | FileCheck %s

// The first divisor of n: `found` ends the loop. The iteration that finds it leaves at once, and `d + 1` waits for nothing.

// CHECK-LABEL: func.func @divisor(
// CHECK: cf.cond_br %{{.*}}, ^[[BODY:.*]]({{.*}}), ^[[OUT:.*]]({{.*}})
// CHECK: ^[[BODY]](%[[FLAG:.*]]: i1, %[[D:.*]]: index):
// CHECK: %[[FOUND:.*]] = arith.cmpi eq
// CHECK: %[[SET:.*]] = arith.select %[[FOUND]], %{{.*}}, %[[FLAG]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[D]]
// CHECK: cf.cond_br %[[SET]], ^[[OUT]]({{.*}}), ^{{.*}}(%{{false.*}}, %[[NEXT]] : i1, index)
func.func @divisor(%n: index) -> (index, i1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %true = arith.constant true
  %false = arith.constant false
  cf.br ^test(%false, %two : i1, index)
^test(%found: i1, %d: index):
  %going = arith.xori %found, %true : i1
  %square = arith.muli %d, %d : index
  %more = arith.cmpi sle, %square, %n : index
  %both = arith.andi %going, %more : i1
  cf.cond_br %both, ^body(%found, %d : i1, index), ^end
^body(%found_here: i1, %at: index):
  %rest = arith.remsi %n, %at : index
  %divides = arith.cmpi eq, %rest, %zero : index
  %set = arith.select %divides, %true, %found_here : i1
  %after = arith.addi %at, %one : index
  %next = arith.select %divides, %at, %after : index
  cf.br ^test(%set, %next : i1, index)
^end:
  return %d, %found : index, i1
}

// -----

// Two flags, as of `break` and `return`.

// CHECK-LABEL: func.func @two(
// CHECK: %[[EITHER:.*]] = arith.ori
// CHECK: cf.cond_br %[[EITHER]], ^{{.*}}, ^
func.func @two(%x: memref<?xf32>, %n: index, %least: f32) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nil = arith.constant 0.0 : f32
  %true = arith.constant true
  %false = arith.constant false
  cf.br ^test(%false, %false, %zero : i1, i1, index)
^test(%a: i1, %b: i1, %k: index):
  %na = arith.xori %a, %true : i1
  %nb = arith.xori %b, %true : i1
  %neither = arith.andi %na, %nb : i1
  %more = arith.cmpi slt, %k, %n : index
  %go = arith.andi %neither, %more : i1
  cf.cond_br %go, ^body, ^end
^body:
  %v = memref.load %x[%k] : memref<?xf32>
  %small = arith.cmpf olt, %v, %least : f32
  %negative = arith.cmpf olt, %v, %nil : f32
  %after = arith.addi %k, %one : index
  cf.br ^test(%small, %negative, %after : i1, i1, index)
^end:
  return %k : index
}

// -----

// A test that writes is not left out.

// CHECK-LABEL: func.func @writes(
// CHECK: arith.xori
// CHECK-NOT: cf.cond_br
// CHECK: memref.store
func.func @writes(%x: memref<?xindex>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %true = arith.constant true
  %false = arith.constant false
  cf.br ^test(%false, %zero : i1, index)
^test(%found: i1, %k: index):
  %going = arith.xori %found, %true : i1
  memref.store %k, %x[%zero] : memref<?xindex>
  cf.cond_br %going, ^body, ^end
^body:
  %next = arith.addi %k, %one : index
  %set = arith.cmpi sge, %next, %n : index
  cf.br ^test(%set, %next : i1, index)
^end:
  return
}

// -----

// A flag that the end of the body always sets ends the loop by itself.

// CHECK-LABEL: func.func @once(
// CHECK-NOT: arith.ori
// CHECK: return
func.func @once(%x: memref<?xf32>, %least: f32) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %true = arith.constant true
  %false = arith.constant false
  cf.br ^test(%false, %false, %zero : i1, i1, index)
^test(%a: i1, %b: i1, %k: index):
  %na = arith.xori %a, %true : i1
  %nb = arith.xori %b, %true : i1
  %neither = arith.andi %na, %nb : i1
  cf.cond_br %neither, ^body, ^end
^body:
  %v = memref.load %x[%k] : memref<?xf32>
  %small = arith.cmpf olt, %v, %least : f32
  %after = arith.addi %k, %one : index
  cf.br ^test(%small, %true, %after : i1, i1, index)
^end:
  return %k : index
}
