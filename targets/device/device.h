/* What the host of a compiled model has of a device, whichever it is: memory by numbers, constants
   that are there once, one caller at a time. The file of a device includes this one and defines the
   functions that are declared here first.

   An address in the device's memory is a number: that of a block, and the place in it. Built with P
   defined as the prefix of all names. */
#define _DEFAULT_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(x) JOIN(P, x)
#define SEEN __attribute__((visibility("default")))
#if defined(EXPERIMENTS) /* code that is loaded later calls these functions, too */
#define HIDDEN SEEN
#else
#define HIDDEN __attribute__((visibility("hidden")))
#endif
#define SHIFT 40

enum { OK = 0, NO_DEVICE = 8, DEVICE_FAILED, DEVICE_MEMORY, DEVICE_CODE, DEVICE_LIMIT,
       FIRST_CHECK = 1 << 24 };

typedef void *memory;

/* Each gives a status. */
static int32_t open_device(void);
static void close_device(void);
static int32_t new_memory(size_t bytes, memory *made);
static void free_memory(memory one);
static int32_t copy_in(memory to, size_t at, const void *from, size_t bytes);
static int32_t copy_out(void *to, memory from, size_t at, size_t bytes);
static int32_t copy_within(memory to, size_t at, memory from, size_t start, size_t bytes);
static int32_t wait_for_all(void);
typedef struct {
    char *name;
    size_t threads;
    const char *kinds; /* a letter for each argument: a an address, w a word, 1 2 4 8 so many bytes, s the status */
    void *handle;
} kernel;
static int32_t start(const kernel *one, const size_t *grid, const uint64_t *words);

extern const char NAME(_device_code)[] HIDDEN;
extern const char NAME(_device_kernels)[] HIDDEN;
extern const char NAME(_device_checks)[] HIDDEN;
extern const uint64_t NAME(_device_weights_bytes) HIDDEN;
extern int32_t NAME(_device_main)(const void *, void *, void *, const void *, void *) HIDDEN;

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
static SRWLOCK state_lock = SRWLOCK_INIT;
#define lock_state() AcquireSRWLockExclusive(&state_lock)
#define unlock_state() ReleaseSRWLockExclusive(&state_lock)
#define open_library(name) ((void *)LoadLibraryA(name))
#define function_of(library, name) ((void *)GetProcAddress((HMODULE)(library), name))
#define WINDOWS_OR(a, b) a
#else
#include <dlfcn.h>
#include <pthread.h>
static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
#define lock_state() pthread_mutex_lock(&state_lock)
#define unlock_state() pthread_mutex_unlock(&state_lock)
#define open_library(name) dlopen(name, RTLD_NOW | RTLD_LOCAL)
#define function_of(library, name) dlsym(library, name)
#define WINDOWS_OR(a, b) b
#endif

typedef struct {
    memory handle;
    size_t bytes;
    int taken; /* by the run that goes on: 1; by a constant, for good: 2 */
    uint64_t last_run; /* that used it */
} block;

typedef struct {
    uint64_t key; /* where the host has it, and 0 for none; in the weights, its place there */
    size_t number;
} constant;

static struct {
    int is_open, users;
    int32_t fault; /* what went wrong first in this run */
    const char *weights;
    uint64_t run;
    kernel *kernels;
    char *rows;
    size_t kernel_count, block_count, constant_room, constant_count;
    block *blocks; /* the first is the arena */
    constant *constants;
    memory status; /* of the checks in kernels, where there are any */
} state;
static char state_message[512];

/* The number of a device that a variable of the environment gives; 0 where it is none, and said. */
static int number_of_device(const char *variable, const char *given, long *number) {
    char *end;
    *number = strtol(given, &end, 10);
    if (end != given && !*end && *number >= 0) return 1;
    snprintf(state_message, sizeof state_message, "%s is the number of a device, from 0, not '%.100s'",
        variable, given);
    return 0;
}

static void fail(int32_t status) {
    if (!state.fault) state.fault = status;
}

