/* What a library of a compiled model adds to its code: a context that owns the memory of one
   caller. It prints nothing, and needs libc and its threads alone. The one global state are the
   weights that are made of stored ones: all contexts of a process share them.

   Built with P defined as the prefix of all names, WEIGHTS_BYTES, ARENA_BYTES, STAMP (which
   the last eight bytes of a weights file repeat), PARALLEL (whether the code has a pool),
   INSIDE (whether the weights are part of the library), PREPARED_BYTES (of weights that are made
   by the code, or 0), and PREPARE_ARENA_BYTES (what making them needs). */
#define _DEFAULT_SOURCE /* madvise, MAP_ANONYMOUS */
#include <fcntl.h>
#include <pthread.h>
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
    void *prepared; /* the weights that were made, or NULL where there are none */
    void *arena;
    void *pool;
} context;

enum { OK, NO_ARGUMENT, NO_MEMORY, NO_WEIGHTS, OTHER_WEIGHTS, NO_THREADS };

extern int32_t NAME(_run)(const tensor *, tensor *, void *, const void *, void *);
#if PARALLEL
extern void *NAME(_pool_create)(int32_t);
extern void NAME(_pool_destroy)(void *);
#endif
#if PREPARED_BYTES
extern int64_t NAME(_prepare)(const void *, void *, void *, void *, int32_t);
#endif
#if INSIDE
extern const char NAME(_weights)[] __attribute__((visibility("hidden")));
#define STORED(context) ((const void *)NAME(_weights))
#else
#define STORED(context) ((const void *)(context)->weights)
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

#if PREPARED_BYTES
static struct {
    pthread_mutex_t lock;
    size_t users;
    void *prepared;
    void *weights; /* mapped, or NULL: the code reads some of them in each run */
} shared = {PTHREAD_MUTEX_INITIALIZER, 0, NULL, NULL};

/* Lets the system take pages of stored weights away, of which it has the file. */
static void forget(const char *weights, int64_t from, int64_t to) {
#ifdef __linux__
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = ((uintptr_t)weights + (uintptr_t)from + page - 1) / page * page;
    const uintptr_t last = ((uintptr_t)weights + (uintptr_t)to) / page * page;
    if (first < last) madvise((void *)first, last - first, MADV_DONTNEED);
#else
    (void)weights, (void)from, (void)to;
#endif
}

static int32_t make_weights(const void *weights, void *pool) {
    void *arena = NULL;
    const int rights = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
    void *made = mmap(NULL, PREPARED_BYTES, rights, kind, -1, 0);
    if (made == MAP_FAILED) return NO_MEMORY;
#ifdef MADV_HUGEPAGE
    madvise(made, PREPARED_BYTES, MADV_HUGEPAGE); /* fewer page faults, now and in each run */
#endif
    if (PREPARE_ARENA_BYTES && posix_memalign(&arena, 64, PREPARE_ARENA_BYTES)) {
        munmap(made, PREPARED_BYTES);
        return NO_MEMORY;
    }
    int64_t used = 0, end;
    for (int32_t step = 0; (end = NAME(_prepare)(weights, made, arena, pool, step)) >= 0; step++) {
        forget(weights, used, end);
        used = end;
    }
    forget(weights, 0, used); /* reading one page maps its neighbours too */
    free(arena);
    shared.prepared = made;
    return OK;
}

/* Gives a context the weights that were made, which the first one makes. */
static int32_t share_weights(context *made) {
    int32_t status = OK;
    pthread_mutex_lock(&shared.lock);
    if (!shared.users) status = make_weights(STORED(made), made->pool);
    if (!status) {
        made->prepared = shared.prepared;
        if (!shared.users++) {
            shared.weights = made->weights;
            made->weights = NULL;
        }
    }
    pthread_mutex_unlock(&shared.lock);
    return status;
}

static void leave_weights(void) {
    pthread_mutex_lock(&shared.lock);
    if (!--shared.users) {
        munmap(shared.prepared, PREPARED_BYTES);
        if (shared.weights) munmap(shared.weights, (size_t)WEIGHTS_BYTES + STAMP_BYTES);
    }
    pthread_mutex_unlock(&shared.lock);
}
#endif

PUBLIC void NAME(_destroy)(context *made) {
    if (!made) return;
#if PARALLEL
    if (made->pool) NAME(_pool_destroy)(made->pool);
#endif
#if PREPARED_BYTES
    if (made->prepared) leave_weights();
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
#if PREPARED_BYTES
    if (!status) status = share_weights(made);
#endif
    if (status) NAME(_destroy)(made);
    else *result = made;
    return status;
}

PUBLIC int32_t NAME(_call)(context *made, const tensor *inputs, tensor *outputs) {
    if (!made || !inputs || !outputs) return NO_ARGUMENT;
    const void *weights = made->prepared ? made->prepared : STORED(made);
    return NAME(_run)(inputs, outputs, made->arena, weights, made->pool);
}
