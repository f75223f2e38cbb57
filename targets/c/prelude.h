#if defined(__has_include)
#if !__has_include(<math.h>)
#define NNC_NO_C_LIBRARY
#endif
#endif
#if defined(NNC_NO_C_LIBRARY)
/* A compiler alone: functions come from its own library. */
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define isnormal(x) __builtin_isnormal(x)
#define NNC_NAMED_(name) float name##f(float); double name(double);
#define NNC_NAMED(a, b, c, d, e) \
    NNC_NAMED_(a) NNC_NAMED_(b) NNC_NAMED_(c) NNC_NAMED_(d) NNC_NAMED_(e)
NNC_NAMED(fabs, ceil, floor, trunc, round) NNC_NAMED(sqrt, sqrt, exp, exp2, expm1)
NNC_NAMED(log, log2, log10, log1p, sin) NNC_NAMED(cos, tan, asin, acos, atan)
NNC_NAMED(sinh, cosh, tanh, asinh, acosh) NNC_NAMED(atanh, erf, erfc, cbrt, cbrt)
float fmaf(float, float, float); double fma(double, double, double);
float powf(float, float); double pow(double, double);
float fmodf(float, float); double fmod(double, double);
float atan2f(float, float); double atan2(double, double);
#define copysignf(x, y) __builtin_copysignf(x, y)
#define copysign(x, y) __builtin_copysign(x, y)
__attribute__((unused)) static inline float rintf(float x) {
    const float whole = fabsf(x) + 8388608.0f - 8388608.0f;
    return fabsf(x) < 8388608.0f ? copysignf(whole, x) : x;
}
__attribute__((unused)) static inline double rint(double x) {
    const double whole = fabs(x) + 4503599627370496.0 - 4503599627370496.0;
    return fabs(x) < 4503599627370496.0 ? copysign(whole, x) : x;
}
#else
#include <math.h>
#include <string.h>
#endif

/* What C says otherwise on each compiler. */
#if defined(__GNUC__) || defined(__clang__)
#define NNC_INLINE static inline __attribute__((always_inline, unused))
#define NNC_KERNEL __attribute__((noinline))
#define NNC_ALIGNED __attribute__((aligned(64)))
#define NNC_PREFETCH(address, write, level) __builtin_prefetch(address, write, level)
#define NNC_HERE(index) __asm__ volatile("" : "+r"(index))
#else
#define NNC_INLINE static inline
#define NNC_KERNEL
#define NNC_ALIGNED
#define NNC_PREFETCH(address, write, level) ((void)0)
#define NNC_HERE(index) ((void)0)
#endif
#if defined(__has_builtin)
#define NNC_HAS(builtin) __has_builtin(builtin)
#else
#define NNC_HAS(builtin) 0
#endif
#if defined(__cplusplus)
#define restrict __restrict
#endif
#ifndef true
#define true 1
#define false 0
#endif
#define NNC_MAX_PIECES 64

/* The bits of floats. */
NNC_INLINE uint32_t u32_of_f32(float x) { uint32_t y; memcpy(&y, &x, 4); return y; }
NNC_INLINE float f32_of_u32(uint32_t x) { float y; memcpy(&y, &x, 4); return y; }
NNC_INLINE uint64_t u64_of_f64(double x) { uint64_t y; memcpy(&y, &x, 8); return y; }
NNC_INLINE double f64_of_u64(uint64_t x) { double y; memcpy(&y, &x, 8); return y; }

/* Floats: the first operand's sign, NaN and zeros as LLVM has them. */
#define NNC_FLOAT(w, T, U, f) \
    NNC_INLINE T maxnum_##w(T a, T b) { return b != b ? a : a != a ? b : a > b ? a : b; } \
    NNC_INLINE T minnum_##w(T a, T b) { return b != b ? a : a != a ? b : a < b ? a : b; } \
    NNC_INLINE T maximum_##w(T a, T b) { \
        if (a != a || b != b || a == b) return a == 0 ? a + b : a != a ? a : b; \
        return a > b ? a : b; \
    } \
    NNC_INLINE T minimum_##w(T a, T b) { \
        if (a != a || b != b || a == b) return a == 0 ? -(-a - b) : a != a ? a : b; \
        return a < b ? a : b; \
    } \
    NNC_INLINE int isnormal_##w(T a) { return isnormal(a); } \
    NNC_INLINE int isfinite_##w(T a) { return a - a == 0; } \
    NNC_INLINE int isinf_##w(T a) { return a == (T)INFINITY || a == -(T)INFINITY; }
