/* HIP as a device of a compiled model: AMD's library is opened when it is needed. */
#define NO_DEVICE_MESSAGE "no AMD device is here: neither ROCm's driver nor libamdhip64 was found"
#define DEVICE_VARIABLE "NNC_HIP_DEVICE"
#include "../device/device.h"
#include "../device/driver.h"

static const char *const driver_names[] = {
    "hipInit", "hipGetDeviceCount", "hipModuleLoadDataEx", "hipModuleUnload", "hipModuleGetFunction",
    "hipFuncGetAttribute", "hipMalloc", "hipFree", "hipMemcpyHtoD", "hipMemcpyDtoH", "hipMemcpyDtoD",
    "hipModuleLaunchKernel", "hipDeviceSynchronize"};
static const char *const driver_files[] = {
    WINDOWS_OR("amdhip64_6.dll", "libamdhip64.so"), WINDOWS_OR("amdhip64.dll", "libamdhip64.so.7"),
    WINDOWS_OR(NULL, "libamdhip64.so.6")};

static struct {
    const char *(*GetErrorString)(int);
    int (*GetDevice)(int *);
    int (*SetDevice)(int);
} hip;
static const char *const hip_names[] = {"hipGetErrorString", "hipGetDevice", "hipSetDevice"};
static int before; /* the caller's device */

static int32_t find_more(void *from) {
    void **function = (void **)&hip;
    size_t i;
    for (i = 0; i < sizeof hip_names / sizeof *hip_names; i++) {
        if (!(function[i] = function_of(from, hip_names[i]))) return NO_DEVICE;
    }
    return OK;
}

static const char *driver_says(int status) { return hip.GetErrorString(status); }

static int32_t enter_device(int number) {
    if (hip.GetDevice(&before)) before = number;
    return meaning(hip.SetDevice(number));
}

static void leave_device(void) { hip.SetDevice(before); }

static void give_up_device(void) {}
