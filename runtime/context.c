/* What a library of a compiled model adds to its code: a context that owns the memory of one
   caller. It prints nothing, and needs libc and its threads alone. The one global state are the
   weights that are made of stored ones: all contexts of a process share them.

   Built with P defined as the prefix of all names, WEIGHTS_BYTES, ARENA_BYTES, STAMP (which
   the last eight bytes of a weights file repeat), PARALLEL (whether the code has a pool),
   SUM and WEIGHTED_SUM (the checksum of the weights, see checksum.h), INSIDE (whether they are part
   of the library), PREPARED_BYTES (of weights that are made
   by the code, or 0), PREPARE_ARENA_BYTES (what making them needs), HEAP_BYTES (of the arena, at its
   start, for memory that stays from run to run, or 0), FAILURES (whether a run can fail), DEVICE
   (whether it runs on a device, see device.h), and LEVELS where the code is that of levels.c. */
#define _DEFAULT_SOURCE /* madvise, MAP_ANONYMOUS */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

enum { OK, NO_ARGUMENT, NO_MEMORY, NO_WEIGHTS, OTHER_WEIGHTS, NO_THREADS, OTHER_PROCESSOR,
       OTHER_SHAPE };

#include "checksum.h"
#include "system.h"

extern int32_t NAME(_run)(const tensor *, tensor *, void *, const void *, void *);
#if HEAP_BYTES
extern void NAME(_release)(void *);
extern void NAME(_reuse)(void *, void *, size_t);
#endif
#if FAILURES
extern const char *NAME(_failure)(int32_t);
#endif
#if DEVICE
extern const char *NAME(_device_message)(int32_t);
extern void NAME(_device_enter)(void);
extern void NAME(_device_leave)(void);
#endif
#if PARALLEL
extern void *NAME(_pool_create)(int32_t);
extern void NAME(_pool_destroy)(void *);
#endif
#ifdef LEVELS
extern const char *NAME(_target)(void);
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
#if INSIDE
    case OTHER_WEIGHTS: return "the weights in the library are damaged";
#else
    case OTHER_WEIGHTS: return "the weights file belongs to another model, or is damaged";
#endif
    case NO_THREADS: return "the threads cannot be started";
    case OTHER_PROCESSOR: return "the library has no code for this processor, or for the level that NNC_LEVEL names";
    case OTHER_SHAPE: return "an input has another shape than the model's";
    }
    const char *failure = NULL;
#if FAILURES
    failure = NAME(_failure)(status);
#endif
#if DEVICE
    if (!failure) failure = NAME(_device_message)(status);
#endif
    return failure ? failure : "unknown status";
}

#if INSIDE
/* Whether the weights are as they were written. `create` does not ask: no time of a file tells
   whether they were summed before, and to read them all takes longer than a run of some models. */
PUBLIC int32_t NAME(_check)(void) {
    const sums found = sums_of(NAME(_weights), WEIGHTS_BYTES);
    return found.plain == SUM && found.weighted == WEIGHTED_SUM ? OK : OTHER_WEIGHTS;
}
#else
/* A file that was summed once is marked by the fraction of the second in its time, which whatever
   writes to it changes. */
static int32_t map_weights(context *made, const char *path) {
    const uint32_t mark = (uint32_t)((SUM ^ WEIGHTED_SUM) % TICKS);
    uint32_t ticks;
    int32_t status = map_file(path, (size_t)WEIGHTS_BYTES + STAMP_BYTES, &made->weights, &ticks);
    if (status) return status;
    if (ticks != mark) {
        const sums found = sums_of(made->weights, WEIGHTS_BYTES);
        if (found.plain != SUM || found.weighted != WEIGHTED_SUM) return OTHER_WEIGHTS;
        set_ticks(path, mark);
    }
    const unsigned char *stamp = (const unsigned char *)made->weights + WEIGHTS_BYTES;
    uint64_t value = 0;
    for (size_t i = 0; i < STAMP_BYTES; i++) value |= (uint64_t)stamp[i] << (8 * i);
    return value == STAMP ? OK : OTHER_WEIGHTS;
}
#endif

