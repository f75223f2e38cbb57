#pragma OPENCL FP_CONTRACT OFF
#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#else
#define NNC_NO_F64
#endif
typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
#define INT8_MIN CHAR_MIN
#define INT16_MIN SHRT_MIN
#define INT32_MIN INT_MIN
#define INT64_MIN LONG_MIN
#define NNC_INLINE inline __attribute__((always_inline, unused))
/* How a condition is declared in a kernel with barriers: PoCL must not infer one from another. */
#if defined(POCL_DEVICE_ADDRESS_BITS)
#define NNC_KEPT const volatile
#else
#define NNC_KEPT const
#endif

/* The bits of floats. */
#define u32_of_f32(x) as_uint(x)
#define f32_of_u32(x) as_float(x)
#define u64_of_f64(x) as_ulong(x)
#define f64_of_u64(x) as_double(x)

