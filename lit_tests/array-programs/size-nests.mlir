// RUN: %pykern-opt %s --kern-size-nests | FileCheck %s

// What runs 64 times as often beside a nest makes it small; alone in its block, or of unknown length, it stays.

// CHECK-LABEL: func.func @program
func.func @program(%x: memref<64x64xf32>, %n: index) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  func.call @alone(%x, %c0, %c1) : (memref<64x64xf32>, index, index) -> ()
  scf.for %t = %c0 to %c64 step %c1 {
    func.call @row(%x, %c0, %c1) : (memref<64x64xf32>, index, index) -> ()
    func.call @unknown(%x, %c0, %n) : (memref<64x64xf32>, index, index) -> ()
    func.call @all.team(%x, %c0, %c64) : (memref<64x64xf32>, index, index) -> ()
  }
  return
}

// CHECK: func.func private @alone{{.*}} passthrough = ["noinline"]}
func.func private @alone(%x: memref<64x64xf32>, %lo: index, %hi: index) attributes {kern.nest, passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  scf.for %j = %c0 to %c32 step %c1 {
    memref.store %one, %x[%c0, %j] : memref<64x64xf32>
  }
  return
}

// CHECK: func.func private @row{{.*}} passthrough = ["noinline", "minsize", "optsize"]}
func.func private @row(%x: memref<64x64xf32>, %lo: index, %hi: index) attributes {kern.nest, passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  %end = arith.minsi %hi, %c32 : index
  scf.for %j = %lo to %end step %c1 {
    memref.store %one, %x[%c0, %j] : memref<64x64xf32>
  }
  return
}

// CHECK: func.func private @unknown{{.*}} passthrough = ["noinline"]}
func.func private @unknown(%x: memref<64x64xf32>, %lo: index, %hi: index) attributes {kern.nest, passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %j = %lo to %hi step %c1 {
    memref.store %one, %x[%c0, %j] : memref<64x64xf32>
  }
  return
}

// CHECK: func.func private @all({{.*}} passthrough = ["noinline"]}
func.func private @all(%x: memref<64x64xf32>, %lo: index, %hi: index) attributes {kern.nest, passthrough = ["noinline"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      memref.store %one, %x[%i, %j] : memref<64x64xf32>
    }
  }
  return
}

func.func private @all.team(memref<64x64xf32>, index, index)
