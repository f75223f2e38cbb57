// The bits of floats. Calls are evaluated when a shader runs, so that infinities are no constants.
fn u32_of_f32(x: f32) -> u32 { return bitcast<u32>(x); }
fn f32_of_u32(x: u32) -> f32 { return bitcast<f32>(x); }

// Floats: NaN by its bits, since an implementation may assume that there is none; zeros as LLVM has them.
fn isnan_32(a: f32) -> bool { return (bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u; }
fn isinf_32(a: f32) -> bool { return (bitcast<u32>(a) & 0x7fffffffu) == 0x7f800000u; }
fn isfinite_32(a: f32) -> bool { return (bitcast<u32>(a) & 0x7f800000u) != 0x7f800000u; }
fn isnormal_32(a: f32) -> bool { return isfinite_32(a) && (bitcast<u32>(a) & 0x7f800000u) != 0u; }
fn maxnum_32(a: f32, b: f32) -> f32 { return select(select(select(b, a, a > b), b, isnan_32(a)), a, isnan_32(b)); }
fn minnum_32(a: f32, b: f32) -> f32 { return select(select(select(b, a, a < b), b, isnan_32(a)), a, isnan_32(b)); }
fn maximum_32(a: f32, b: f32) -> f32 {
    let equal = bitcast<f32>(bitcast<u32>(a) & bitcast<u32>(b));
    let more = select(select(b, a, a > b), equal, a == b);
    return select(select(more, b, isnan_32(b)), a, isnan_32(a));
}
fn minimum_32(a: f32, b: f32) -> f32 {
    let equal = bitcast<f32>(bitcast<u32>(a) | bitcast<u32>(b));
    let less = select(select(b, a, a < b), equal, a == b);
    return select(select(less, b, isnan_32(b)), a, isnan_32(a));
}
fn clampf_32(x: f32, a: f32, b: f32) -> f32 { return minimum_32(maximum_32(x, a), b); }
fn copysign_32(a: f32, b: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(a) & 0x7fffffffu) | (bitcast<u32>(b) & 0x80000000u));
}
fn roundaway_32(x: f32) -> f32 {
    let whole = trunc(x);
    return copysign_32(whole + select(0.0f, copysign_32(1.0f, x), abs(x - whole) >= 0.5f), x);
}
// The remainder of magnitudes as integers, a shift at a time: exact, and of the dividend's sign.
fn remf_32(x: f32, y: f32) -> f32 {
    let a = bitcast<u32>(x) & 0x7fffffffu;
    let b = bitcast<u32>(y) & 0x7fffffffu;
    if (a >= 0x7f800000u || b > 0x7f800000u || b == 0u) { return f32_of_u32(0x7fc00000u); }
    if (a < b) { return x; }
    let least = max(b >> 23u, 1u);
    var left = (a & 0x7fffffu) | select(0u, 0x800000u, a >= 0x800000u);
    let by = (b & 0x7fffffu) | select(0u, 0x800000u, b >= 0x800000u);
    var steps = max(a >> 23u, 1u) - least;
    left = left % by;
    while (steps > 0u) {
        let shift = min(steps, 8u);
        left = (left << shift) % by;
        steps -= shift;
    }
    let bits = firstLeadingBit(left);
    let sign = bitcast<u32>(x) & 0x80000000u;
    if (left == 0u) { return bitcast<f32>(sign); }
    let up = min(23u - bits, least - 1u);
    let size = left << up;
    return bitcast<f32>(sign | select(size, (size & 0x7fffffu) | ((least - up) << 23u), size >= 0x800000u));
}
fn fpowi_32(x: f32, n: i32) -> f32 {
    var power = 1.0f;
    var factor = x;
    for (var left = select(u32(n), 0u - u32(n), n < 0); left != 0u; left >>= 1u) {
        if ((left & 1u) != 0u) { power *= factor; }
        factor *= factor;
    }
    return select(power, 1.0f / power, n < 0);
}

