/* What a module of WebAssembly adds to a model's code: memory, threads and semaphores, where there
   is no system. The page, or Node, is asked for three things only: see the imports.

   Memory is one range that grows. Blocks are multiples of 64 bytes, each behind a header of 64;
   those that are free are listed by address, and neighbours become one. */
#include <stddef.h>
#include <stdint.h>

#define IMPORT(name) __attribute__((import_module("env"), import_name(#name))) extern
#define EXPORT(name) __attribute__((export_name(#name)))

/* Whether this thread may sleep: that of a page must not. */
IMPORT(sleeps) int32_t sleeps(void);
/* Starts a thread that calls `nnc_thread` with these; not 0 where there are no more threads. */
IMPORT(spawn) int32_t spawn(void *start, void *argument);
/* Milliseconds since some moment, with their parts. Code without a clock does not import it. */
IMPORT(now) double now(void);

/* -- memory ------------------------------------------------------------------------------------ */

enum { LINE = 64, PAGE = 65536 };

typedef struct block {
    size_t bytes; /* with the header */
    struct block *next;
} block;

extern char __heap_base[];
static block *unused;
static uintptr_t end; /* of what was given out before */
static int32_t locked;

static void lock(void) {
    while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE)) {}
}

static void unlock(void) { __atomic_store_n(&locked, 0, __ATOMIC_RELEASE); }

/* A block of the list, or the rest of one; NULL where none is large enough. */
static block *take(size_t bytes) {
    for (block **at = &unused; *at; at = &(*at)->next) {
        block *found = *at;
        if (found->bytes < bytes) continue;
        if (found->bytes == bytes) {
            *at = found->next;
            return found;
        }
        found->bytes -= bytes;
        block *rest = (block *)((char *)found + found->bytes);
        rest->bytes = bytes;
        return rest;
    }
    return NULL;
}

/* A block behind all others; NULL where the memory grows no further. */
static block *extend(size_t bytes) {
    if (!end) end = ((uintptr_t)__heap_base + LINE - 1) / LINE * LINE;
    const uint64_t wanted = (uint64_t)end + bytes;
    if (wanted > SIZE_MAX) return NULL;
    const size_t pages = (size_t)((wanted + PAGE - 1) / PAGE), have = __builtin_wasm_memory_size(0);
    if (pages > have && __builtin_wasm_memory_grow(0, pages - have) == (size_t)-1) return NULL;
    block *made = (block *)end;
    made->bytes = bytes;
    end = (uintptr_t)wanted;
    return made;
}

/* 64 bytes is as much alignment as there is. NULL where there is no memory. */
EXPORT(nnc_allocate) void *nnc_allocate(size_t bytes) {
    if (bytes > SIZE_MAX - 2 * LINE) return NULL;
    const size_t whole = (bytes + 2 * LINE - 1) / LINE * LINE;
    lock();
    block *found = take(whole);
    if (!found) found = extend(whole);
    unlock();
    return found ? (char *)found + LINE : NULL;
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    return alignment <= LINE ? nnc_allocate(bytes) : NULL;
}

void abort(void) { __builtin_trap(); }

/* Seconds and nanoseconds, for code with a clock around its kernels. */
int32_t clock_gettime(int32_t clock, int64_t *time) {
    (void)clock;
    const double milliseconds = now();
    time[0] = (int64_t)(milliseconds / 1e3);
    time[1] = (int64_t)((milliseconds - (double)time[0] * 1e3) * 1e6);
    return 0;
}

EXPORT(nnc_free) void free(void *memory) {
    if (!memory) return;
    block *freed = (block *)((char *)memory - LINE), *before = NULL;
    lock();
    block **at = &unused;
    while (*at && *at < freed) {
        before = *at;
        at = &before->next;
    }
    freed->next = *at;
    *at = freed;
    if (freed->next && (char *)freed + freed->bytes == (char *)freed->next) {
        freed->bytes += freed->next->bytes;
        freed->next = freed->next->next;
    }
    if (before && (char *)before + before->bytes == (char *)freed) {
        before->bytes += freed->bytes;
        before->next = freed->next;
    }
    unlock();
}

/* -- what LLVM calls for one element where it has no instruction -------------------------------- */

float fmaxf(float a, float b) { return b != b || a > b ? a : b; }
float fminf(float a, float b) { return b != b || a < b ? a : b; }
double fmax(double a, double b) { return b != b || a > b ? a : b; }
double fmin(double a, double b) { return b != b || a < b ? a : b; }

static float as_float(uint32_t bits) {
    float made;
    __builtin_memcpy(&made, &bits, 4);
    return made;
}

static uint32_t bits_of(float number) {
    uint32_t made;
    __builtin_memcpy(&made, &number, 4);
    return made;
}

float __extendhfsf2(uint16_t half) {
    const uint32_t size = half & 0x7fff, sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t special = size < 0x7c00 ? 0 : 0x7f800000;
    /* The product is exact, of denormals too. */
    return as_float(bits_of(as_float(size << 13) * 0x1p112f) | special | sign);
}

uint16_t __truncsfhf2(float number) {
    const uint32_t bits = bits_of(number), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    uint32_t half;
    if (size > 0x7f800000) half = 0x7e00;
    else if (size >= 0x47800000) half = 0x7c00; /* 2**16 */
    else if (size < 0x38800000) half = bits_of(as_float(size) + 0.5f) - bits_of(0.5f); /* 2**-14 */
    else half = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
    return (uint16_t)(half | sign);
}

/* -- threads ----------------------------------------------------------------------------------- */

int32_t pthread_create(size_t *thread, const void *options, void *start, void *argument) {
    (void)options;
    *thread = 0;
    return spawn(start, argument);
}

/* Whoever started the threads ends them. */
int32_t pthread_join(size_t thread, void **result) {
    (void)thread, (void)result;
    return 0;
}

EXPORT(nnc_thread) void nnc_thread(void *(*start)(void *), void *argument) { start(argument); }

int32_t sched_yield(void) { return 0; }
int32_t getpid(void) { return 0; }

/* -- semaphores: how often they may be passed -------------------------------------------------- */

int32_t sem_init(int32_t *semaphore, int32_t shared, int32_t count) {
    (void)shared;
    __atomic_store_n(semaphore, count, __ATOMIC_SEQ_CST);
    return 0;
}

int32_t sem_destroy(int32_t *semaphore) {
    (void)semaphore;
    return 0;
}

int32_t sem_post(int32_t *semaphore) {
    __atomic_fetch_add(semaphore, 1, __ATOMIC_SEQ_CST);
    __builtin_wasm_memory_atomic_notify(semaphore, 1);
    return 0;
}

int32_t sem_wait(int32_t *semaphore) {
    for (;;) {
        int32_t count = __atomic_load_n(semaphore, __ATOMIC_SEQ_CST);
        while (count > 0) {
            const int32_t next = count - 1;
            if (__atomic_compare_exchange_n(
                    semaphore, &count, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
                return 0;
        }
        if (sleeps()) __builtin_wasm_memory_atomic_wait32(semaphore, 0, -1);
    }
}
