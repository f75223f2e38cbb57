/* NVIDIA's and AMD's drivers, as far as hosts of compiled models call them: memory is this process's,
   and kernels are a library of this machine's, whose path stands where the device's code would be.
   Built twice: as libcuda.so.1, and with HIP defined as libamdhip64.so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HIP
#define API(cuda, hip) int hip
#else
#define API(cuda, hip) int cuda
#endif
enum { OUT_OF_MEMORY = 2, NOT_CURRENT = 201, NO_CODE = 209, NOT_FOUND = 500, LAUNCH_FAILED = 719 };

static char said[256] = "unspecified failure";
static int entered; /* contexts that were pushed and not popped */
static long taken;  /* bytes of all memory that is not freed */
static long limit(const char *name) { return getenv(name) ? atol(getenv(name)) : 1L << 40; }
static int fits(long bytes) { return bytes <= limit("EMULATED_BYTES") && taken + bytes <= limit("EMULATED_TOTAL"); }

API(cuInit, hipInit)(unsigned flags) { return (int)flags; }
API(cuDeviceGetCount, hipGetDeviceCount)(int *count) {
    *count = getenv("EMULATED_DEVICES") ? atoi(getenv("EMULATED_DEVICES")) : 1;
    return 0;
}

#ifdef HIP
const char *hipGetErrorString(int status) { return status ? said : "no error"; }
int hipSetDevice(int number) { return entered = 1, number; }
int hipGetDevice(int *number) { return *number = 0; }
#else
int cuGetErrorString(int status, const char **text) { return *text = status ? said : "no error", 0; }
int cuDeviceGet(int *device, int number) { return *device = number, 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return *context = &entered, device; }
int cuDevicePrimaryCtxRelease_v2(int device) { return device; }
int cuCtxPushCurrent_v2(void *context) { return entered++, context != &entered; }
int cuCtxPopCurrent_v2(void **context) { return *context = &entered, entered--, 0; }
#endif

API(cuModuleLoadDataEx, hipModuleLoadDataEx)(
    void **module, const void *code, unsigned count, int *options, void **values) {
    if (!entered) return NOT_CURRENT;
    *module = dlopen(code, RTLD_NOW | RTLD_LOCAL);
    if (*module) return 0;
    if (count == 2 && options[0] == 5) snprintf(values[0], (size_t)values[1], "%s", dlerror());
    return NO_CODE;
}
API(cuModuleUnload, hipModuleUnload)(void *module) { return dlclose(module); }
API(cuModuleGetFunction, hipModuleGetFunction)(void **function, void *module, const char *name) {
    char full[256];
    snprintf(full, sizeof full, "shim_%s", name);
    *function = dlsym(module, full);
    return *function ? 0 : NOT_FOUND;
}
API(cuFuncGetAttribute, hipFuncGetAttribute)(int *value, int which, void *function) {
    *value = getenv("EMULATED_THREADS") ? atoi(getenv("EMULATED_THREADS")) : 1024;
    return which || !function;
}

API(cuMemAlloc_v2, hipMalloc)(void **made, size_t bytes) {
    if (!entered) return NOT_CURRENT;
    *made = fits((long)bytes) ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
    if (*made) memset(*made, 0xA5, bytes), taken += (long)malloc_usable_size(*made);
    return *made ? 0 : OUT_OF_MEMORY;
}
API(cuMemFree_v2, hipFree)(void *one) { return taken -= (long)malloc_usable_size(one), free(one), 0; }
API(cuMemcpyHtoD_v2, hipMemcpyHtoD)(void *to, const void *from, size_t bytes) {
    return memcpy(to, from, bytes), !entered;
}
API(cuMemcpyDtoH_v2, hipMemcpyDtoH)(void *to, const void *from, size_t bytes) {
    return memcpy(to, from, bytes), !entered;
}
API(cuMemcpyDtoD_v2, hipMemcpyDtoD)(void *to, const void *from, size_t bytes) {
    return memmove(to, from, bytes), !entered;
}
API(cuLaunchKernel, hipModuleLaunchKernel)(void *function, unsigned x, unsigned y, unsigned z,
    unsigned threads, unsigned b, unsigned c, unsigned shared, void *stream, void **parts, void **more) {
    const char *(*run)(const size_t *, size_t, void **), *wrong;
    const size_t grid[3] = {x, y, z};
    if (!entered || b != 1 || c != 1 || shared || stream || more) return NOT_CURRENT;
    if (getenv("EMULATED_LOSS")) return strcpy(said, "the device is lost"), LAUNCH_FAILED;
    memcpy(&run, &function, sizeof run);
    wrong = run(grid, threads, parts);
    if (wrong) snprintf(said, sizeof said, "%s", wrong);
    return wrong ? LAUNCH_FAILED : 0;
}
API(cuCtxSynchronize, hipDeviceSynchronize)(void) { return entered ? 0 : NOT_CURRENT; }
