// RUN: %pykern-opt %s --kern-vectorize-streams --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-vectorize-streams=bytes=32 | FileCheck %s --check-prefix=HALF

// Where the three arrays are larger than the cache, whole lines go past it, and the loop itself runs for
// the two ends; else it runs as it was. A row with ends has to be longer.

// CHECK-LABEL: func.func @saxpy
// CHECK-SAME: (%[[Z:[a-z0-9]+]]: memref<?xf32>, %[[A:[a-z0-9]+]]: f32, %[[X:[a-z0-9]+]]: memref<?xf32>, %[[Y:[a-z0-9]+]]: memref<?xf32>, %[[LO:[a-z0-9]+]]: index, %[[HI:[a-z0-9]+]]: index, %[[CACHE:[a-z0-9]+]]: index
// CHECK: %[[LARGE:.*]] = arith.cmpi sge, %{{.*}}, %[[CACHE]]
// CHECK: %[[MIDDLE:.*]] = arith.addi %[[LO]],
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c16
// CHECK: %[[LAST:.*]] = arith.subi %[[HI]], %[[REST]]
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: %[[FEWEST:.*]] = arith.select %[[WHOLE]], %c64, %c256
// CHECK: arith.cmpi uge, %{{.*}}, %[[FEWEST]]
// CHECK: scf.if %[[STREAM:.*]] {
// CHECK: scf.for %[[I:.*]] = %[[MIDDLE]] to %[[LAST]] step %c16
// CHECK-DAG: %[[U:.*]] = vector.load %[[X]][%[[I]]] : memref<?xf32>, vector<16xf32>
// CHECK-DAG: %[[V:.*]] = vector.load %[[Y]][%[[I]]] : memref<?xf32>, vector<16xf32>
// CHECK: %[[P:.*]] = arith.mulf %[[U]], %{{.*}} fastmath<contract> : vector<16xf32>
// CHECK: %[[Q:.*]] = arith.addf %[[P]], %[[V]] : vector<16xf32>
// CHECK: vector.store %[[Q]], %[[Z]][%[[I]]] {alignment = 64 : i64, nontemporal = true}
// CHECK: scf.for %[[PART:.*]] = %c0 to %{{.*}} step %c1
// CHECK: %[[BEGIN:.*]] = arith.select %{{.*}}, %[[LO]], %[[LAST]]
// CHECK: %[[END:.*]] = arith.select %{{.*}}, %[[HI]], %[[MIDDLE]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c1
// CHECK: memref.store
// CHECK: scf.if %[[LARGE]] {
// CHECK-NEXT: llvm.fence seq_cst

// HALF-LABEL: func.func @saxpy
// HALF: vector.store %{{.*}} {alignment = 32 : i64, nontemporal = true} : memref<?xf32>, vector<8xf32>
func.func @saxpy(%z: memref<?xf32>, %a: f32, %x: memref<?xf32>, %y: memref<?xf32>, %lo: index, %hi: index, %cache: index {kern.cache_bytes}) attributes {kern.noalias} {
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %p = arith.mulf %u, %a fastmath<contract> : f32
    %q = arith.addf %p, %v : f32
    memref.store %q, %z[%i] : memref<?xf32>
  }
  return
}

// The second array streams only where it is aligned as the first one is. Indices as data are a vector too.

// CHECK-LABEL: func.func @two_streams
// CHECK: arith.remui
// CHECK: scf.if
// CHECK: %[[ALIKE:.*]] = arith.cmpi eq
// CHECK-NEXT: scf.if %[[ALIKE]]
// CHECK: vector.step : vector<16xindex>
// CHECK: vector.store %{{.*}}, %arg0[%{{.*}}] {alignment = 64 : i64, nontemporal = true}
// CHECK: vector.store %{{.*}}, %arg1[%{{.*}}] {alignment = 64 : i64, nontemporal = true}
// CHECK: } else {
// CHECK: vector.store %{{.*}}, %arg0[%{{.*}}] {alignment = 64 : i64, nontemporal = true}
// CHECK: vector.store %{{.*}}, %arg1[%{{.*}}] : memref<?x?xi32>
func.func @two_streams(%a: memref<?x?xf32>, %b: memref<?x?xi32>, %n: index, %m: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %k = arith.index_cast %j : index to i32
      %f = arith.sitofp %k : i32 to f32
      memref.store %f, %a[%i, %j] : memref<?x?xf32>
      memref.store %k, %b[%i, %j] : memref<?x?xi32>
    }
  }
  return
}

// Without the promise that arrays do not overlap, and for arrays that are read too, nothing changes.