// Integers: sums wrap; x / 0 is x, the least number by -1 is itself, shifts too far give 0.
fn sext_8(a: u32) -> u32 { return u32(i32(a << 24u) >> 24u); }
fn sext_16(a: u32) -> u32 { return u32(i32(a << 16u) >> 16u); }
fn low_8(a: u32) -> u32 { return a & 255u; }
fn low_16(a: u32) -> u32 { return a & 65535u; }
fn safe_32(a: u32, b: u32) -> i32 { return select(i32(b), 1, b == 0u || (a == 0x80000000u && b == 0xffffffffu)); }
fn divui_32(a: u32, b: u32) -> u32 { return a / select(b, 1u, b == 0u); }
fn remui_32(a: u32, b: u32) -> u32 { return a % select(b, 1u, b == 0u); }
fn divsi_32(a: u32, b: u32) -> u32 { return u32(i32(a) / safe_32(a, b)); }
fn remsi_32(a: u32, b: u32) -> u32 { return u32(i32(a) % safe_32(a, b)); }
fn ceildivui_32(a: u32, b: u32) -> u32 {
    let d = select(b, 1u, b == 0u);
    return a / d + select(0u, 1u, a % d != 0u);
}
fn floordivsi_32(a: u32, b: u32) -> u32 {
    let d = safe_32(a, b);
    let r = i32(a) % d;
    return u32(i32(a) / d) - select(0u, 1u, r != 0 && (r < 0) != (d < 0));
}
fn ceildivsi_32(a: u32, b: u32) -> u32 {
    let d = safe_32(a, b);
    let r = i32(a) % d;
    return u32(i32(a) / d) + select(0u, 1u, r != 0 && (r < 0) == (d < 0));
}
fn minsi_32(a: u32, b: u32) -> u32 { return select(b, a, i32(a) < i32(b)); }
fn maxsi_32(a: u32, b: u32) -> u32 { return select(b, a, i32(a) > i32(b)); }
fn shli_32(a: u32, b: u32) -> u32 { return select(0u, a << (b & 31u), b < 32u); }
fn shrui_32(a: u32, b: u32) -> u32 { return select(0u, a >> (b & 31u), b < 32u); }
fn shrsi_32(a: u32, b: u32) -> u32 { return u32(i32(a) >> min(b, 31u)); }
fn absi_32(a: u32) -> u32 { return select(a, 0u - a, i32(a) < 0); }
fn ipowi_32(base: u32, exponent: u32) -> u32 {
    var power = 1u;
    var factor = base;
    for (var left = exponent; left != 0u; left >>= 1u) {
        if ((left & 1u) != 0u) { power *= factor; }
        factor *= factor;
    }
    return select(power, 0u, i32(exponent) < 0 && base != 1u && base != 0xffffffffu);
}
fn mulhui_32(a: u32, b: u32) -> u32 { return product_32(a, b).y; }
fn mulhsi_32(a: u32, b: u32) -> u32 {
    return mulhui_32(a, b) - select(0u, b, i32(a) < 0) - select(0u, a, i32(b) < 0);
}