NNC_FLOAT(32, float, uint32_t, f)
NNC_FLOAT(64, double, uint64_t, )

/* A float rounded toward zero; the least number where there is none, as many processors have it. */
#define NNC_WHOLE(w, F, b, S, least, most) \
    NNC_INLINE uint##b##_t s##b##_of_f##w(F x) { \
        return x >= least && x < most ? (uint##b##_t)(S)x : (uint##b##_t)1 << (b - 1); \
    } \
    NNC_INLINE uint##b##_t uns##b##_of_f##w(F x) { \
        return x > -1 && x < 2 * most ? (uint##b##_t)x : (uint##b##_t)s64_of_f##w##_(x); \
    }
NNC_INLINE uint64_t s64_of_f32_(float x) { return x >= -9223372036854775808.0f && x < 9223372036854775808.0f ? (uint64_t)(int64_t)x : (uint64_t)1 << 63; }
NNC_INLINE uint64_t s64_of_f64_(double x) { return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (uint64_t)(int64_t)x : (uint64_t)1 << 63; }
NNC_WHOLE(32, float, 8, int8_t, -128.0f, 128.0f)
NNC_WHOLE(32, float, 16, int16_t, -32768.0f, 32768.0f)
NNC_WHOLE(32, float, 32, int32_t, -2147483648.0f, 2147483648.0f)
NNC_WHOLE(32, float, 64, int64_t, -9223372036854775808.0f, 9223372036854775808.0f)
NNC_WHOLE(64, double, 8, int8_t, -128.0, 128.0)
NNC_WHOLE(64, double, 16, int16_t, -32768.0, 32768.0)
NNC_WHOLE(64, double, 32, int32_t, -2147483648.0, 2147483648.0)
NNC_WHOLE(64, double, 64, int64_t, -9223372036854775808.0, 9223372036854775808.0)

