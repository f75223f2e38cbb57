/* The host's half of CUDA and HIP, whose drivers have the same functions by other names: `driver` is
   what a file of a device fills, with the system's library, when it is needed. Included by a file
   that has included `device.h` and defines what is declared here. */

static struct {
    int (*Init)(unsigned);
    int (*GetDeviceCount)(int *);
    int (*ModuleLoadDataEx)(void **, const void *, unsigned, int *, void **);
    int (*ModuleUnload)(void *);
    int (*ModuleGetFunction)(void **, void *, const char *);
    int (*FuncGetAttribute)(int *, int, void *);
    int (*MemAlloc)(uint64_t *, size_t);
    int (*MemFree)(uint64_t);
    int (*MemcpyHtoD)(uint64_t, const void *, size_t);
    int (*MemcpyDtoH)(void *, uint64_t, size_t);
    int (*MemcpyDtoD)(uint64_t, uint64_t, size_t);
    int (*LaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
        void *, void **, void **);
    int (*Synchronize)(void);
} driver;

/* The functions' names in this order, and the files of the library. */
static const char *const driver_names[sizeof driver / sizeof(void *)];
static const char *const driver_files[3];
#define DRIVER_OUT_OF_MEMORY 2
#define MOST_PARTS 512

static int32_t enter_device(int number); /* makes it the one of this thread; a status */
static void leave_device(void);          /* what was this thread's before */
static const char *driver_says(int status);
static int32_t find_more(void *library); /* of the library's own functions */
static void give_up_device(void);

static void *library, *module;
static int device_number;

static int32_t meaning(int status) {
    const char *text;
    if (!status) return OK;
    if (status == DRIVER_OUT_OF_MEMORY) return DEVICE_MEMORY;
    text = driver_says(status);
    snprintf(state_message, sizeof state_message, "the device failed: %.400s",
        text ? text : "the driver does not say why");
    return DEVICE_FAILED;
}

static int32_t load_driver(void) {
    void **function = (void **)&driver;
    size_t i;
    for (i = 0; !library && i < sizeof driver_files / sizeof *driver_files; i++) {
        if (driver_files[i]) library = open_library(driver_files[i]);
    }
    if (!library) return NO_DEVICE;
    for (i = 0; i < sizeof driver_names / sizeof *driver_names; i++) {
        if (!(function[i] = function_of(library, driver_names[i]))) return NO_DEVICE;
    }
    return find_more(library);
}

/* Whether the device runs groups of so many threads of a kernel. */
static int32_t check_threads(const kernel *one) {
    int most = 0;
    int32_t status = meaning(driver.FuncGetAttribute(&most, 0, one->handle));
    if (status || (size_t)most >= one->threads) return status;
    snprintf(state_message, sizeof state_message,
        "the device runs groups of %d threads of kernel '%.200s' at most, not %zu", most, one->name,
        one->threads);
    return DEVICE_LIMIT;
}

static int32_t load_kernels(void) {
    char log[2048] = "";
    int options[] = {5, 6}; /* the error log and its size, for both drivers */
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    int32_t status = OK;
    size_t i;
    int found;
    if (!state.kernel_count) return OK;
    found = driver.ModuleLoadDataEx(&module, NAME(_device_code), 2, options, values);
    if (found == DRIVER_OUT_OF_MEMORY) return DEVICE_MEMORY;
    if (found) {
        const char *text = log[0] ? log : driver_says(found);
        module = NULL;
        snprintf(state_message, sizeof state_message, "the driver refuses the kernels: %.*s",
            text ? (int)strcspn(text, "\r\n") : 0, text ? text : "");
        return DEVICE_CODE;
    }
    for (i = 0; i < state.kernel_count && !status; i++) {
        kernel *one = &state.kernels[i];
        if (driver.ModuleGetFunction(&one->handle, module, one->name)) return DEVICE_CODE;
        status = check_threads(one);
    }
    return status;
}

static int32_t open_device(void) {
    const char *given = getenv(DEVICE_VARIABLE);
    int32_t status = load_driver();
    long number = 0;
    int count = 0;
    if (given && !number_of_device(DEVICE_VARIABLE, given, &number)) return NO_DEVICE;
    if (status) return status;
    if (driver.Init(0) || driver.GetDeviceCount(&count) || !count) return NO_DEVICE;
    if (number >= count) {
        snprintf(state_message, sizeof state_message, "there is no device %ld: " DEVICE_VARIABLE
            " is at most %d", number, count - 1);
        return NO_DEVICE;
    }
    device_number = (int)number;
    status = enter_device(device_number);
    if (status) return status;
    status = load_kernels();
    leave_device();
    return status;
}

static void close_device(void) {
    if (module && !enter_device(device_number)) {
        driver.ModuleUnload(module);
        leave_device();
    }
    module = NULL;
    if (library) give_up_device();
}

static int32_t new_memory(size_t bytes, memory *made) {
    uint64_t address = 0;
    int32_t status = enter_device(device_number);
    if (status) return status;
    status = meaning(driver.MemAlloc(&address, bytes));
    leave_device();
    *made = status ? NULL : (memory)(uintptr_t)address;
    return status;
}

static void free_memory(memory one) {
    if (enter_device(device_number)) return;
    driver.MemFree((uint64_t)(uintptr_t)one);
    leave_device();
}

static uint64_t address_in(memory one, size_t at) { return (uint64_t)(uintptr_t)one + at; }

static int32_t copy_in(memory to, size_t at, const void *from, size_t bytes) {
    int32_t status = enter_device(device_number);
    if (status) return status;
    status = meaning(driver.MemcpyHtoD(address_in(to, at), from, bytes));
    leave_device();
    return status;
}

static int32_t copy_out(void *to, memory from, size_t at, size_t bytes) {
    int32_t status = enter_device(device_number);
    if (status) return status;
    status = meaning(driver.MemcpyDtoH(to, address_in(from, at), bytes));
    leave_device();
    return status;
}

static int32_t copy_within(memory to, size_t at, memory from, size_t start, size_t bytes) {
    int32_t status = enter_device(device_number);
    if (status) return status;
    status = meaning(driver.MemcpyDtoD(address_in(to, at), address_in(from, start), bytes));
    leave_device();
    return status;
}

static int32_t start(const kernel *one, const size_t *grid, const uint64_t *words) {
    uint64_t values[MOST_PARTS];
    void *parts[MOST_PARTS];
    const char *kind;
    size_t count = 0;
    int32_t status;
    if (strlen(one->kinds) > MOST_PARTS || grid[0] > 0x7FFFFFFF || grid[1] > 65535 || grid[2] > 65535) {
        snprintf(state_message, sizeof state_message,
            "kernel '%.200s' has more groups or arguments than the device takes", one->name);
        return DEVICE_LIMIT;
    }
    for (kind = one->kinds; *kind; kind++, count++) {
        parts[count] = &values[count];
        if (*kind == 'a') {
            size_t place;
            block *found = block_at(*words++, &place);
            if (!found) return DEVICE_FAILED;
            values[count] = address_in(found->handle, place);
        } else {
            values[count] = *kind == 's' ? address_in(state.status, 0) : *words++;
        }
    }
    status = enter_device(device_number);
    if (status) return status;
    status = meaning(driver.LaunchKernel(one->handle, (unsigned)grid[0], (unsigned)grid[1],
        (unsigned)grid[2], (unsigned)one->threads, 1, 1, 0, NULL, parts, NULL));
    leave_device();
    return status;
}

static int32_t wait_for_all(void) {
    int32_t status = enter_device(device_number);
    if (status) return status;
    status = meaning(driver.Synchronize());
    leave_device();
    return status;
}