/* Says what the device's own compiler or driver had to say. */
static void explain(const char *text) {
    size_t length = strcspn(text, "\r\n");
    if (length >= sizeof state_message) length = sizeof state_message - 1;
    memcpy(state_message, text, length);
    state_message[length] = 0;
}

/* Adds the kernels of these lines, which stay in use. */
static int32_t add_kernels(char *row) {
    size_t count = 0, i;
    const char *at = row;
    kernel *more;
    for (; *at; at++) count += *at == '\n';
    more = realloc(state.kernels, (state.kernel_count + count + 1) * sizeof(kernel));
    if (!more) return DEVICE_MEMORY;
    memset(more + state.kernel_count, 0, (count + 1) * sizeof(kernel));
    state.kernels = more;
    for (i = 0; i < count; i++) {
        kernel *one = &state.kernels[state.kernel_count + i];
        char *end = strchr(row, '\n'), *space = strchr(row, ' ');
        one->name = row;
        *space = *end = 0;
        one->threads = strtoul(space + 1, &space, 10);
        one->kinds = space + 1;
        row = end + 1;
    }
    state.kernel_count += count;
    return OK;
}

static int32_t read_kernels(void) {
    state.rows = malloc(strlen(NAME(_device_kernels)) + 1);
    return state.rows ? add_kernels(strcpy(state.rows, NAME(_device_kernels))) : DEVICE_MEMORY;
}

static void close_state(void) {
    size_t i;
    for (i = 0; i < state.block_count; i++) {
        if (state.blocks[i].handle) free_memory(state.blocks[i].handle);
    }
    if (state.status) free_memory(state.status);
    state.status = NULL;
    if (state.is_open) close_device();
    free(state.blocks);
    free(state.constants);
    free(state.kernels);
    free(state.rows);
    state.blocks = NULL, state.constants = NULL, state.kernels = NULL, state.rows = NULL;
    state.block_count = state.constant_count = state.constant_room = state.kernel_count = 0;
    state.is_open = 0;
}

static int32_t open_state(void) {
    int32_t status;
    if (state.is_open) return OK;
    state_message[0] = 0;
    status = read_kernels();
    if (!status) status = open_device();
    state.is_open = 1;
    if (!status && *NAME(_device_checks)) status = new_memory(sizeof(int32_t), &state.status);
    if (status) close_state();
    return status;
}

/* Makes memory; where there is too little, blocks that nothing uses are given back first. */
static int32_t take_memory(size_t bytes, memory *made) {
    int32_t status = new_memory(bytes, made);
    size_t i, given = 0;
    if (status != DEVICE_MEMORY) return status;
    for (i = 1; i < state.block_count; i++) {
        block *one = &state.blocks[i];
        if (!one->handle || one->taken) continue;
        free_memory(one->handle);
        one->handle = NULL, one->bytes = 0;
        given++;
    }
    if (given) status = new_memory(bytes, made);
    if (status == DEVICE_MEMORY && !state_message[0]) {
        snprintf(state_message, sizeof state_message,
            "the device has too little memory: it gives no buffer of %zu bytes", bytes);
    }
    return status;
}

/* The number of a block of so many bytes that is free, or 0. */
static size_t new_block(size_t bytes) {
    size_t i, found = 0;
    for (i = 1; i < state.block_count; i++) {
        const block *one = &state.blocks[i];
        if (one->handle && !one->taken && one->bytes >= bytes && one->bytes / 2 <= bytes) break;
        if (!one->handle) found = i;
    }
    if (i >= state.block_count && found) i = found;
    if (i >= state.block_count) {
        const size_t room = i < 1 ? 1 : i;
        block *more = realloc(state.blocks, (room + 1) * sizeof(block));
        if (!more) return 0;
        memset(more + state.block_count, 0, (room + 1 - state.block_count) * sizeof(block));
        state.blocks = more, state.block_count = room + 1, i = room;
    }
    if (!state.blocks[i].handle) {
        const int32_t status = take_memory(bytes ? bytes : 1, &state.blocks[i].handle);
        if (status) {
            state.blocks[i].handle = NULL;
            fail(status);
            return 0;
        }
        state.blocks[i].bytes = bytes;
    }
    state.blocks[i].taken = 1;
    state.blocks[i].last_run = state.run;
    return i;
}