/* Integers: sums wrap; x / 0 is x, the least number by -1 is itself, shifts too far give 0. */
#define NNC_INTEGER(w, U, S) \
    NNC_INLINE U safe_##w(U a, U b) { \
        const U top = (U)((U)1 << (8 * sizeof(U) - 1)); \
        return b == 0 || (a == top && b == (U)-1) ? (U)1 : b; \
    } \
    NNC_INLINE U divui_##w(U a, U b) { return (U)(a / (b == 0 ? (U)1 : b)); } \
    NNC_INLINE U remui_##w(U a, U b) { return (U)(a % (b == 0 ? (U)1 : b)); } \
    NNC_INLINE U ceildivui_##w(U a, U b) { \
        const U d = b == 0 ? (U)1 : b; \
        return (U)(a / d + (a % d != 0)); \
    } \
    NNC_INLINE U divsi_##w(U a, U b) { return (U)((S)a / (S)safe_##w(a, b)); } \
    NNC_INLINE U remsi_##w(U a, U b) { return (U)((S)a % (S)safe_##w(a, b)); } \
    NNC_INLINE U floordivsi_##w(U a, U b) { \
        const S d = (S)safe_##w(a, b), q = (S)((S)a / d), r = (S)((S)a % d); \
        return (U)((U)q - (U)(r != 0 && (r < 0) != (d < 0))); \
    } \
    NNC_INLINE U ceildivsi_##w(U a, U b) { \
        const S d = (S)safe_##w(a, b), q = (S)((S)a / d), r = (S)((S)a % d); \
        return (U)((U)q + (U)(r != 0 && (r < 0) == (d < 0))); \
    } \
    NNC_INLINE U minsi_##w(U a, U b) { return (S)a < (S)b ? a : b; } \
    NNC_INLINE U maxsi_##w(U a, U b) { return (S)a > (S)b ? a : b; } \
    NNC_INLINE U minui_##w(U a, U b) { return a < b ? a : b; } \
    NNC_INLINE U maxui_##w(U a, U b) { return a > b ? a : b; } \
    NNC_INLINE U shli_##w(U a, U b) { return b < 8 * sizeof(U) ? (U)(a << b) : (U)0; } \
    NNC_INLINE U shrui_##w(U a, U b) { return b < 8 * sizeof(U) ? (U)(a >> b) : (U)0; } \
    NNC_INLINE U shrsi_##w(U a, U b) { \
        const U far = (U)(b < 8 * sizeof(U) ? b : 8 * sizeof(U) - 1); \
        return (U)((S)a >> far); \
    } \
    NNC_INLINE U absi_##w(U a) { return (S)a < 0 ? (U)((U)0 - a) : a; } \
    NNC_INLINE U ctpop_##w(U a) { \
        U n = 0; \
        for (; a; a = (U)(a & (U)(a - 1))) n++; \
        return n; \
    } \
    NNC_INLINE U cttz_##w(U a) { return a ? ctpop_##w((U)((a & (U)((U)0 - a)) - 1)) : (U)(8 * sizeof(U)); } \
    NNC_INLINE U ctlz_##w(U a) { \
        U n = (U)(8 * sizeof(U)); \
        for (; a; a = (U)(a >> 1)) n--; \
        return n; \
    } \
    NNC_INLINE U ipowi_##w(U base, U exponent) { \
        U power = 1, factor = base, left = exponent; \
        for (; left; left = (U)(left >> 1)) { \
            if (left & 1) power = (U)((uint64_t)power * factor); \
            factor = (U)((uint64_t)factor * factor); \
        } \
        return (S)exponent < 0 && base != 1 && base != (U)-1 ? (U)0 : power; \
    }
NNC_INTEGER(8, uint8_t, int8_t)
NNC_INTEGER(16, uint16_t, int16_t)
NNC_INTEGER(32, uint32_t, int32_t)
NNC_INTEGER(64, uint64_t, int64_t)
NNC_INTEGER(z, size_t, ptrdiff_t)
NNC_INLINE uint32_t mulhui_32(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
NNC_INLINE uint32_t mulhsi_32(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
}
NNC_INLINE uint64_t mulhui_64(uint64_t a, uint64_t b) {
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t mid = ah * bl + (al * bl >> 32), low = al * bh + (uint32_t)mid;
    return ah * bh + (mid >> 32) + (low >> 32);
}
NNC_INLINE uint64_t mulhsi_64(uint64_t a, uint64_t b) {
    return mulhui_64(a, b) - ((int64_t)a < 0 ? b : 0) - ((int64_t)b < 0 ? a : 0);
}

/* Products of small integers that lie side by side in words. */
NNC_INLINE uint32_t dot_u8s8(uint32_t a, uint32_t b) {
    int32_t sum = 0;
    int i;
    for (i = 0; i < 32; i += 8) sum += (int32_t)(uint8_t)(a >> i) * (int8_t)(b >> i);
    return (uint32_t)sum;
}
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FEATURE_SIMD32)
#include <arm_acle.h>
NNC_INLINE uint32_t dot_s8_add(uint32_t a, uint32_t b, uint32_t c) {
    const int32_t odd = __smlad(
        __sxtb16((int8x4_t)(a >> 8 | a << 24)), __sxtb16((int8x4_t)(b >> 8 | b << 24)), (int32_t)c);
    return (uint32_t)__smlad(__sxtb16((int8x4_t)a), __sxtb16((int8x4_t)b), odd);
}
NNC_INLINE uint32_t dot_s16_add(uint32_t a, uint32_t b, uint32_t c) {
    return (uint32_t)__smlad((int16x2_t)a, (int16x2_t)b, (int32_t)c);
}
NNC_INLINE uint32_t dot_s8(uint32_t a, uint32_t b) { return dot_s8_add(a, b, 0); }
NNC_INLINE uint32_t dot_s16(uint32_t a, uint32_t b) { return dot_s16_add(a, b, 0); }
#else
NNC_INLINE uint32_t dot_s8(uint32_t a, uint32_t b) {
    int32_t sum = 0;
    int i;
    for (i = 0; i < 32; i += 8) sum += (int32_t)(int8_t)(a >> i) * (int8_t)(b >> i);
    return (uint32_t)sum;
}
NNC_INLINE uint32_t dot_s16(uint32_t a, uint32_t b) {
    return (uint32_t)((int16_t)a * (int16_t)b) + (uint32_t)((int16_t)(a >> 16) * (int16_t)(b >> 16));
}
NNC_INLINE uint32_t dot_s8_add(uint32_t a, uint32_t b, uint32_t c) { return dot_s8(a, b) + c; }
NNC_INLINE uint32_t dot_s16_add(uint32_t a, uint32_t b, uint32_t c) { return dot_s16(a, b) + c; }
#endif
NNC_INLINE uint32_t dot_u8s8_add(uint32_t a, uint32_t b, uint32_t c) { return dot_u8s8(a, b) + c; }

