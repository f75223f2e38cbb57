/* Starts a program on a Cortex-M7 and prints the bits of what a model gives, by semihosting. */
#include "model.h"
#include "inputs.h"

extern char __stack;
static float result[RESULTS];

static long call_host(long operation, const void *argument) {
    register long r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void print(const char *text) { call_host(4, text); }

static void print_hex(uint32_t bits) {
    char text[10];
    int i;
    for (i = 0; i < 8; i++) text[i] = "0123456789abcdef"[bits >> (28 - 4 * i) & 15];
    text[8] = '\n';
    text[9] = 0;
    print(text);
}

void reset(void) {
    int32_t status;
    int i;
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* floats on */
    __asm__ volatile("dsb\n\tisb");
    status = nnc_call(input, result);
    if (status != 0) print(nnc_message(status));
    for (i = 0; i < RESULTS; i++) {
        union { float f; uint32_t u; } both;
        both.f = result[i];
        print_hex(both.u);
    }
    call_host(0x18, (const void *)0x20026); /* the program has ended */
    for (;;) { }
}

typedef void function(void);
__attribute__((section(".vectors"), used)) static const struct {
    char *stack;
    function *reset;
} vectors = { &__stack, reset };