// Integers of 64 bits: the lower word and the upper one.
fn s64_of_u32(a: u32) -> vec2<u32> { return vec2<u32>(a, u32(i32(a) >> 31u)); }
fn u64_of_u32(a: u32) -> vec2<u32> { return vec2<u32>(a, 0u); }
fn product_32(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 65535u) * (b & 65535u);
    let one = (a >> 16u) * (b & 65535u) + (low >> 16u);
    let other = (a & 65535u) * (b >> 16u) + (one & 65535u);
    return vec2<u32>((other << 16u) | (low & 65535u), (a >> 16u) * (b >> 16u) + (one >> 16u) + (other >> 16u));
}
fn addi_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}
fn subi_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}
fn muli_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return product_32(a.x, b.x) + vec2<u32>(0u, a.x * b.y + a.y * b.x);
}
fn negative_64(a: vec2<u32>) -> bool { return i32(a.y) < 0; }
fn less_u64(a: vec2<u32>, b: vec2<u32>) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }
fn less_s64(a: vec2<u32>, b: vec2<u32>) -> bool {
    return i32(a.y) < i32(b.y) || (a.y == b.y && a.x < b.x);
}
fn minui_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(b, a, less_u64(a, b)); }
fn maxui_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(a, b, less_u64(a, b)); }
fn minsi_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(b, a, less_s64(a, b)); }
fn maxsi_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(a, b, less_s64(a, b)); }
fn absi_64(a: vec2<u32>) -> vec2<u32> { return select(a, subi_64(vec2<u32>(), a), negative_64(a)); }
fn shli_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let by = select(b.x, 64u, b.y != 0u);
    if (by >= 32u) { return vec2<u32>(0u, shli_32(a.x, by - 32u)); }
    return vec2<u32>(a.x << by, (a.y << by) | shrui_32(a.x, 32u - by));
}
fn shrui_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let by = select(b.x, 64u, b.y != 0u);
    if (by >= 32u) { return vec2<u32>(shrui_32(a.y, by - 32u), 0u); }
    return vec2<u32>((a.x >> by) | shli_32(a.y, 32u - by), a.y >> by);
}
fn shrsi_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let by = select(b.x, 64u, b.y != 0u);
    if (by >= 32u) { return vec2<u32>(shrsi_32(a.y, by - 32u), u32(i32(a.y) >> 31u)); }
    return vec2<u32>((a.x >> by) | shli_32(a.y, 32u - by), u32(i32(a.y) >> by));
}
// The quotient and the remainder, a bit at a time.
fn divided_64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
    if ((a.y | b.y) == 0u) { return vec4<u32>(divui_32(a.x, b.x), 0u, remui_32(a.x, b.x), 0u); }
    if (all(b == vec2<u32>())) { return vec4<u32>(a, 0u, 0u); }
    var quotient = a;
    var rest = vec2<u32>();
    for (var i = 0; i < 64; i++) {
        let over = (rest.y >> 31u) != 0u;
        rest = vec2<u32>((rest.x << 1u) | (quotient.y >> 31u), (rest.y << 1u) | (rest.x >> 31u));
        quotient = vec2<u32>(quotient.x << 1u, (quotient.y << 1u) | (quotient.x >> 31u));
        if (over || !less_u64(rest, b)) {
            rest = subi_64(rest, b);
            quotient.x |= 1u;
        }
    }
    return vec4<u32>(quotient, rest);
}
fn signed_64(a: vec2<u32>, negative: bool) -> vec2<u32> { return select(a, subi_64(vec2<u32>(), a), negative); }
fn divui_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return divided_64(a, b).xy; }
fn remui_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return divided_64(a, b).zw; }
fn divsi_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return signed_64(divui_64(absi_64(a), absi_64(b)), negative_64(a) != negative_64(b));
}
fn remsi_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return signed_64(remui_64(absi_64(a), absi_64(b)), negative_64(a));
}
fn ceildivui_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let found = divided_64(a, b);
    return addi_64(found.xy, vec2<u32>(select(0u, 1u, any(found.zw != vec2<u32>())), 0u));
}
fn floordivsi_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let more = any(remsi_64(a, b) != vec2<u32>()) && negative_64(a) != negative_64(b);
    return subi_64(divsi_64(a, b), vec2<u32>(select(0u, 1u, more), 0u));
}
fn ceildivsi_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let more = any(remsi_64(a, b) != vec2<u32>()) && negative_64(a) == negative_64(b);
    return addi_64(divsi_64(a, b), vec2<u32>(select(0u, 1u, more), 0u));
}
fn ctpop_64(a: vec2<u32>) -> vec2<u32> { return vec2<u32>(countOneBits(a.x) + countOneBits(a.y), 0u); }
fn ctlz_64(a: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u), 0u);
}
fn cttz_64(a: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(select(countTrailingZeros(a.x), 32u + countTrailingZeros(a.y), a.x == 0u), 0u);
}
fn ipowi_64(base: vec2<u32>, exponent: vec2<u32>) -> vec2<u32> {
    var power = vec2<u32>(1u, 0u);
    var factor = base;
    for (var left = exponent; any(left != vec2<u32>()); left = shrui_64(left, vec2<u32>(1u, 0u))) {
        if ((left.x & 1u) != 0u) { power = muli_64(power, factor); }
        factor = muli_64(factor, factor);
    }
    let one = all(base == vec2<u32>(1u, 0u)) || all(base == vec2<u32>(0xffffffffu));
    return select(power, vec2<u32>(), negative_64(exponent) && !one);
}

