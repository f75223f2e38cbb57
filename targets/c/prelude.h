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

#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FEATURE_SIMD32)
#define NNC_OWN_DOTS
#include <arm_acle.h>
NNC_INLINE uint32_t dot_s8_add(uint32_t a, uint32_t b, uint32_t c) {
    const int32_t odd = __smlad(
        __sxtb16((int8x4_t)(a >> 8 | a << 24)), __sxtb16((int8x4_t)(b >> 8 | b << 24)), (int32_t)c);
    return (uint32_t)__smlad(__sxtb16((int8x4_t)a), __sxtb16((int8x4_t)b), odd);
}
NNC_INLINE uint32_t dot_s16_add(uint32_t a, uint32_t b, uint32_t c) {
    return (uint32_t)__smlad((int16x2_t)a, (int16x2_t)b, (int32_t)c);
}
#endif
#if defined(__F16C__)
#define NNC_OWN_F16
#include <immintrin.h>
NNC_INLINE float f32_of_f16(uint16_t x) { return _cvtsh_ss(x); }
NNC_INLINE uint16_t f16_of_f32(float x) { return (uint16_t)_cvtss_sh(x, 0); }
#endif

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
