#include <metal_stdlib>
using namespace metal;
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
#endif
#define NNC_NO_F64
#define NNC_INLINE static inline __attribute__((always_inline, unused))

/* Vectors of any number of lanes: Metal has none of more than 4. */
template <typename T, int n> struct nnc_vector {
    typedef T element;
    T lane[n];
};
template <int bytes> struct nnc_signed;
template <> struct nnc_signed<1> { typedef int8_t type; };
template <> struct nnc_signed<2> { typedef int16_t type; };
template <> struct nnc_signed<4> { typedef int32_t type; };
template <> struct nnc_signed<8> { typedef int64_t type; };

template <typename V, typename... A> NNC_INLINE V nnc_lanes(A... each) {
    V made = {{(typename V::element)each...}};
    return made;
}
template <typename T, int n>
NNC_INLINE nnc_vector<T, n> nnc_choose(bool test, nnc_vector<T, n> yes, nnc_vector<T, n> no) {
    return test ? yes : no;
}
template <typename To, typename From, int n>
NNC_INLINE To nnc_convert(nnc_vector<From, n> a) {
    To made;
    for (int i = 0; i < n; i++) made.lane[i] = (typename To::element)a.lane[i];
    return made;
}
/* The same bits. */
template <typename To, typename From> NNC_INLINE To nnc_as(From a) {
    union { From from; To to; } both;
    both.from = a;
    return both.to;
}

#define NNC_INFIX(sign, kind) \
    template <typename T, int n> \
    NNC_INLINE nnc_vector<T, n> operator sign(nnc_vector<T, n> a, nnc_vector<T, n> b) { \
        for (int i = 0; i < n; i++) a.lane[i] = (T)((kind)a.lane[i] sign b.lane[i]); \
        return a; \
    }
NNC_INFIX(+, T)
NNC_INFIX(-, T)
NNC_INFIX(*, decltype(T() + 0u))
NNC_INFIX(/, T)
NNC_INFIX(&, T)
NNC_INFIX(|, T)
NNC_INFIX(^, T)
#define NNC_PREFIX(sign) \
    template <typename T, int n> NNC_INLINE nnc_vector<T, n> operator sign(nnc_vector<T, n> a) { \
        for (int i = 0; i < n; i++) a.lane[i] = (T)(sign a.lane[i]); \
        return a; \
    }
NNC_PREFIX(-)
NNC_PREFIX(~)
/* Lanes of -1 where it is true. */
#define NNC_COMPARE(sign) \
    template <typename T, int n> \
    NNC_INLINE nnc_vector<typename nnc_signed<sizeof(T)>::type, n> operator sign( \
        nnc_vector<T, n> a, nnc_vector<T, n> b) { \
        nnc_vector<typename nnc_signed<sizeof(T)>::type, n> made; \
        for (int i = 0; i < n; i++) made.lane[i] = a.lane[i] sign b.lane[i] ? -1 : 0; \
        return made; \
    }
NNC_COMPARE(<)
NNC_COMPARE(<=)
NNC_COMPARE(>)
NNC_COMPARE(>=)
NNC_COMPARE(==)
NNC_COMPARE(!=)

/* The bits of floats. */
NNC_INLINE uint32_t u32_of_f32(float x) { return as_type<uint>(x); }
NNC_INLINE float f32_of_u32(uint32_t x) { return as_type<float>(x); }

/* An integer as an f32 rounded to odd, which rounds once more to 16 bits as if once. */
NNC_INLINE float odd_of_u64(uint64_t x) {
    int shift = 0;
    while (x >> shift >> 24) shift++;
    const uint64_t kept = x >> shift;
    return (float)(uint32_t)(kept | (uint64_t)(kept << shift != x)) * f32_of_u32((uint32_t)(shift + 127) << 23);
}
NNC_INLINE float odd_of_s64(int64_t x) {
    return x < 0 ? -odd_of_u64((uint64_t)0 - (uint64_t)x) : odd_of_u64((uint64_t)x);
}

/* What threads of a subgroup hand to each other: words of 32 bits at a time. */
#define NNC_SHUFFLE(name) \
    NNC_INLINE uint32_t nnc_##name(uint32_t x, ushort by) { return simd_##name(x, by); } \
    NNC_INLINE int32_t nnc_##name(int32_t x, ushort by) { return simd_##name(x, by); } \
    NNC_INLINE float nnc_##name(float x, ushort by) { return simd_##name(x, by); } \
    NNC_INLINE uint16_t nnc_##name(uint16_t x, ushort by) { return (uint16_t)simd_##name((uint32_t)x, by); } \
    NNC_INLINE uint8_t nnc_##name(uint8_t x, ushort by) { return (uint8_t)simd_##name((uint32_t)x, by); } \
    NNC_INLINE uint64_t nnc_##name(uint64_t x, ushort by) { \
        const uint32_t upper = simd_##name((uint32_t)(x >> 32), by); \
        return (uint64_t)upper << 32 | simd_##name((uint32_t)x, by); \
    } \
    template <typename T, int n> \
    NNC_INLINE nnc_vector<T, n> nnc_##name(nnc_vector<T, n> a, ushort by) { \
        for (int i = 0; i < n; i++) a.lane[i] = nnc_##name(a.lane[i], by); \
        return a; \
    }
NNC_SHUFFLE(shuffle)
NNC_SHUFFLE(shuffle_xor)
NNC_SHUFFLE(shuffle_up)
NNC_SHUFFLE(shuffle_down)
