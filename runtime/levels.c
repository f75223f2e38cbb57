/* The code of a library that holds a model several times, for several levels of 64-bit x86: each
   call goes to the best that the processor has, which is looked up once in a process.

   Built with P defined as the prefix of all names, PREPARED_BYTES, HEAP_BYTES and FAILURES as context.c,
   PARALLEL (whether any of the code has a pool), and LEVELS as one ROW(name, text, number, prepared,
   parallel, failures, heap) for each, the lowest first: how its functions are called, its target's
   name, which level it is, and whether it makes weights, has a pool, can fail, and keeps memory. */
#include <cpuid.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(x) JOIN(P, x)
#define OF(name, x) JOIN(JOIN(P, _), JOIN(name, x))
#define PUBLIC __attribute__((visibility("default")))
#define IF_0(x) NULL
#define IF_1(x) x

typedef int32_t run_function(const void *, void *, void *, const void *, void *);
typedef int64_t prepare_function(const void *, void *, void *, void *, int32_t);
typedef void *pool_create_function(int32_t);
typedef void pool_destroy_function(void *);
typedef const char *failure_function(int32_t);
typedef void release_function(void *);
typedef void reuse_function(void *, void *, size_t);

#define ROW(name, text, number, prepared, parallel, failures, heap) \
    extern run_function OF(name, _run); \
    extern prepare_function OF(name, _prepare); \
    extern pool_create_function OF(name, _pool_create); \
    extern pool_destroy_function OF(name, _pool_destroy); \
    extern failure_function OF(name, _failure); \
    extern release_function OF(name, _release); \
    extern reuse_function OF(name, _reuse);
LEVELS
#undef ROW

typedef struct {
    const char *target;
    int number;
    run_function *run;
    prepare_function *prepare;
    pool_create_function *pool_create;
    pool_destroy_function *pool_destroy;
    failure_function *failure;
    release_function *release;
    reuse_function *reuse;
} level;

#define ROW(name, text, number, prepared, parallel, failures, heap) \
    {text, number, OF(name, _run), JOIN(IF_, prepared)(OF(name, _prepare)), \
        JOIN(IF_, parallel)(OF(name, _pool_create)), \
        JOIN(IF_, parallel)(OF(name, _pool_destroy)), \
        JOIN(IF_, failures)(OF(name, _failure)), \
        JOIN(IF_, heap)(OF(name, _release)), \
        JOIN(IF_, heap)(OF(name, _reuse))},
static const level levels[] = {LEVELS};
#undef ROW
enum { COUNT = sizeof levels / sizeof *levels, OTHER_PROCESSOR = 6 /* as context.c has it */ };

static int has(unsigned found, unsigned wanted) { return (found & wanted) == wanted; }

#ifdef __linux__
#include <unistd.h>

/* Whether the system lets this process use the tile registers: ARCH_REQ_XCOMP_PERM of arch_prctl
   (Linux, Documentation/arch/x86/xstate.rst). */
static int may_use_tiles(void) { return syscall(158, 0x1023, 18) == 0; }
#else
static int may_use_tiles(void) { return 0; }
#endif

/* Whether a processor of level 4 has what code for `sapphirerapids` uses: AVX512_VNNI, AVX512_BF16,
   AMX-TILE, AMX-INT8, AMX-BF16, and both parts of the tiles' state, `kept` by the system. */
static int has_tiles(unsigned kept) {
    unsigned a, b, c, d, halves, other[3];
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    if (!__get_cpuid_count(7, 1, &halves, &other[0], &other[1], &other[2])) return 0;
    return has(c, 1u << 11) && has(halves, 1u << 5) && has(d, 1u << 22 | 1u << 24 | 1u << 25) &&
        has(kept, 0x60000) && may_use_tiles();
}

/* The level of x86-64 of the processor and of the system, which has to keep its registers: that
   says XGETBV (Intel, Architectures Software Developer's Manual 1, 13.3 and 14.3; levels: System V
   ABI for x86-64, 3.1.1). macOS keeps those of AVX-512 only from their first use on, and counts
   as level 3. Level 5 is that of `sapphirerapids`. */