// A float rounded toward zero; the least number where there is none, as many processors have it.
fn s8_of_f32(x: f32) -> u32 { return select(128u, u32(i32(x)) & 255u, x >= -128.0f && x < 128.0f); }
fn s16_of_f32(x: f32) -> u32 { return select(32768u, u32(i32(x)) & 65535u, x >= -32768.0f && x < 32768.0f); }
fn s32_of_f32(x: f32) -> u32 { return select(0x80000000u, u32(i32(x)), x >= -2147483648.0f && x < 2147483648.0f); }
fn s64_of_f32(x: f32) -> vec2<u32> {
    let exponent = (bitcast<u32>(x) >> 23u) & 255u;
    if (exponent >= 190u) { return vec2<u32>(0u, 0x80000000u); }
    let digits = vec2<u32>((bitcast<u32>(x) & 0x7fffffu) | 0x800000u, 0u);
    let up = shli_64(digits, vec2<u32>(select(0u, exponent - 150u, exponent >= 150u), 0u));
    let size = shrui_64(up, vec2<u32>(select(0u, 150u - exponent, exponent < 150u), 0u));
    return signed_64(size, x < 0.0f);
}
fn uns8_of_f32(x: f32) -> u32 { return s64_of_f32(x).x & 255u; }
fn uns16_of_f32(x: f32) -> u32 { return s64_of_f32(x).x & 65535u; }
fn uns32_of_f32(x: f32) -> u32 { return s64_of_f32(x).x; }
fn uns64_of_f32(x: f32) -> vec2<u32> {
    let exponent = (bitcast<u32>(x) >> 23u) & 511u;
    if (exponent != 190u) { return s64_of_f32(x); }
    return vec2<u32>(0u, (bitcast<u32>(x) << 8u) | 0x80000000u);
}

// An integer as an f32: of 64 bits first rounded to odd, which rounds once more as if once.
fn odd_of_u64(a: vec2<u32>) -> f32 {
    let shift = 64u - min(ctlz_64(a).x, 40u) - 24u;
    let by = vec2<u32>(shift, 0u);
    let kept = shrui_64(a, by);
    let rest = any(shli_64(kept, by) != a);
    return f32(kept.x | select(0u, 1u, rest)) * bitcast<f32>((shift + 127u) << 23u);
}
fn odd_of_s64(a: vec2<u32>) -> f32 { return select(1.0f, -1.0f, negative_64(a)) * odd_of_u64(absi_64(a)); }
fn odd_of_u32(a: u32) -> f32 { return odd_of_u64(vec2<u32>(a, 0u)); }
fn odd_of_s32(a: u32) -> f32 { return odd_of_s64(s64_of_u32(a)); }
fn f32_of_u64(a: vec2<u32>) -> f32 {
    let shift = 64u - min(ctlz_64(a).x, 32u) - 32u;
    let by = vec2<u32>(shift, 0u);
    let kept = shrui_64(a, by);
    let rest = any(shli_64(kept, by) != a);
    return f32_nearest(kept.x | select(0u, 1u, rest)) * bitcast<f32>((shift + 127u) << 23u);
}
fn f32_nearest(a: u32) -> f32 {
    if (a < 0x1000000u) { return f32(a); }
    let shift = 8u - countLeadingZeros(a);
    let half = (1u << (shift - 1u)) - 1u;
    let kept = a >> shift;
    let rest = a & ((1u << shift) - 1u);
    let up = select(0u, 1u, rest + (kept & 1u) > half + 1u);
    return f32(kept + up) * bitcast<f32>((shift + 127u) << 23u);
}
fn f32_of_s64(a: vec2<u32>) -> f32 { return select(1.0f, -1.0f, negative_64(a)) * f32_of_u64(absi_64(a)); }

