/* OpenCL as a device of a compiled model: the system's library is opened when it is needed. */
#define NO_DEVICE_MESSAGE "no OpenCL device is here: neither a driver nor libOpenCL was found"
#define DEVICE_VARIABLE "NNC_OPENCL_DEVICE"
#include "../device/device.h"

#if defined(_WIN32)
#define CL_CALL __stdcall
#else
#define CL_CALL
#endif

/* The interface, as the OpenCL 1.2 specification has it. */
typedef uint64_t bits;
static struct {
    int32_t(CL_CALL *GetPlatformIDs)(uint32_t, void **, uint32_t *);
    int32_t(CL_CALL *GetDeviceIDs)(void *, bits, uint32_t, void **, uint32_t *);
    int32_t(CL_CALL *GetDeviceInfo)(void *, uint32_t, size_t, void *, size_t *);
    void *(CL_CALL *CreateContext)(const intptr_t *, uint32_t, void *const *, void *, void *, int32_t *);
    void *(CL_CALL *CreateCommandQueue)(void *, void *, bits, int32_t *);
    void *(CL_CALL *CreateBuffer)(void *, bits, size_t, void *, int32_t *);
    void *(CL_CALL *CreateProgramWithSource)(void *, uint32_t, const char **, const size_t *, int32_t *);
    int32_t(CL_CALL *BuildProgram)(void *, uint32_t, void *const *, const char *, void *, void *);
    int32_t(CL_CALL *GetProgramBuildInfo)(void *, void *, uint32_t, size_t, void *, size_t *);
    void *(CL_CALL *CreateKernel)(void *, const char *, int32_t *);
    int32_t(CL_CALL *SetKernelArg)(void *, uint32_t, size_t, const void *);
    int32_t(CL_CALL *GetKernelWorkGroupInfo)(void *, void *, uint32_t, size_t, void *, size_t *);
    int32_t(CL_CALL *EnqueueNDRangeKernel)(void *, void *, uint32_t, const size_t *, const size_t *,
        const size_t *, uint32_t, const void *, void *);
    int32_t(CL_CALL *EnqueueReadBuffer)(void *, void *, uint32_t, size_t, size_t, void *, uint32_t,
        const void *, void *);
    int32_t(CL_CALL *EnqueueWriteBuffer)(void *, void *, uint32_t, size_t, size_t, const void *,
        uint32_t, const void *, void *);
    int32_t(CL_CALL *EnqueueCopyBuffer)(void *, void *, void *, size_t, size_t, size_t, uint32_t,
        const void *, void *);
    int32_t(CL_CALL *Finish)(void *);
    int32_t(CL_CALL *ReleaseMemObject)(void *);
    int32_t(CL_CALL *ReleaseKernel)(void *);
    int32_t(CL_CALL *ReleaseProgram)(void *);
    int32_t(CL_CALL *ReleaseCommandQueue)(void *);
    int32_t(CL_CALL *ReleaseContext)(void *);
} cl;
static const char *const names[] = {
    "GetPlatformIDs", "GetDeviceIDs", "GetDeviceInfo", "CreateContext", "CreateCommandQueue",
    "CreateBuffer", "CreateProgramWithSource", "BuildProgram", "GetProgramBuildInfo", "CreateKernel",
    "SetKernelArg", "GetKernelWorkGroupInfo", "EnqueueNDRangeKernel", "EnqueueReadBuffer",
    "EnqueueWriteBuffer", "EnqueueCopyBuffer", "Finish", "ReleaseMemObject", "ReleaseKernel",
    "ReleaseProgram", "ReleaseCommandQueue", "ReleaseContext"};

enum { GPU = 4, ANY_KIND = -1, MAX_WORK_GROUP_SIZE = 0x1004, SINGLE_FP_CONFIG = 0x101B,
       CORRECT_DIVISION = 128, BUILD_LOG = 0x1183, KERNEL_WORK_GROUP_SIZE = 0x11B0,
       MAX_MEM_ALLOC_SIZE = 0x1010, LOCAL_MEM_SIZE = 0x1023, KERNEL_LOCAL_MEM_SIZE = 0x11B2,
       OUT_OF_MEMORY = -4, OUT_OF_HOST_MEMORY = -6, OUT_OF_RESOURCES = -5 };

