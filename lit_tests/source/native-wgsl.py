# RUN: %python %s | FileCheck %s
"""WGSL for wgpu's native devices: words of 64 bits, read once, floats of 64, indices in 32 where these hold them."""

import pykern as pk


@pk.kernel
def cleaned(out, x, codes):
    i = pk.index()
    value = x[i]
    if value != value or value - value != 0:
        value = 0.5
    out[i] = value + codes[i]


spec = pk.spec((64,), pk.f64)
print(
    cleaned.lower(spec, spec, pk.spec((64,), pk.u32), ndrange=64, target="source:wgsl+words+i64+f64")
    .compile()
    .source
)

# CHECK: fn is_nan_f64(x: f64) -> bool
# CHECK: fn exact_f64(x: f64) -> f64 { return bitcast<f64>(bitcast<u64>(x) ^ u64(words.zero)); }
# CHECK: struct Words {
# CHECK: count0: i64,
# CHECK-NEXT: first_x: i64,
# CHECK-NEXT: zero: u32,
# CHECK: @group(0) @binding(0) var<storage, read_write> out_1: array<f64>;
# CHECK-NEXT: @group(0) @binding(1) var<storage, read_write> x: array<f64>;
# CHECK-NEXT: @group(0) @binding(2) var<storage, read_write> codes: array<i32>;
# CHECK-NEXT: @group(0) @binding(3) var<uniform> words: Words;
# CHECK: let x_at = words.x_at;
# CHECK: let i = i32(group_id.x) * 256 + i32(local_id.x);
# CHECK-NEXT: if (i < 64) {
# CHECK-NEXT: let value = x[u32(i32(x_at) + i)];
# CHECK-NEXT: select(value, 0.5lf, is_nan_f64(value) || !(value - exact_f64(value) == 0.0lf))
# CHECK-SAME: + f64(bitcast<u32>(codes[u32(i32(codes_at) + i)]));
