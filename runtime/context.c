/* What a library of a compiled model adds to its code: a context that owns the memory of one
   caller. It keeps no global state, prints nothing, and needs libc alone.

   Built with P defined as the prefix of all names, WEIGHTS_BYTES, ARENA_BYTES, STAMP (which
   the last eight bytes of a weights file repeat), PARALLEL (whether the code has a pool), and
   INSIDE (whether the weights are part of the library). */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(x) JOIN(P, x)
#define PUBLIC __attribute__((visibility("default")))
#define STAMP_BYTES ((size_t)8)

typedef struct {
    void *data;
    int64_t *shape;
} tensor;

typedef struct {
    void *weights; /* mapped, or NULL where they are part of the library */
    void *arena;
    void *pool;
} context;

enum { OK, NO_ARGUMENT, NO_MEMORY, NO_WEIGHTS, OTHER_WEIGHTS, NO_THREADS };

extern int32_t NAME(_run)(const tensor *, tensor *, void *, const void *, void *);
#if PARALLEL
extern void *NAME(_pool_create)(int32_t);
extern void NAME(_pool_destroy)(void *);
#endif
#if INSIDE
extern const char NAME(_weights)[] __attribute__((visibility("hidden")));
#endif

PUBLIC const char *NAME(_message)(int32_t status) {
    switch (status) {
    case OK: return "no error";
    case NO_ARGUMENT: return "an argument is NULL or out of range";
    case NO_MEMORY: return "out of memory";
    case NO_WEIGHTS: return "the weights file cannot be read";
    case OTHER_WEIGHTS: return "the weights file belongs to another model, or is damaged";
    case NO_THREADS: return "the threads cannot be started";
    default: return "unknown status";
    }
}

#if !INSIDE
static int32_t map_weights(context *made, const char *path) {
    struct stat found;
    const size_t size = (size_t)WEIGHTS_BYTES + STAMP_BYTES;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return NO_WEIGHTS;
    if (fstat(file, &found) != 0 || (size_t)found.st_size != size) {
        close(file);
        return OTHER_WEIGHTS;
    }
    void *mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) return NO_MEMORY;
    made->weights = mapped;
    const unsigned char *stamp = (const unsigned char *)mapped + WEIGHTS_BYTES;
    uint64_t value = 0;
    for (size_t i = 0; i < STAMP_BYTES; i++) value |= (uint64_t)stamp[i] << (8 * i);
    return value == STAMP ? OK : OTHER_WEIGHTS;
}
#endif

PUBLIC void NAME(_destroy)(context *made) {
    if (!made) return;
#if PARALLEL
    if (made->pool) NAME(_pool_destroy)(made->pool);
#endif
    if (made->weights) munmap(made->weights, (size_t)WEIGHTS_BYTES + STAMP_BYTES);
    free(made->arena);
    free(made);
}

PUBLIC int32_t NAME(_create)(context **result, const char *weights, int32_t threads) {
    if (!result || threads < 1 || (!INSIDE && !weights)) return NO_ARGUMENT;
    *result = NULL;
    context *made = calloc(1, sizeof *made);
    if (!made) return NO_MEMORY;
    int32_t status = OK;
    if (posix_memalign(&made->arena, 64, ARENA_BYTES ? ARENA_BYTES : 64)) status = NO_MEMORY;
#if !INSIDE
    if (!status) status = map_weights(made, weights);
#endif
#if PARALLEL
    if (!status && threads > 1) {
        made->pool = NAME(_pool_create)(threads);
        if (!made->pool) status = NO_THREADS;
    }
#endif
    if (status) NAME(_destroy)(made);
    else *result = made;
    return status;
}

PUBLIC int32_t NAME(_call)(context *made, const tensor *inputs, tensor *outputs) {
    if (!made || !inputs || !outputs) return NO_ARGUMENT;
#if INSIDE
    const void *weights = NAME(_weights);
#else
    const void *weights = made->weights;
#endif
    return NAME(_run)(inputs, outputs, made->arena, weights, made->pool);
}
