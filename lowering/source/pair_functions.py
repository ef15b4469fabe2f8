"""Functions of WGSL on pairs: integers of 64 bits as their low 32 bits and their high ones.

Comes in: the name of a function. Goes out: its text and the functions that it calls. What is rounded is rounded to
nearest, ties to even, by integers: WGSL leaves the direction to its compilers. Read next: `pairs`.
"""

from __future__ import annotations

import re

_PAIR = "vec2<u32>"
_TEXTS = """\
fn i64_of_i32(x: i32) -> PAIR {
    return PAIR(bitcast<u32>(x), bitcast<u32>(x >> 31u));
}

fn add64(a: PAIR, b: PAIR) -> PAIR {
    let low = a.x + b.x;
    return PAIR(low, a.y + b.y + u32(low < a.x));
}

fn sub64(a: PAIR, b: PAIR) -> PAIR {
    return PAIR(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

fn neg64(a: PAIR) -> PAIR {
    return sub64(PAIR(0u, 0u), a);
}

fn abs64(a: PAIR) -> PAIR {
    return select(a, neg64(a), a.y >= 0x80000000u);
}

fn mulhi32(a: u32, b: u32) -> u32 {
    let first = (a >> 16u) * (b & 0xffffu) + (((a & 0xffffu) * (b & 0xffffu)) >> 16u);
    let second = (a & 0xffffu) * (b >> 16u) + (first & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (first >> 16u) + (second >> 16u);
}

fn mul64(a: PAIR, b: PAIR) -> PAIR {
    return PAIR(a.x * b.x, mulhi32(a.x, b.x) + a.x * b.y + a.y * b.x);
}

fn less64(a: PAIR, b: PAIR) -> bool {
    return select(bitcast<i32>(a.y) < bitcast<i32>(b.y), a.x < b.x, a.y == b.y);
}

fn uless64(a: PAIR, b: PAIR) -> bool {
    return select(a.y < b.y, a.x < b.x, a.y == b.y);
}

fn shl64(a: PAIR, count: u32) -> PAIR {
    let by = count & 31u;
    let high = select((a.y << by) | ((a.x >> 1u) >> (31u - by)), a.x << by, count >= 32u);
    return PAIR(select(a.x << by, 0u, count >= 32u), high);
}

fn ushr64(a: PAIR, count: u32) -> PAIR {
    let by = count & 31u;
    let low = select((a.x >> by) | ((a.y << 1u) << (31u - by)), a.y >> by, count >= 32u);
    return PAIR(low, select(a.y >> by, 0u, count >= 32u));
}

fn shr64(a: PAIR, count: u32) -> PAIR {
    let sign = bitcast<u32>(bitcast<i32>(a.y) >> 31u);
    return ushr64(a ^ PAIR(sign, sign), count) ^ PAIR(sign, sign);
}

fn zeros64(a: PAIR) -> u32 {
    return select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
}

// The quotient, and behind it the remainder: one bit after the other.
fn divided64(a: PAIR, b: PAIR) -> vec4<u32> {
    if (a.y == 0u && b.y == 0u) {
        return vec4<u32>(a.x / b.x, 0u, a.x % b.x, 0u);
    }
    var quotient = PAIR(0u, 0u);
    var rest = PAIR(0u, 0u);
    for (var bit = 64u - zeros64(a); bit > 0u; bit--) {
        let is_large = rest.y >= 0x80000000u;
        rest = shl64(rest, 1u) | PAIR(ushr64(a, bit - 1u).x & 1u, 0u);
        quotient = shl64(quotient, 1u);
        if (is_large || !uless64(rest, b)) {
            rest = sub64(rest, b);
            quotient.x |= 1u;
        }
    }
    return vec4<u32>(quotient, rest);
}

fn udiv64(a: PAIR, b: PAIR) -> PAIR {
    return divided64(a, b).xy;
}

fn urem64(a: PAIR, b: PAIR) -> PAIR {
    return divided64(a, b).zw;
}

fn div64(a: PAIR, b: PAIR) -> PAIR {
    let quotient = divided64(abs64(a), abs64(b)).xy;
    return select(quotient, neg64(quotient), (a.y ^ b.y) >= 0x80000000u);
}

fn rem64(a: PAIR, b: PAIR) -> PAIR {
    let rest = divided64(abs64(a), abs64(b)).zw;
    return select(rest, neg64(rest), a.y >= 0x80000000u);
}

fn f32_of_u64(a: PAIR) -> f32 {
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

fn f32_of_i64(a: PAIR) -> f32 {
    return bitcast<f32>(bitcast<u32>(f32_of_u64(abs64(a))) | (a.y & 0x80000000u));
}

// What is too small for f32 is rounded twice: to a bit that stands for all that is lost, then to nearest.
fn f32_of_f64(a: PAIR) -> f32 {
    let sign = a.y & 0x80000000u;
    let exponent = i32((a.y >> 20u) & 0x7ffu) - 896;
    let digits = (a.y << 11u) | (a.x >> 21u) | u32((a.x & 0x1fffffu) != 0u);
    if (exponent == 1151 && ((a.y << 12u) | a.x) != 0u) {
        return bitcast<f32>(sign | 0x7fc00000u);
    }
    if (exponent >= 255) {
        return bitcast<f32>(sign | 0x7f800000u);
    }
    var bits = 0x80000000u | digits;
    var above = 0u;
    if (exponent > 0) {
        above = u32(exponent - 1) << 23u;
    } else if (exponent > -31) {
        let by = u32(1 - exponent);
        bits = (bits >> by) | u32((bits << (32u - by)) != 0u);
    } else {
        return bitcast<f32>(sign);
    }
    let lost = bits & 0xffu;
    let up = u32(lost > 0x80u || (lost == 0x80u && (bits & 0x100u) != 0u));
    return bitcast<f32>(sign | (above + (bits >> 8u) + up));
}

fn u64_of_f32(x: f32) -> PAIR {
    let bits = bitcast<u32>(x);
    let exponent = i32((bits >> 23u) & 0xffu) - 150;
    let digits = PAIR((bits & 0x7fffffu) | 0x800000u, 0u);
    return select(ushr64(digits, min(u32(-exponent), 63u)), shl64(digits, min(u32(exponent), 63u)), exponent >= 0);
}

fn i64_of_f32(x: f32) -> PAIR {
    let size = u64_of_f32(x);
    return select(size, neg64(size), x < 0.0f);
}
"""


def _read() -> dict[str, str]:
    """Each function by its name, with the comment above it."""
    texts = _TEXTS.replace("PAIR", _PAIR).strip().split("\n\n")
    return {_name(text): text for text in texts}


def _name(text: str) -> str:
    found = re.search(r"fn (\w+)\(", text)
    assert found is not None
    return found[1]


PAIR_FUNCTIONS = _read()


def add_function(name: str, texts: dict[str, str]) -> None:
    """Put a function and those that it calls into `texts`."""
    if name in texts:
        return
    for called in re.findall(r"\b(\w+)\(", PAIR_FUNCTIONS[name]):
        if called in PAIR_FUNCTIONS and called != name:
            add_function(called, texts)
    texts[name] = PAIR_FUNCTIONS[name]
