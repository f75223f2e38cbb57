/* WebGPU as a device of a compiled model: each function is one of the program around it, which has
   WebGPU. See `running.py`. */
#define NO_DEVICE_MESSAGE "no WebGPU adapter is here"
#include "../device/device.h"

enum { MOST_BUFFERS = 16, MOST_WORDS = 1024 };

/* Memory is a number. A copy's `way` is 0 to the device, 1 from it, 2 within it. */
static struct {
    int32_t (*open)(const char *code, const char *kernels);
    void (*close)(void);
    int32_t (*make)(uint64_t bytes, uint64_t *made);
    void (*drop)(uint64_t memory);
    int32_t (*copy)(uint64_t to, uint64_t at, uint64_t from, uint64_t start, uint64_t bytes, int32_t way);
    int32_t (*start)(uint64_t kernel, const size_t *grid, const uint64_t *buffers, const uint32_t *words);
    int32_t (*wait)(void);
} host;

__attribute__((visibility("default"))) void NAME(_device_host)(const void *given, const char *said) {
    if (given) memcpy(&host, given, sizeof host);
    if (said) explain(said);
}

/* The status of a function that has returned. What has not come to its end, as one that is interrupted,
   may have returned 0: it says so if it has. */
static int32_t meaning(int32_t found) {
    enum { DONE = -1 };
    return found == DONE ? OK : found ? found : DEVICE_FAILED;
}

static int32_t open_device(void) {
    return host.open ? meaning(host.open(NAME(_device_code), NAME(_device_kernels))) : NO_DEVICE;
}

static void close_device(void) { host.close(); }

static int32_t new_memory(size_t bytes, memory *made) {
    uint64_t number = 0;
    const int32_t status = meaning(host.make(bytes, &number));
    *made = (memory)(uintptr_t)number;
    return status;
}

static void free_memory(memory one) { host.drop((uintptr_t)one); }

static int32_t copy_in(memory to, size_t at, const void *from, size_t bytes) {
    return meaning(host.copy((uintptr_t)to, at, (uintptr_t)from, 0, bytes, 0));
}

static int32_t copy_out(void *to, memory from, size_t at, size_t bytes) {
    return meaning(host.copy((uintptr_t)to, 0, (uintptr_t)from, at, bytes, 1));
}

static int32_t copy_within(memory to, size_t at, memory from, size_t start, size_t bytes) {
    return meaning(host.copy((uintptr_t)to, at, (uintptr_t)from, start, bytes, 2));
}

static int32_t start(const kernel *one, const size_t *grid, const uint64_t *words) {
    uint64_t buffers[MOST_BUFFERS];
    uint32_t numbers[MOST_WORDS];
    size_t count = 0, number = 4; /* the first ones are the host's */
    const char *kind;
    for (kind = one->kinds; *kind; kind++) {
        if (count == MOST_BUFFERS || number + 2 > MOST_WORDS) return DEVICE_LIMIT;
        if (*kind == 'a' || *kind == 'r') {
            size_t place;
            block *found = block_at(*words++, &place);
            if (!found) return DEVICE_FAILED;
            buffers[count++] = (uintptr_t)found->handle;
            numbers[number++] = (uint32_t)place;
        } else if (*kind == 's') {
            buffers[count++] = (uintptr_t)state.status;
        } else {
            numbers[number++] = (uint32_t)*words;
            if (*kind == '8') numbers[number++] = (uint32_t)(*words >> 32);
            words++;
        }
    }
    return meaning(host.start((uint64_t)(one - state.kernels), grid, buffers, numbers));
}

static int32_t wait_for_all(void) { return meaning(host.wait()); }
