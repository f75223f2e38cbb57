/* The host of a compiled model beside an emulation of Metal: the kernels are a library of this
   machine, whose path stands where their text would be. */
#define NO_DEVICE_MESSAGE "the emulation does not load"
#include "../../../targets/device/device.h"

enum { MOST_BUFFERS = 31, MOST_WORDS = 511 };
static void *library;

static int32_t open_device(void) {
    size_t i;
    if (!state.kernel_count) return OK;
    library = open_library(NAME(_device_code));
    if (!library) {
        explain(dlerror());
        return NO_DEVICE;
    }
    for (i = 0; i < state.kernel_count; i++) {
        char name[256];
        snprintf(name, sizeof name, "shim_%s", state.kernels[i].name);
        if (!(state.kernels[i].handle = function_of(library, name))) return DEVICE_CODE;
    }
    return OK;
}

static void close_device(void) {
    if (library) dlclose(library);
    library = NULL;
}

static int32_t new_memory(size_t bytes, memory *made) {
    *made = malloc(bytes);
    if (*made) memset(*made, 0xA5, bytes);
    return *made ? OK : DEVICE_MEMORY;
}

static void free_memory(memory one) { free(one); }

static int32_t copy_in(memory to, size_t at, const void *from, size_t bytes) {
    memcpy((char *)to + at, from, bytes);
    return OK;
}

static int32_t copy_out(void *to, memory from, size_t at, size_t bytes) {
    memcpy(to, (char *)from + at, bytes);
    return OK;
}

static int32_t copy_within(memory to, size_t at, memory from, size_t start, size_t bytes) {
    memmove((char *)to + at, (char *)from + start, bytes);
    return OK;
}

static int32_t start(const kernel *one, const size_t *grid, const uint64_t *words) {
    void *buffers[MOST_BUFFERS + 2];
    uint64_t numbers[MOST_WORDS];
    size_t count = 0, number = 0;
    const char *kind, *wrong;
    const char *(*run)(const size_t *, void **);
    for (kind = one->kinds; *kind; kind++) {
        if (number >= MOST_BUFFERS || count >= MOST_WORDS) return DEVICE_LIMIT;
        if (*kind == 'a') {
            size_t place;
            block *found = block_at(*words++, &place);
            if (!found) return DEVICE_FAILED;
            buffers[number++] = (char *)found->handle + place;
        } else if (*kind != 's') {
            numbers[count++] = *words++;
        }
    }
    if (count) buffers[number++] = numbers;
    if (strchr(one->kinds, 's')) buffers[number] = state.status;
    memcpy(&run, &one->handle, sizeof run);
    wrong = run(grid, buffers);
    if (!wrong) return OK;
    snprintf(state_message, sizeof state_message, "kernel '%.200s' has %s", one->name, wrong);
    return DEVICE_FAILED;
}

static int32_t wait_for_all(void) { return OK; }