static int processor(void) {
    unsigned a, b, c, d, wide = 0, more = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 1;
    const unsigned basic = c;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d)) more = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) wide = b;
    const unsigned v2 = bit_SSE3 | bit_SSSE3 | bit_CMPXCHG16B | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT;
    const unsigned v3 = bit_FMA | bit_MOVBE | bit_OSXSAVE | bit_AVX | bit_F16C;
    if (!has(basic, v2) || !has(more, bit_LAHF_LM)) return 1;
    if (!has(basic, v3) || !has(wide, bit_BMI | bit_AVX2 | bit_BMI2) || !has(more, bit_ABM)) return 2;
    unsigned kept, high;
    __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    if (!has(kept, 0x6)) return 2;
    const unsigned v4 = bit_AVX512F | bit_AVX512DQ | bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
    if (!has(kept, 0xe6) || !has(wide, v4)) return 3;
    return has_tiles(kept) ? 5 : 4;
}

/* The number of a level by its name, or -1. */
static int level_named(const char *name) {
    static const char family[] = "x86-64";
    if (!strcmp(name, "sapphirerapids")) return 5;
    for (int i = 0; i < COUNT; i++)
        if (!strcmp(name, levels[i].target)) return levels[i].number;
    if (strncmp(name, family, sizeof family - 1)) return -1;
    name += sizeof family - 1;
    if (!*name) return 1;
    const int is_version = name[0] == '-' && name[1] == 'v' && name[2] >= '1' && name[2] <= '4';
    return is_version && !name[3] ? name[2] - '0' : -1;
}

/* The code to use, or NULL where the processor is below all levels. The environment's NNC_LEVEL
   names a level that is not to be exceeded; where it names none, there is no code either. */
static const level *choose(void) {
    const char *most = getenv("NNC_LEVEL");
    int highest = processor(), last = -1;
    if (most && *most) {
        const int named = level_named(most);
        if (named < highest) highest = named;
    }
    for (int i = 0; i < COUNT && levels[i].number <= highest; i++) last = i;
    return last < 0 ? NULL : &levels[last];
}

static const level *chosen(void) {
    static const level *found;
    const level *one = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (!one) __atomic_store_n(&found, one = choose(), __ATOMIC_RELEASE);
    return one;
}

/* The name of the target whose code is used; NULL where the processor runs none. */
PUBLIC const char *NAME(_target)(void) {
    const level *one = chosen();
    return one ? one->target : NULL;
}

PUBLIC int32_t NAME(_run)(const void *inputs, void *outputs, void *arena, const void *weights,
    void *pool) {
    const level *one = chosen();
    if (!one) return OTHER_PROCESSOR;
#if PREPARED_BYTES
    if (!one->prepare) weights = *(const void *const *)weights;
#endif
    return one->run(inputs, outputs, arena, weights, pool);
}

#if HEAP_BYTES
PUBLIC void NAME(_release)(void *arena) {
    const level *one = chosen();
    if (one && one->release) one->release(arena);
}

PUBLIC void NAME(_reuse)(void *arena, void *data, size_t bytes) {
    const level *one = chosen();
    if (one && one->reuse) one->reuse(arena, data, bytes);
    else free(data);
}
#endif

#if FAILURES
PUBLIC const char *NAME(_failure)(int32_t status) {
    const level *one = chosen();
    return one && one->failure ? one->failure(status) : NULL;
}
#endif

#if PREPARED_BYTES
PUBLIC int64_t NAME(_prepare)(const void *weights, void *prepared, void *arena, void *pool,
    int32_t step) {
    const level *one = chosen();
    if (one && one->prepare) return one->prepare(weights, prepared, arena, pool, step);
    *(const void **)prepared = weights;
    return -1;
}
#endif

#if PARALLEL
/* All pools are alike; the lowest level's code runs everywhere. */
static const level *with_pool(void) {
    const level *one = levels;
    while (!one->pool_create) one++;
    return one;
}

PUBLIC void *NAME(_pool_create)(int32_t threads) { return with_pool()->pool_create(threads); }
PUBLIC void NAME(_pool_destroy)(void *pool) { with_pool()->pool_destroy(pool); }
#endif
