# RUN: %python %s hashed | FileCheck %s --check-prefix=PAIRS
# RUN: %python %s added | FileCheck %s --check-prefix=WEAK
# RUN: %python %s turned | FileCheck %s --check-prefix=ANGLES
"""WGSL as every browser takes it: pairs for integers of 64 bits, an exchange that may fail, functions of its own."""

import math
import sys

import pykern as pk


@pk.kernel
def hashed(out, x):
    i = pk.index()
    state = x[i] * 6364136223846793005
    out[i] = state ^ (state >> 33)


@pk.kernel
def added(bins, x):
    i = pk.index()
    pk.atomic_add(bins, i // 8, x[i])


@pk.kernel
def turned(out, x):
    i = pk.index()
    out[i] = math.sin(x[i])


dtype = pk.u64 if sys.argv[1] == "hashed" else pk.f32
spec = pk.spec((64,), dtype)
print(globals()[sys.argv[1]].lower(spec, spec, ndrange=64, target="wgsl").compile().source)

# PAIRS: fn mulhi32(a: u32, b: u32) -> u32 {
# PAIRS: fn mul64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
# PAIRS-NOT: struct Words
# PAIRS: @group(0) @binding(0) var<storage, read_write> out_1: array<vec2<u32>>;
# PAIRS-NEXT: @group(0) @binding(1) var<storage, read> x: array<vec2<u32>>;
# PAIRS: let i = i32(group_id.x) * {{[0-9]+}} + i32(local_id.x);
# PAIRS: let state = mul64(x[i], vec2<u32>(0x4c957f2du, 0x5851f42du));
# PAIRS-NEXT: out_1[i] = state ^ ushr64(state, 33u);

# WEAK: var v: i32 = atomicLoad(&bins[[[AT:.*]]]);
# WEAK-NEXT: loop {
# WEAK-NEXT: var seen: i32 = v;
# WEAK-NEXT: loop {
# WEAK-NEXT: let tried = atomicCompareExchangeWeak(&bins[[[AT]]], v, {{.*}});
# WEAK-NEXT: seen = tried.old_value;
# WEAK-NEXT: if (tried.exchanged || seen != v) { break; }
# WEAK-NEXT: }
# WEAK-NEXT: if (seen == v) { break; }
# WEAK-NEXT: v = seen;

# ANGLES: fn quarter_turn(size: f32) -> vec2<u32> {
# ANGLES: fn sin_f32(x: f32) -> f32 {
# ANGLES: out_1[i] = sin_f32(x[i]);
