/* Metal as a device of a compiled model: memory that the host sees too, and one queue, whose commands
   gather until somebody wants to see what they have written. */
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#define NO_DEVICE_MESSAGE "no Metal device is here"
#include "../device/device.h"

__asm__(".linker_option \"-framework\", \"Foundation\"");
__asm__(".linker_option \"-framework\", \"Metal\"");

enum { SUBGROUP = 32, MOST_WORDS = 511 /* setBytes takes less than 4 KB */ };

static id<MTLDevice> device;
static id<MTLCommandQueue> queue;
static id<MTLLibrary> library;
static id<MTLCommandBuffer> commands;
static id<MTLComputeCommandEncoder> encoder;

static void explain_error(NSError *error) {
    const char *text = error ? [[error localizedDescription] UTF8String] : "";
    const char *found = strstr(text, "error: ");
    explain(found ? found : text);
}

static int32_t build_kernel(kernel *one) {
    NSError *error = nil;
    id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:one->name]];
    id<MTLComputePipelineState> made;
    if (!function) return DEVICE_CODE;
    made = [device newComputePipelineStateWithFunction:function error:&error];
    [function release];
    if (!made) {
        explain_error(error);
        return DEVICE_CODE;
    }
    one->handle = made;
    if ([made maxTotalThreadsPerThreadgroup] < one->threads) {
        snprintf(state_message, sizeof state_message,
            "the device runs groups of %zu threads of kernel '%.200s' at most, not %zu",
            (size_t)[made maxTotalThreadsPerThreadgroup], one->name, one->threads);
        return DEVICE_LIMIT;
    }
    if ([made staticThreadgroupMemoryLength] > [device maxThreadgroupMemoryLength]) {
        snprintf(state_message, sizeof state_message,
            "the device has %zu bytes for a group of kernel '%.200s', which wants %zu",
            (size_t)[device maxThreadgroupMemoryLength], one->name,
            (size_t)[made staticThreadgroupMemoryLength]);
        return DEVICE_LIMIT;
    }
    if ([made threadExecutionWidth] % SUBGROUP) {
        snprintf(state_message, sizeof state_message,
            "the device has subgroups of %zu threads, and the kernels are for %d",
            (size_t)[made threadExecutionWidth], SUBGROUP);
        return DEVICE_LIMIT;
    }
    return OK;
}

static int32_t build(void) {
    NSError *error = nil;
    MTLCompileOptions *options = [[MTLCompileOptions alloc] init];
    int32_t status = OK;
    size_t i;
    [options setFastMathEnabled:NO];
    library = [device newLibraryWithSource:[NSString stringWithUTF8String:NAME(_device_code)]
                                   options:options
                                     error:&error];
    [options release];
    if (!library) {
        explain_error(error);
        return DEVICE_CODE;
    }
    for (i = 0; i < state.kernel_count && !status; i++) status = build_kernel(&state.kernels[i]);
    return status;
}

static int32_t open_device(void) {
    @autoreleasepool {
        device = MTLCreateSystemDefaultDevice();
        if (!device) return NO_DEVICE;
        queue = [device newCommandQueue];
        if (!queue) return DEVICE_FAILED;
        return state.kernel_count ? build() : OK;
    }
}

static int32_t wait_for_all(void) {
    int32_t status = OK;
    if (!commands) return OK;
    @autoreleasepool {
        [encoder endEncoding];
        [commands commit];
        [commands waitUntilCompleted];
        if ([commands status] == MTLCommandBufferStatusError) {
            NSError *error = [commands error];
            explain_error(error);
            status = [error code] == MTLCommandBufferErrorOutOfMemory ? DEVICE_MEMORY : DEVICE_FAILED;
        }
        [encoder release];
        [commands release];
        encoder = nil, commands = nil;
    }
    return status;
}

static void close_device(void) {
    size_t i;
    wait_for_all();
    for (i = 0; i < state.kernel_count; i++) [(id)state.kernels[i].handle release];
    [library release];
    [queue release];
    [device release];
    library = nil, queue = nil, device = nil;
}

static int32_t new_memory(size_t bytes, memory *made) {
    *made = NULL;
    if (bytes > [device maxBufferLength]) return DEVICE_MEMORY;
    *made = [device newBufferWithLength:bytes options:MTLResourceStorageModeShared];
    return *made ? OK : DEVICE_MEMORY;
}

static void free_memory(memory one) { [(id)one release]; }

static char *bytes_of(memory one) { return [(id<MTLBuffer>)one contents]; }

static int32_t copy_in(memory to, size_t at, const void *from, size_t bytes) {
    const int32_t status = wait_for_all();
    if (!status) memcpy(bytes_of(to) + at, from, bytes);
    return status;
}

static int32_t copy_out(void *to, memory from, size_t at, size_t bytes) {
    const int32_t status = wait_for_all();
    if (!status) memcpy(to, bytes_of(from) + at, bytes);
    return status;
}

static int32_t copy_within(memory to, size_t at, memory from, size_t start, size_t bytes) {
    const int32_t status = wait_for_all();
    if (!status) memmove(bytes_of(to) + at, bytes_of(from) + start, bytes);
    return status;
}

static int32_t start(const kernel *one, const size_t *grid, const uint64_t *words) {
    uint64_t numbers[MOST_WORDS];
    size_t count = 0;
    NSUInteger number = 0;
    const char *kind;
    @autoreleasepool {
        if (!commands) {
            commands = [[queue commandBuffer] retain];
            encoder = [[commands computeCommandEncoder] retain];
            if (!encoder) return DEVICE_FAILED;
        }
        [encoder setComputePipelineState:(id)one->handle];
        for (kind = one->kinds; *kind; kind++) {
            if (*kind == 'a') {
                size_t place;
                block *found = block_at(*words++, &place);
                if (!found) return DEVICE_FAILED;
                [encoder setBuffer:(id)found->handle offset:place atIndex:number++];
            } else if (*kind != 's') {
                if (count == MOST_WORDS) return DEVICE_LIMIT;
                numbers[count++] = *words++;
            }
        }
        if (count) [encoder setBytes:numbers length:count * sizeof *numbers atIndex:number++];
        if (strchr(one->kinds, 's')) [encoder setBuffer:(id)state.status offset:0 atIndex:number];
        [encoder dispatchThreadgroups:MTLSizeMake(grid[0], grid[1], grid[2])
                threadsPerThreadgroup:MTLSizeMake(one->threads, 1, 1)];
    }
    return OK;
}
