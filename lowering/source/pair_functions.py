"""Functions of WGSL on pairs: integers of 64 bits as their low 32 bits and their high ones.

What is rounded is rounded to nearest, ties to even, by integers: WGSL leaves the direction to its compilers. Read next:
`wgsl_functions`, `pairs`.
"""

TEXTS = """\
fn i64_of_i32(x: i32) -> vec2<u32> {
    return vec2<u32>(bitcast<u32>(x), bitcast<u32>(x >> 31u));
}

fn add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}

fn sub64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

fn neg64(a: vec2<u32>) -> vec2<u32> {
    return sub64(vec2<u32>(0u, 0u), a);
}

fn abs64(a: vec2<u32>) -> vec2<u32> {
    return select(a, neg64(a), a.y >= 0x80000000u);
}

fn mulhi32(a: u32, b: u32) -> u32 {
    let first = (a >> 16u) * (b & 0xffffu) + (((a & 0xffffu) * (b & 0xffffu)) >> 16u);
    let second = (a & 0xffffu) * (b >> 16u) + (first & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (first >> 16u) + (second >> 16u);
}

fn mul64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x * b.x, mulhi32(a.x, b.x) + a.x * b.y + a.y * b.x);
}

fn less64(a: vec2<u32>, b: vec2<u32>) -> bool {
    return select(bitcast<i32>(a.y) < bitcast<i32>(b.y), a.x < b.x, a.y == b.y);
}

fn uless64(a: vec2<u32>, b: vec2<u32>) -> bool {
    return select(a.y < b.y, a.x < b.x, a.y == b.y);
}

fn shl64(a: vec2<u32>, count: u32) -> vec2<u32> {
    let by = count & 31u;
    let high = select((a.y << by) | ((a.x >> 1u) >> (31u - by)), a.x << by, count >= 32u);
    return vec2<u32>(select(a.x << by, 0u, count >= 32u), high);
}

fn ushr64(a: vec2<u32>, count: u32) -> vec2<u32> {
    let by = count & 31u;
    let low = select((a.x >> by) | ((a.y << 1u) << (31u - by)), a.y >> by, count >= 32u);
    return vec2<u32>(low, select(a.y >> by, 0u, count >= 32u));
}

fn shr64(a: vec2<u32>, count: u32) -> vec2<u32> {
    let sign = bitcast<u32>(bitcast<i32>(a.y) >> 31u);
    return ushr64(a ^ vec2<u32>(sign, sign), count) ^ vec2<u32>(sign, sign);
}

fn zeros64(a: vec2<u32>) -> u32 {
    return select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
}

// The quotient, and behind it the remainder: one bit after the other.
fn divided64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
    if (a.y == 0u && b.y == 0u) {
        return vec4<u32>(a.x / b.x, 0u, a.x % b.x, 0u);
    }
    var quotient = vec2<u32>(0u, 0u);
    var rest = vec2<u32>(0u, 0u);
    for (var bit = 64u - zeros64(a); bit > 0u; bit--) {
        let is_large = rest.y >= 0x80000000u;
        rest = shl64(rest, 1u) | vec2<u32>(ushr64(a, bit - 1u).x & 1u, 0u);
        quotient = shl64(quotient, 1u);
        if (is_large || !uless64(rest, b)) {
            rest = sub64(rest, b);
            quotient.x |= 1u;
        }
    }
    return vec4<u32>(quotient, rest);
}

fn udiv64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return divided64(a, b).xy;
}

fn urem64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return divided64(a, b).zw;
}

fn div64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let quotient = divided64(abs64(a), abs64(b)).xy;
    return select(quotient, neg64(quotient), (a.y ^ b.y) >= 0x80000000u);
}

fn rem64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let rest = divided64(abs64(a), abs64(b)).zw;
    return select(rest, neg64(rest), a.y >= 0x80000000u);
}

fn f32_of_u64(a: vec2<u32>) -> f32 {
    let zeros = zeros64(a);
    if (zeros == 64u) {
        return 0.0f;
    }
    let bits = shl64(a, zeros);
    let kept = bits.y >> 8u;
    let lost = ((bits.y & 0xffu) << 1u) | u32(bits.x != 0u);
    let up = u32(lost > 0x100u || (lost == 0x100u && (kept & 1u) == 1u));
    return bitcast<f32>(((189u - zeros) << 23u) + kept + up);
}

fn f32_of_i64(a: vec2<u32>) -> f32 {
    return bitcast<f32>(bitcast<u32>(f32_of_u64(abs64(a))) | (a.y & 0x80000000u));
}

fn u64_of_f32(x: f32) -> vec2<u32> {
    let bits = bitcast<u32>(x);
    let exponent = i32((bits >> 23u) & 0xffu) - 150;
    let digits = vec2<u32>((bits & 0x7fffffu) | 0x800000u, 0u);
    return select(ushr64(digits, min(u32(-exponent), 63u)), shl64(digits, min(u32(exponent), 63u)), exponent >= 0);
}

fn i64_of_f32(x: f32) -> vec2<u32> {
    let size = u64_of_f32(x);
    return select(size, neg64(size), x < 0.0f);
}
"""
