/* What the intrinsics of NVIDIA's and AMD's devices do, where each thread is a fiber. */
#include "../fibers/fibers.h"

#define EMULATED extern "C" uint32_t
#define AXES(name, x, y, z)             \
    EMULATED name##_x() { return x; }   \
    EMULATED name##_y() { return y; }   \
    EMULATED name##_z() { return z; }

AXES(emulated_nvvm_read_ptx_sreg_tid, (uint32_t)shim.number, 0, 0)
AXES(emulated_nvvm_read_ptx_sreg_ctaid, shim.group[0], shim.group[1], shim.group[2])
AXES(emulated_nvvm_read_ptx_sreg_nctaid, shim.groups[0], shim.groups[1], shim.groups[2])
AXES(emulated_amdgcn_workitem_id, (uint32_t)shim.number, 0, 0)
AXES(emulated_amdgcn_workgroup_id, shim.group[0], shim.group[1], shim.group[2])

extern "C" void emulated_nvvm_barrier0() { shim_wait(AT_BARRIER); }
extern "C" void emulated_nvvm_barrier_cta_sync_aligned_all(uint32_t) { shim_wait(AT_BARRIER); }
extern "C" void emulated_amdgcn_s_barrier() { shim_wait(AT_BARRIER); }

EMULATED emulated_nvvm_shfl_sync_idx_i32(uint32_t, uint32_t value, uint32_t lane, uint32_t) {
    return shim_shuffle(value, lane % 32);
}
EMULATED emulated_amdgcn_ds_bpermute(uint32_t place, uint32_t value) {
    return shim_shuffle(value, place / 4 % shim.subgroup);
}

/* The dispatch packet: the sizes of a group at 4, of the grid in threads at 12. */
extern "C" const void *emulated_amdgcn_dispatch_ptr() {
    static uint32_t packet[16];
    packet[3] = shim.groups[0] * (uint32_t)shim.threads;
    packet[4] = shim.groups[1], packet[5] = shim.groups[2];
    return packet;
}

extern "C" const char *shim_launch(const size_t *grid, uint64_t threads, uint64_t subgroup,
    uint32_t waits, void (*body)(void **), void **parts) {
    return shim_run(grid, threads, subgroup, waits != 0, [=] { body(parts); });
}