#if PREPARED_BYTES
static struct {
    lock_type lock;
    size_t users;
    void *prepared;
    void *weights; /* mapped, or NULL: the code reads some of them in each run */
} shared = {UNLOCKED, 0, NULL, NULL};

static int32_t make_weights(const void *weights, void *pool) {
    void *made = new_pages(PREPARED_BYTES);
    void *arena = PREPARE_ARENA_BYTES ? allocate(PREPARE_ARENA_BYTES) : NULL;
    if (!made || (PREPARE_ARENA_BYTES && !arena)) {
        if (made) release_pages(made, PREPARED_BYTES);
        release(arena);
        return NO_MEMORY;
    }
    int64_t used = 0, end;
    for (int32_t step = 0; (end = NAME(_prepare)(weights, made, arena, pool, step)) >= 0; step++) {
        forget(weights, used, end);
        used = end;
    }
    forget(weights, 0, used); /* reading one page maps its neighbours too */
    release(arena);
    shared.prepared = made;
    return OK;
}

/* Gives a context the weights that were made, which the first one makes. */
static int32_t share_weights(context *made) {
    int32_t status = OK;
    lock(&shared.lock);
    if (!shared.users) status = make_weights(STORED(made), made->pool);
    if (!status) {
        made->prepared = shared.prepared;
        if (!shared.users++) {
            shared.weights = made->weights;
            made->weights = NULL;
        }
    }
    unlock(&shared.lock);
    return status;
}

static void leave_weights(void) {
    lock(&shared.lock);
    if (!--shared.users) {
        release_pages(shared.prepared, PREPARED_BYTES);
        if (shared.weights) unmap_file(shared.weights, (size_t)WEIGHTS_BYTES + STAMP_BYTES);
    }
    unlock(&shared.lock);
}
#endif

PUBLIC void NAME(_destroy)(context *made) {
    if (!made) return;
#if DEVICE
    NAME(_device_leave)();
#endif
#if PARALLEL
    if (made->pool) NAME(_pool_destroy)(made->pool);
#endif
#if PREPARED_BYTES
    if (made->prepared) leave_weights();
#endif
    if (made->weights) unmap_file(made->weights, (size_t)WEIGHTS_BYTES + STAMP_BYTES);
#if HEAP_BYTES
    if (made->arena) NAME(_release)(made->arena);
#endif
    release(made->arena);
    release(made);
}

PUBLIC int32_t NAME(_create)(context **result, const char *weights, int32_t threads) {
    if (!result || threads < 1 || (!INSIDE && !weights)) return NO_ARGUMENT;
    *result = NULL;
#ifdef LEVELS
    if (!NAME(_target)()) return OTHER_PROCESSOR;
#endif
    context *made = allocate(sizeof *made);
    if (!made) return NO_MEMORY;
    *made = (context){NULL, NULL, allocate(ARENA_BYTES ? ARENA_BYTES : 64), NULL};
#if DEVICE
    NAME(_device_enter)();
#endif
    int32_t status = made->arena ? OK : NO_MEMORY;
#if HEAP_BYTES
    if (!status) memset(made->arena, 0, HEAP_BYTES);
#endif
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

/* Frees what `call` has set `data` of an output to. */
PUBLIC void NAME(_free)(void *data) { release(data); }

#if HEAP_BYTES
/* The same, for the next call with a context. */
PUBLIC void NAME(_give_back)(context *made, void *data, size_t bytes) {
    const size_t line = 64; /* blocks are as long */
    if (made && data) NAME(_reuse)(made->arena, data, bytes ? (bytes + line - 1) / line * line : line);
}

PUBLIC void NAME(_trim)(context *made) {
    if (made) NAME(_release)(made->arena);
}
#endif
