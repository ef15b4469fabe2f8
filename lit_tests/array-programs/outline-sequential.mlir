// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-outline-sequential)" | FileCheck %s

// A loop over single elements is one kernel of one work-item; what it adds up is read where it is needed.
// CHECK-LABEL: func.func @program.scan(
// CHECK: %[[SUM:.*]] = memref.alloc() : memref<f32>
// CHECK: "kern.launch"() ({
// CHECK-NEXT: func.call @scan_loop0(
// CHECK: ndrange = array<i64: 1>, workgroup = array<i64: 1>
// CHECK: %[[READ:.*]] = memref.load %[[SUM]][]
// CHECK: memref.store %[[READ]]
// CHECK-NOT: scf.for
func.func @program.scan(%x: memref<40xf32>, %n: index, %total: memref<f32>) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
    %cell = memref.subview %x[%i] [1] [1] : memref<40xf32> to memref<f32, strided<[], offset: ?>>
    %copied = memref.alloc() : memref<f32>
    memref.copy %cell, %copied : memref<f32, strided<[], offset: ?>> to memref<f32>
    %value = memref.load %copied[] : memref<f32>
    %next = arith.addf %held, %value : f32
    memref.store %next, %x[%i] : memref<40xf32>
    scf.yield %next : f32
  }
  memref.store %sum, %total[] : memref<f32>
  return
}

// A loop over whole arrays stays the host's.
// CHECK-LABEL: func.func @program.steps(
func.func @program.steps(%x: memref<40xf32>, %n: index) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  // CHECK: linalg.generic
  scf.for %i = %c0 to %n step %c1 {
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<40xf32>) {
    ^bb0(%out: f32):
      %twice = arith.addf %out, %out : f32
      linalg.yield %twice : f32
    }
  }
  return
}

// The kernel begins its loop at its number, which is 0.
// CHECK: func.func private @scan_loop0(
// CHECK-SAME: kern.kernel
// CHECK: %[[ZERO:.*]] = "kern.global_id"
// CHECK: scf.for %{{.*}} = %[[ZERO]] to
// CHECK-NOT: memref.subview
// CHECK: memref.store

// -----

// Values added up at computed places: a work-item a value.
// CHECK-LABEL: func.func @program.scatter(
// CHECK-NOT: scf.for
// CHECK: func.call @scatter_loop0(
// CHECK: ndrange = array<i64: 1000>
func.func @program.scatter(%x: memref<40xf32>, %places: memref<1000xindex>, %values: memref<1000xf32>)
    attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000 : index
  scf.for %i = %c0 to %n step %c1 {
    %place = memref.load %places[%i] : memref<1000xindex>
    %held = memref.load %x[%place] : memref<40xf32>
    %value = memref.load %values[%i] : memref<1000xf32>
    %sum = arith.addf %held, %value : f32
    memref.store %sum, %x[%place] : memref<40xf32>
  }
  return
}
// CHECK: func.func private @scatter_loop0(
// CHECK: "kern.atomic_rmw"(%{{.*}}, %{{.*}}, %{{.*}}) {kind = "add"}
// CHECK-NOT: memref.store