static void *library, *device, *context, *queue;

static int load_library(void) {
    static const char *const files[] = {WINDOWS_OR("OpenCL.dll", "libOpenCL.so.1"), "libOpenCL.so",
        "/System/Library/Frameworks/OpenCL.framework/OpenCL"};
    void **function = (void **)&cl;
    size_t i;
    for (i = 0; !library && i < sizeof files / sizeof *files; i++) library = open_library(files[i]);
    if (!library) return 0;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64] = "cl";
        strcpy(name + 2, names[i]);
        if (!(function[i] = function_of(library, name))) return 0;
    }
    return 1;
}

/* The device number NNC_OPENCL_DEVICE of all there are; without it the first GPU, else the first. */
static void *choose_device(void) {
    const char *given = getenv(DEVICE_VARIABLE);
    long wanted = -1;
    void *platforms[16], *devices[16];
    uint32_t platform_count = 0, count, i, k, number = 0;
    int kind;
    if (given && !number_of_device(DEVICE_VARIABLE, given, &wanted)) return NULL;
    if (cl.GetPlatformIDs(16, platforms, &platform_count)) return NULL;
    if (platform_count > 16) platform_count = 16;
    for (kind = wanted < 0 ? 0 : 1; kind < 2; kind++) {
        for (i = 0; i < platform_count; i++) {
            const bits which = kind ? (bits)0xFFFFFFFF : (bits)GPU;
            if (cl.GetDeviceIDs(platforms[i], which, 16, devices, &count)) continue;
            for (k = 0; k < (count < 16 ? count : 16); k++, number++) {
                if (wanted < 0 || wanted == (long)number) return devices[k];
            }
        }
    }
    if (number && wanted >= 0) {
        snprintf(state_message, sizeof state_message,
            "there is no device %ld: " DEVICE_VARIABLE " is at most %u", wanted, (unsigned)number - 1);
    }
    return NULL;
}

/* Has the caller told what the compiler says of a program: a part of its log PoCL refuses to give. */
static void explain_build(void *program) {
    const char *said = NULL;
    char *log;
    size_t size = 0;
    cl.GetProgramBuildInfo(program, device, BUILD_LOG, 0, NULL, &size);
    log = calloc(size + 1, 1);
    if (log && size) cl.GetProgramBuildInfo(program, device, BUILD_LOG, size, log, NULL);
    if (log) said = strstr(log, "error");
    explain(said ? said : log && log[0] ? log : "the device's compiler refuses the kernels");
    free(log);
}