/* Floats of 16 bits are kept as their bits and computed in 32. */
NNC_INLINE float f32_of_bf16(uint16_t x) { return f32_of_u32((uint32_t)x << 16); }
NNC_INLINE uint16_t bf16_of_f32(float x) {
    const uint32_t bits = u32_of_f32(x), upper = bits >> 16;
    return (uint16_t)(x != x ? upper | 0x40 : (bits + 0x7FFF + (upper & 1)) >> 16);
}
#if defined(__F16C__)
#include <immintrin.h>
NNC_INLINE float f32_of_f16(uint16_t x) { return _cvtsh_ss(x); }
NNC_INLINE uint16_t f16_of_f32(float x) { return (uint16_t)_cvtss_sh(x, 0); }
#else
NNC_INLINE float f32_of_f16(uint16_t x) {
    const uint32_t size = x & 0x7FFFu, sign = (uint32_t)(x & 0x8000u) << 16;
    const uint32_t normal = (size << 13) + (112u << 23);
    const uint32_t large = size > 0x7BFF ? normal + (112u << 23) : normal;
    return f32_of_u32((size < 0x400 ? u32_of_f32((float)size * 5.9604644775390625e-08f) : large) | sign);
}
NNC_INLINE uint16_t f16_of_f32(float x) {
    const uint32_t bits = u32_of_f32(x), sign = bits >> 16 & 0x8000, size = bits & 0x7FFFFFFF;
    const uint32_t finite = size < 143u << 23 ? size : 143u << 23;
    const uint32_t normal = (finite + (finite >> 13 & 1) + 0xFFF - (112u << 23)) >> 13;
    const uint32_t small = u32_of_f32(f32_of_u32(size) + 0.5f) - (126u << 23);
    return (uint16_t)((x != x ? 0x7E00 : size < 113u << 23 ? small : normal) | sign);
}
#endif
/* An f64 as an f32 rounded to odd, which rounds once more to 16 bits as if once. */
NNC_INLINE float odd_of_f64(double x) {
    const float near = (float)x;
    const uint32_t bits = u32_of_f32(near);
    if ((double)near == x || x != x) return near;
    return f32_of_u32((bits - (fabs((double)near) > fabs(x))) | 1);
}

/* Threads: ranges are cut into pieces that the caller's function runs, in any order. */
NNC_INLINE ptrdiff_t nnc_pieces(const nnc_pool *pool, ptrdiff_t range, ptrdiff_t grain) {
    ptrdiff_t most = pool == NULL ? 1 : 16 * pool->threads;
    most = most > NNC_MAX_PIECES ? NNC_MAX_PIECES : most;
    range /= grain;
    return range < most ? range : most;
}
NNC_INLINE int32_t nnc_worst(const int32_t *status, ptrdiff_t pieces) {
    int32_t worst = 0;
    for (; pieces > 0; pieces--, status++) worst = *status > worst ? *status : worst;
    return worst;
}