/* Ends a run: what it has taken is free, and what it had no use for is given back. */
static void give_blocks_back(void) {
    size_t i;
    for (i = 1; i < state.block_count; i++) {
        block *one = &state.blocks[i];
        if (one->taken == 1) one->taken = 0;
        if (!one->handle || one->taken || one->last_run == state.run) continue;
        free_memory(one->handle);
        one->handle = NULL, one->bytes = 0;
    }
}

static void *address_of(size_t number) { return (void *)(uintptr_t)((uint64_t)(number + 1) << SHIFT); }

static block *block_at(uint64_t address, size_t *place) {
    const uint64_t number = (address >> SHIFT) - 1;
    *place = (size_t)(address & (((uint64_t)1 << SHIFT) - 1));
    if (number >= state.block_count || !state.blocks[number].handle) {
        fail(DEVICE_FAILED);
        return NULL;
    }
    return &state.blocks[number];
}

HIDDEN void *NAME(_device_take)(size_t bytes) {
    size_t number = state.fault ? 0 : new_block(bytes);
    if (!number) fail(DEVICE_MEMORY);
    return address_of(number);
}

HIDDEN void NAME(_device_give)(uint64_t address) {
    size_t place;
    block *one = state.fault ? NULL : block_at(address, &place);
    if (one) one->taken = 0;
}

HIDDEN void *NAME(_device_arena)(size_t bytes) {
    if (!state.fault && !state.block_count && !new_block(0)) fail(DEVICE_MEMORY);
    if (!state.fault && state.blocks[0].bytes < bytes) {
        if (state.blocks[0].handle) free_memory(state.blocks[0].handle);
        state.blocks[0].handle = NULL, state.blocks[0].bytes = 0;
        fail(take_memory(bytes, &state.blocks[0].handle));
        if (state.fault) state.blocks[0].handle = NULL;
        else state.blocks[0].bytes = bytes;
    }
    return address_of(0);
}

static constant *constant_of(uint64_t key) {
    size_t i = (size_t)(key * 0x9E3779B97F4A7C15u >> 32) & (state.constant_room - 1);
    while (state.constants[i].key && state.constants[i].key != key) {
        i = (i + 1) & (state.constant_room - 1);
    }
    return &state.constants[i];
}

static int grow_constants(void) {
    constant *old = state.constants;
    const size_t room = state.constant_room;
    size_t i;
    state.constant_room = room ? 2 * room : 64;
    state.constants = calloc(state.constant_room, sizeof(constant));
    if (!state.constants) {
        state.constants = old, state.constant_room = room;
        return 0;
    }
    for (i = 0; i < room; i++) if (old[i].key) *constant_of(old[i].key) = old[i];
    free(old);
    return 1;
}

/* What the host has at an address, in the device's memory: copied there once. */
HIDDEN void *NAME(_device_constant)(const char *given, size_t bytes) {
    uint64_t key = (uint64_t)(uintptr_t)given;
    constant *one;
    if (state.fault) return address_of(0);
    if (state.weights && given >= state.weights && given < state.weights + NAME(_device_weights_bytes)) {
        key = (uint64_t)(given - state.weights) + 1; /* of a model's weights all callers have equal ones */
    }
    if (2 * state.constant_count >= state.constant_room && !grow_constants()) {
        fail(DEVICE_MEMORY);
        return address_of(0);
    }
    one = constant_of(key);
    if (!one->key) {
        const size_t number = new_block(bytes);
        if (!number) fail(DEVICE_MEMORY);
        else if (bytes) fail(copy_in(state.blocks[number].handle, 0, given, bytes));
        if (state.fault) return address_of(0);
        state.blocks[number].taken = 2;
        one->key = key, one->number = number;
        state.constant_count++;
    }
    return address_of(one->number);
}

