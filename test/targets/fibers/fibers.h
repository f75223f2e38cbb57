/* Groups of threads on a processor: each thread is a fiber, which goes on until it waits for others. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include <functional>
#include <vector>

enum shim_state { GOES_ON, AT_BARRIER, AT_SHUFFLE, IS_DONE };
enum { SHIM_STACK = 256 << 10 };
struct shim_fiber {
    ucontext_t context;
    shim_state state;
    uint64_t handed[2];
    int turn;
};
static struct {
    size_t number, threads, subgroup; /* the thread that runs; how many there are */
    uint32_t group[3], groups[3];
    ucontext_t main;
    std::vector<shim_fiber> fibers;
    std::vector<char> stacks;
    const std::function<void()> *body;
} shim;

static void shim_wait(shim_state state) {
    shim_fiber &one = shim.fibers[shim.number];
    one.state = state;
    swapcontext(&one.context, &shim.main);
}

static void shim_enter() {
    (*shim.body)();
    shim_wait(IS_DONE);
}

/* One group: text that says what went wrong, or none. */
static const char *shim_group() {
    size_t i, k, left = shim.threads;
    for (i = 0; i < shim.threads; i++) {
        shim_fiber &one = shim.fibers[i];
        getcontext(&one.context);
        one.context.uc_stack.ss_sp = &shim.stacks[i * SHIM_STACK];
        one.context.uc_stack.ss_size = SHIM_STACK;
        one.context.uc_link = NULL;
        one.state = GOES_ON, one.turn = 0;
        makecontext(&one.context, shim_enter, 0);
    }
    while (left) {
        size_t waiting = 0, released = 0;
        for (i = 0; i < shim.threads; i++) {
            if (shim.fibers[i].state != GOES_ON) continue;
            shim.number = i;
            swapcontext(&shim.main, &shim.fibers[i].context);
            left -= shim.fibers[i].state == IS_DONE;
        }
        for (i = 0; i < shim.threads; i += shim.subgroup) {
            const size_t end = i + shim.subgroup < shim.threads ? i + shim.subgroup : shim.threads;
            size_t shuffles = 0;
            for (k = i; k < end; k++) {
                shuffles += shim.fibers[k].state == AT_SHUFFLE;
                waiting += shim.fibers[k].state == AT_BARRIER;
            }
            if (shuffles && shuffles < end - i) return "a shuffle where threads of a subgroup part";
            for (k = i; shuffles && k < end; k++) shim.fibers[k].state = GOES_ON;
            released += shuffles;
        }
        if (released) continue;
        if (waiting && waiting < shim.threads) return "a barrier where threads of a group part";
        for (i = 0; waiting && i < shim.threads; i++) shim.fibers[i].state = GOES_ON;
    }
    return NULL;
}

/* All groups of a launch; threads that never wait for others need no fibers. */
static const char *shim_run(const size_t *grid, size_t threads, size_t subgroup, bool waits,
    const std::function<void()> &body) {
    const char *wrong = NULL;
    uint32_t x, y, z;
    shim.body = &body, shim.threads = threads, shim.subgroup = subgroup;
    for (x = 0; x < 3; x++) shim.groups[x] = (uint32_t)grid[x];
    if (waits && shim.fibers.size() < threads) {
        shim.fibers.resize(threads);
        shim.stacks.resize(threads * SHIM_STACK);
    }
    for (z = 0; z < grid[2]; z++) for (y = 0; y < grid[1]; y++) for (x = 0; x < grid[0]; x++) {
        shim.group[0] = x, shim.group[1] = y, shim.group[2] = z;
        if (waits) {
            wrong = shim_group();
            if (wrong) return wrong;
        }
        for (shim.number = 0; !waits && shim.number < threads; shim.number++) body();
    }
    return NULL;
}

/* What another thread of the subgroup hands over here; its own value where there is none. */
template <typename T> T shim_shuffle(T x, long other) {
    static_assert(sizeof(T) <= 4, "no more than 32 bits");
    const size_t me = shim.number, first = me / shim.subgroup * shim.subgroup;
    const int turn = shim.fibers[me].turn++ & 1;
    memcpy(&shim.fibers[me].handed[turn], &x, sizeof x);
    shim_wait(AT_SHUFFLE);
    if (other >= 0 && (size_t)other < shim.subgroup && first + (size_t)other < shim.threads) {
        memcpy(&x, &shim.fibers[first + (size_t)other].handed[turn], sizeof x);
    }
    return x;
}