/* Whether the device runs a kernel's groups: of so many threads, with so much memory. */
static int32_t check_groups(const kernel *one) {
    size_t most = one->threads;
    bits has = 0, wants = 0;
    cl.GetKernelWorkGroupInfo(one->handle, device, KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    if (most < one->threads) {
        snprintf(state_message, sizeof state_message,
            "the device runs groups of %zu threads of kernel '%.200s' at most, not %zu", most,
            one->name, one->threads);
        return DEVICE_LIMIT;
    }
    cl.GetKernelWorkGroupInfo(one->handle, device, KERNEL_LOCAL_MEM_SIZE, sizeof wants, &wants, NULL);
    if (!cl.GetDeviceInfo(device, LOCAL_MEM_SIZE, sizeof has, &has, NULL) && has && wants > has) {
        snprintf(state_message, sizeof state_message,
            "the device has %llu bytes for a group of kernel '%.200s', which wants %llu",
            (unsigned long long)has, one->name, (unsigned long long)wants);
        return DEVICE_LIMIT;
    }
    return OK;
}

/* Builds a text with the kernels from this number on, in a program of their own. */
static int32_t build(const char *text, size_t first) {
    void *program;
    const size_t length = strlen(text);
    bits arithmetic = 0;
    int32_t status, found = OK;
    size_t i;
    program = cl.CreateProgramWithSource(context, 1, &text, &length, &status);
    if (!program) return DEVICE_FAILED;
    cl.GetDeviceInfo(device, SINGLE_FP_CONFIG, sizeof arithmetic, &arithmetic, NULL);
    status = cl.BuildProgram(program, 1, &device,
        arithmetic & CORRECT_DIVISION ? "-cl-fp32-correctly-rounded-divide-sqrt" : "", NULL, NULL);
    if (status) {
        explain_build(program);
        cl.ReleaseProgram(program);
        return DEVICE_CODE;
    }
    for (i = first; i < state.kernel_count && !found; i++) {
        kernel *one = &state.kernels[i];
        one->handle = cl.CreateKernel(program, one->name, &status);
        found = one->handle ? check_groups(one) : DEVICE_CODE;
    }
    cl.ReleaseProgram(program); /* its kernels keep it */
    return found;
}

static int32_t open_device(void) {
    int32_t status;
    if (!load_library() || !(device = choose_device())) return NO_DEVICE;
    context = cl.CreateContext(NULL, 1, &device, NULL, NULL, &status);
    if (!context) return DEVICE_FAILED;
    queue = cl.CreateCommandQueue(context, device, 0, &status);
    return queue ? build(NAME(_device_code), 0) : DEVICE_FAILED;
}

static void close_device(void) {
    size_t i;
    for (i = 0; i < state.kernel_count; i++) {
        if (state.kernels[i].handle) cl.ReleaseKernel(state.kernels[i].handle);
    }
    if (queue) cl.ReleaseCommandQueue(queue);
    if (context) cl.ReleaseContext(context);
    queue = context = NULL;
}

static int32_t meaning(int32_t status) {
    if (!status) return OK;
    if (status == OUT_OF_MEMORY || status == OUT_OF_HOST_MEMORY || status == OUT_OF_RESOURCES) return DEVICE_MEMORY;
    snprintf(state_message, sizeof state_message, "the device failed: OpenCL's error %d", (int)status);
    return DEVICE_FAILED;
}

static int32_t new_memory(size_t bytes, memory *made) {
    int32_t status;
    bits most = 0;
    *made = NULL;
    if (!cl.GetDeviceInfo(device, MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL) && most && bytes > most) {
        snprintf(state_message, sizeof state_message,
            "the device gives buffers of %llu bytes at most, not %zu", (unsigned long long)most, bytes);
        return DEVICE_LIMIT;
    }
    *made = cl.CreateBuffer(context, 1, bytes, NULL, &status);
    return *made ? OK : DEVICE_MEMORY;
}

static void free_memory(memory one) { cl.ReleaseMemObject(one); }

static int32_t copy_in(memory to, size_t at, const void *from, size_t bytes) {
    return meaning(cl.EnqueueWriteBuffer(queue, to, 1, at, bytes, from, 0, NULL, NULL));
}

static int32_t copy_out(void *to, memory from, size_t at, size_t bytes) {
    return meaning(cl.EnqueueReadBuffer(queue, from, 1, at, bytes, to, 0, NULL, NULL));
}

static int32_t copy_within(memory to, size_t at, memory from, size_t start, size_t bytes) {
    return meaning(cl.EnqueueCopyBuffer(queue, from, to, start, at, bytes, 0, NULL, NULL));
}

static int32_t start(const kernel *one, const size_t *grid, const uint64_t *words) {
    const size_t local[3] = {one->threads, 1, 1};
    const size_t global[3] = {grid[0] * one->threads, grid[1], grid[2]};
    const char *kind;
    uint32_t number = 0;
    int32_t status = 0;
    for (kind = one->kinds; *kind && !status; kind++, words++) {
        if (*kind == 'a') {
            size_t place;
            block *found = block_at(*words, &place);
            const uint64_t at = place;
            if (!found) return DEVICE_FAILED;
            status = cl.SetKernelArg(one->handle, number++, sizeof found->handle, &found->handle);
            if (!status) status = cl.SetKernelArg(one->handle, number++, sizeof at, &at);
        } else if (*kind == 's') {
            status = cl.SetKernelArg(one->handle, number++, sizeof state.status, &state.status);
        } else {
            const size_t bytes = *kind == 'w' ? 8 : (size_t)(*kind - '0');
            status = cl.SetKernelArg(one->handle, number++, bytes, words); /* little-endian */
        }
    }
    if (!status) status = cl.EnqueueNDRangeKernel(queue, one->handle, 3, NULL, global, local, 0, NULL, NULL);
    return meaning(status);
}

static int32_t wait_for_all(void) { return meaning(cl.Finish(queue)); }