HIDDEN void NAME(_device_copy)(uint64_t to, uint64_t from, size_t bytes, int32_t way) {
    size_t at, start;
    block *target, *source;
    if (!bytes) return;
    if (state.fault) {
        if (way & 1) memset((void *)(uintptr_t)to, 0, bytes); /* so that no loop waits for it */
        return;
    }
    target = !(way & 1) ? block_at(to, &at) : NULL;
    source = way != 0 ? block_at(from, &start) : NULL;
    if (state.fault) return;
    if (way == 0) fail(copy_in(target->handle, at, (const void *)(uintptr_t)from, bytes));
    else if (way & 1) fail(copy_out((void *)(uintptr_t)to, source->handle, start, bytes));
    else fail(copy_within(target->handle, at, source->handle, start, bytes));
}

HIDDEN void NAME(_device_launch)(int32_t number, size_t x, size_t y, size_t z, const uint64_t *words) {
    const size_t grid[3] = {x, y, z};
    if (!state.fault && x && y && z) fail(start(&state.kernels[number], grid, words));
}

/* Sets the status of the checks in kernels, or takes what they have written. */
static void reset_checks(void) {
    const int32_t none = 0;
    if (state.status) fail(copy_in(state.status, 0, &none, sizeof none));
}

static void take_checks(void) {
    int32_t found = 0;
    if (state.status && !state.fault) fail(copy_out(&found, state.status, 0, sizeof found));
    if (found > 0) fail(FIRST_CHECK + found - 1);
}

/* Runs the model: one caller at a time. */
SEEN int32_t NAME(_run)(
    const void *inputs, void *outputs, void *arena, const void *weights, void *pool) {
    int32_t status;
    lock_state();
    state_message[0] = 0;
    status = open_state();
    if (!status) {
        state.fault = OK;
        state.run++;
        state.weights = weights;
        reset_checks();
        status = NAME(_device_main)(inputs, outputs, arena, weights, pool);
        take_checks();
        if (!state.fault) fail(wait_for_all());
        if (state.fault) status = state.fault;
        give_blocks_back();
    }
    unlock_state();
    return status;
}

#if defined(EXPERIMENTS)
static int32_t build(const char *text, size_t first);

/* Adds the kernels of a text, described by lines that have to stay; the number of the first one, or
   less than 0 for a status. */
SEEN int32_t NAME(_device_add)(const char *text, char *lines) {
    size_t first;
    int32_t status;
    lock_state();
    status = open_state();
    first = state.kernel_count;
    if (!status) status = add_kernels(lines);
    if (!status) status = build(text, first);
    if (status && state.is_open) state.kernel_count = first;
    unlock_state();
    return status ? -status : (int32_t)first;
}

/* Waits for all that was launched; for a caller in a run. */
SEEN void NAME(_device_wait)(void) {
    if (!state.fault) fail(wait_for_all());
}
#endif

/* A context begins, or ends: the last one gives the device back. */
HIDDEN void NAME(_device_enter)(void) {
    lock_state();
    state.users++;
    unlock_state();
}

HIDDEN void NAME(_device_leave)(void) {
    lock_state();
    if (!--state.users) close_state();
    unlock_state();
}

/* Gives the device back; the next run opens it again. */
SEEN void NAME(_device_close)(void) {
    lock_state();
    close_state();
    unlock_state();
}

SEEN const char *NAME(_device_message)(int32_t status) {
    static char text[512];
    const char *line = NAME(_device_checks);
    for (; status > FIRST_CHECK && *line; status--) line += strcspn(line, "\n") + 1;
    if (status == FIRST_CHECK && *line) {
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
        return text;
    }
    switch (status) {
    case NO_DEVICE: return state_message[0] ? state_message : NO_DEVICE_MESSAGE;
    case DEVICE_FAILED: return state_message[0] ? state_message : "the device failed";
    case DEVICE_MEMORY: return state_message[0] ? state_message : "the device has too little memory";
    case DEVICE_CODE: return state_message[0] ? state_message : "the device refuses the kernels";
    case DEVICE_LIMIT: return state_message[0] ? state_message : "the device has too little for a group of threads";
    }
    return NULL;
}