// CHECK-LABEL: func.func @may_overlap
// CHECK-NOT: vector
// CHECK-LABEL: func.func @update
// CHECK-NOT: vector
func.func @may_overlap(%z: memref<?xf32>, %x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    memref.store %u, %z[%i] : memref<?xf32>
  }
  return
}

func.func @update(%z: memref<?xf32>, %n: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %z[%i] : memref<?xf32>
    %v = arith.addf %u, %u : f32
    memref.store %v, %z[%i] : memref<?xf32>
  }
  return
}

// A loop over rows takes all its arrays through the cache: they count together. Scratch is read as any array.

// CHECK-LABEL: func.func @rows
// CHECK: scf.for
// CHECK: vector.load %{{.*}} : memref<1000xf32>, vector<16xf32>
// CHECK: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true} : memref<6000x1000xf32>
func.func @rows(%z: memref<6000x1000xf32>, %x: memref<6000x1000xf32>) attributes {kern.noalias, kern.rows} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 6000 : index
  %m = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  %scratch = memref.alloca() : memref<1000xf32>
  scf.for %i = %c0 to %n step %c1 {
    %sum = scf.for %j = %c0 to %m step %c1 iter_args(%s = %zero) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<6000x1000xf32>
      memref.store %u, %scratch[%j] : memref<1000xf32>
      %t = arith.addf %s, %u : f32
      scf.yield %t : f32
    }
    scf.for %j = %c0 to %m step %c1 {
      %u = memref.load %scratch[%j] : memref<1000xf32>
      %v = arith.divf %u, %sum : f32
      memref.store %v, %z[%i, %j] : memref<6000x1000xf32>
    }
  }
  return
}

// Where a vector takes long to compute its loads are fetched ahead; so are those of an array that is read in several
// rows, and those alone.

// CHECK-LABEL: func.func @exponential
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c16
// CHECK: %[[AHEAD:.*]] = arith.addi %[[I]], %c2048
// CHECK-NEXT: memref.prefetch %arg1[%[[AHEAD]]], read, locality<2>, data
// CHECK: math.exp %{{.*}} : vector<16xf32>
func.func @exponential(%z: memref<?xf32>, %x: memref<?xf32>, %n: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %p = math.exp %u : f32
    memref.store %p, %z[%i] : memref<?xf32>
  }
  return
}

// CHECK-LABEL: func.func @stencil_rows
// CHECK: scf.for %{{.*}} step %c16
// CHECK-COUNT-2: memref.prefetch %arg1
// CHECK-NOT: memref.prefetch %arg2
// CHECK: vector.store
func.func @stencil_rows(%z: memref<?x?xf32>, %x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index, %m: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.addi %i, %c1 : index
    scf.for %j = %c0 to %m step %c1 {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %v = memref.load %x[%k, %j] : memref<?x?xf32>
      %w = memref.load %y[%i, %j] : memref<?x?xf32>
      %p = arith.addf %u, %v : f32
      %q = arith.addf %p, %w : f32
      memref.store %q, %z[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// Whole arrays in one loop: what is only seen as one dimension is streamed as well. With arrays that the cache holds it
// is not.

// CHECK-LABEL: func.func @flat
// CHECK: vector.store %{{.*}} {alignment = 64 : i64, nontemporal = true} : memref<16777216xf32>
// CHECK-LABEL: func.func @flat_and_small
// CHECK-NOT: vector.store
// CHECK: return
func.func @flat(%z: memref<4096x4096xf32>, %x: memref<4096x4096xf32>, %lo: index, %hi: index) attributes {kern.noalias} {
  %c1 = arith.constant 1 : index
  %u = memref.collapse_shape %x [[0, 1]] : memref<4096x4096xf32> into memref<16777216xf32>
  %v = memref.collapse_shape %z [[0, 1]] : memref<4096x4096xf32> into memref<16777216xf32>
  scf.for %i = %lo to %hi step %c1 {
    %a = memref.load %u[%i] : memref<16777216xf32>
    %b = arith.addf %a, %a : f32
    memref.store %b, %v[%i] : memref<16777216xf32>
  }
  return
}

func.func @flat_and_small(%z: memref<256x256xf32>, %x: memref<256x256xf32>, %lo: index, %hi: index) attributes {kern.noalias} {
  %c1 = arith.constant 1 : index
  %u = memref.collapse_shape %x [[0, 1]] : memref<256x256xf32> into memref<65536xf32>
  %v = memref.collapse_shape %z [[0, 1]] : memref<256x256xf32> into memref<65536xf32>
  scf.for %i = %lo to %hi step %c1 {
    %a = memref.load %u[%i] : memref<65536xf32>
    %b = arith.addf %a, %a : f32
    memref.store %b, %v[%i] : memref<65536xf32>
  }
  return
}
