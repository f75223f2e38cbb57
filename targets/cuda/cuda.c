/* CUDA as a device of a compiled model: the driver's library is opened when it is needed. */
#define NO_DEVICE_MESSAGE "no CUDA device is here: neither a driver nor libcuda was found"
#define DEVICE_VARIABLE "NNC_CUDA_DEVICE"
#include "../device/device.h"
#include "../device/driver.h"

static const char *const driver_names[] = {
    "cuInit", "cuDeviceGetCount", "cuModuleLoadDataEx", "cuModuleUnload", "cuModuleGetFunction",
    "cuFuncGetAttribute", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2",
    "cuMemcpyDtoD_v2", "cuLaunchKernel", "cuCtxSynchronize"};
static const char *const driver_files[] = {WINDOWS_OR("nvcuda.dll", "libcuda.so.1"), "libcuda.so", NULL};

static struct {
    int (*GetErrorString)(int, const char **);
    int (*DeviceGet)(int *, int);
    int (*PrimaryCtxRetain)(void **, int);
    int (*PrimaryCtxRelease)(int);
    int (*CtxPushCurrent)(void *);
    int (*CtxPopCurrent)(void **);
} cuda;
static const char *const cuda_names[] = {"cuGetErrorString", "cuDeviceGet", "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"};
static void *context; /* the one that all libraries of a process share */
static int handle;

static int32_t find_more(void *from) {
    void **function = (void **)&cuda;
    size_t i;
    for (i = 0; i < sizeof cuda_names / sizeof *cuda_names; i++) {
        if (!(function[i] = function_of(from, cuda_names[i]))) return NO_DEVICE;
    }
    return OK;
}

static const char *driver_says(int status) {
    const char *text = NULL;
    return cuda.GetErrorString(status, &text) ? NULL : text;
}

static int32_t enter_device(int number) {
    int32_t status = OK;
    if (!context) {
        status = meaning(cuda.DeviceGet(&handle, number));
        if (!status) status = meaning(cuda.PrimaryCtxRetain(&context, handle));
    }
    return status ? status : meaning(cuda.CtxPushCurrent(context));
}

static void leave_device(void) {
    void *ours;
    cuda.CtxPopCurrent(&ours);
}

static void give_up_device(void) {
    if (context) cuda.PrimaryCtxRelease(handle);
    context = NULL;
}
