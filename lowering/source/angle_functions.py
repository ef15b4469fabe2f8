"""sin, cos and tan in WGSL, to a few units in the last place for every angle, without floats of 64 bits.

An angle is brought to a quarter turn by integers, after Payne and Hanek, "Radian reduction for trigonometric
functions", SIGNUM 1983: of ``x * 2/pi`` only the bits below 4 matter, and the exponent of x tells which bits of 2/pi
make them. The polynomials are those of `pykern.passes.arithmetic.vector_math.trigonometric`. Read next:
`wgsl_functions`.
"""

TEXTS = """\
// An angle that is not negative as a quarter turn around 0: the bits of the float, and how many quarters were taken.
fn quarter_turn(size: f32) -> vec2<u32> {
    let bits = bitcast<u32>(size);
    if (bits < 0x3f490fdbu) {
        return vec2<u32>(bits, 0u);
    }
    if (bits >= 0x7f800000u) {
        return vec2<u32>(bits | 0x7fc00000u, 0u);
    }
    var two_over_pi = array<u32, 9>(
        0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u
    );
    let digits = (bits & 0x7fffffu) | 0x800000u;
    let place = (bits >> 23u) - 120u;
    let k = place >> 5u;
    let by = place & 31u;
    let a = (two_over_pi[k] << by) | ((two_over_pi[k + 1u] >> 1u) >> (31u - by));
    let b = (two_over_pi[k + 1u] << by) | ((two_over_pi[k + 2u] >> 1u) >> (31u - by));
    let c = (two_over_pi[k + 2u] << by) | ((two_over_pi[k + 3u] >> 1u) >> (31u - by));
    let low = digits * b + mulhi32(digits, c);
    let high = digits * a + mulhi32(digits, b) + u32(low < digits * b);
    // Two bits of the quadrant, then the fraction; beyond a half it is taken from the next quadrant.
    let is_beyond = (high >> 29u) & 1u;
    let flipped = 0u - is_beyond;
    let fraction = vec2<u32>((low ^ flipped) << 2u, ((high ^ flipped) << 2u) | ((low ^ flipped) >> 30u));
    let zeros = zeros64(fraction);
    let turned = mulhi32(shl64(fraction, zeros).y, 0xc90fdaa2u);
    let rest = f32_of_u64(vec2<u32>(turned, 0u)) * bitcast<f32>((96u - zeros) << 23u);
    return vec2<u32>(bitcast<u32>(rest) ^ (is_beyond << 31u), ((high >> 30u) + is_beyond) & 3u);
}

fn sine_near_0(r: f32) -> f32 {
    let t = r * r;
    return r + r * t * (-0.166666552f + t * (0.0083321603f - t * 0.000195152825f));
}

fn cosine_near_0(r: f32) -> f32 {
    let t = r * r;
    return (1.0f - 0.5f * t) + t * t * (0.0416666456f + t * (-0.00138873165f + t * 2.44331641e-05f));
}

fn sin_f32(x: f32) -> f32 {
    let sign = bitcast<u32>(x) & 0x80000000u;
    let turned = quarter_turn(abs(x));
    let r = bitcast<f32>(turned.x);
    let value = select(sine_near_0(r), cosine_near_0(r), (turned.y & 1u) == 1u);
    return bitcast<f32>(bitcast<u32>(value) ^ sign ^ ((turned.y & 2u) << 30u));
}

fn cos_f32(x: f32) -> f32 {
    let turned = quarter_turn(abs(x));
    let r = bitcast<f32>(turned.x);
    let value = select(cosine_near_0(r), sine_near_0(r), (turned.y & 1u) == 1u);
    return bitcast<f32>(bitcast<u32>(value) ^ (((turned.y + 1u) & 2u) << 30u));
}

fn tan_f32(x: f32) -> f32 {
    let sign = bitcast<u32>(x) & 0x80000000u;
    let turned = quarter_turn(abs(x));
    let r = bitcast<f32>(turned.x);
    let is_odd = (turned.y & 1u) == 1u;
    let quotient = select(sine_near_0(r), -cosine_near_0(r), is_odd) / select(cosine_near_0(r), sine_near_0(r), is_odd);
    return bitcast<f32>(bitcast<u32>(quotient) ^ sign);
}
"""