// Floats of 16 bits are kept as their bits and computed in 32.
fn f32_of_bf16(x: u32) -> f32 { return bitcast<f32>(x << 16u); }
fn bf16_of_f32(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let upper = bits >> 16u;
    return select((bits + 0x7fffu + (upper & 1u)) >> 16u, upper | 0x40u, isnan_32(x)) & 65535u;
}
fn f32_of_f16(x: u32) -> f32 {
    let size = x & 0x7fffu;
    let normal = (size << 13u) + (112u << 23u);
    let large = select(normal, normal + (112u << 23u), size > 0x7bffu);
    let small = bitcast<u32>(f32(size) * 5.9604644775390625e-08f);
    return bitcast<f32>(select(large, small, size < 0x400u) | ((x & 0x8000u) << 16u));
}
fn f16_of_f32(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let size = bits & 0x7fffffffu;
    let finite = min(size, 143u << 23u);
    let normal = (finite + ((finite >> 13u) & 1u) + 0xfffu - (112u << 23u)) >> 13u;
    let small = bitcast<u32>(bitcast<f32>(size) + 0.5f) - (126u << 23u);
    let found = select(normal, small, size < (113u << 23u));
    return select(found, 0x7e00u, isnan_32(x)) | ((bits >> 16u) & 0x8000u);
}

// Elements of 8 and 16 bits lie in words. `change` is what a word differs by with another element.
fn element_8(word: u32, at: i32) -> u32 { return (word >> (u32(at & 3) * 8u)) & 255u; }
fn element_16(word: u32, at: i32) -> u32 { return (word >> (u32(at & 1) * 16u)) & 65535u; }
fn change_8(word: u32, at: i32, x: u32) -> u32 { return ((element_8(word, at) ^ x) & 255u) << (u32(at & 3) * 8u); }
fn change_16(word: u32, at: i32, x: u32) -> u32 { return ((element_16(word, at) ^ x) & 65535u) << (u32(at & 1) * 16u); }

// Products of small integers that lie side by side in words.
fn byte_of(a: u32, i: u32) -> i32 { return i32(a << (24u - i)) >> 24u; }
fn dot_s8(a: u32, b: u32) -> u32 {
    var sum = 0;
    for (var i = 0u; i < 32u; i += 8u) { sum += byte_of(a, i) * byte_of(b, i); }
    return u32(sum);
}
fn dot_u8s8(a: u32, b: u32) -> u32 {
    var sum = 0;
    for (var i = 0u; i < 32u; i += 8u) { sum += i32((a >> i) & 255u) * byte_of(b, i); }
    return u32(sum);
}
fn dot_s16(a: u32, b: u32) -> u32 {
    return u32((i32(a << 16u) >> 16u) * (i32(b << 16u) >> 16u)) + u32((i32(a) >> 16u) * (i32(b) >> 16u));
}
fn dot_s8_add(a: u32, b: u32, c: u32) -> u32 { return dot_s8(a, b) + c; }
fn dot_u8s8_add(a: u32, b: u32, c: u32) -> u32 { return dot_u8s8(a, b) + c; }
fn dot_s16_add(a: u32, b: u32, c: u32) -> u32 { return dot_s16(a, b) + c; }
