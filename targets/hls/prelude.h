#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define NNC_INLINE static inline
#define NNC_HAS(builtin) 0
#define NNC_NO_F64

/* The bits of floats. */
union nnc_word { float f; uint32_t u; };
NNC_INLINE uint32_t u32_of_f32(float x) { union nnc_word w; w.f = x; return w.u; }
NNC_INLINE float f32_of_u32(uint32_t x) { union nnc_word w; w.u = x; return w.f; }

