/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reset, memory, and the end by semihosting (Arm 100863): write the result in hexadecimal, exit. */
#include "kernel.h"

extern uint32_t data_start, data_end, data_load, bss_start, bss_end, stack_top;

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026 };

static void semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt #0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void leave(uint32_t code)
{
    const uint32_t block[2] = { APPLICATION_EXIT, code };
    semihosting(SYS_EXIT_EXTENDED, block);
    for (;;) {
    }
}

static void fault(void)
{
    leave(2);
}

static void write_result(void)
{
    char text[3] = { 0, 0, 0 };
    for (uint32_t i = 0; i < result_length; i++) {
        text[0] = "0123456789abcdef"[result[i] >> 4];
        text[1] = "0123456789abcdef"[result[i] & 15];
        semihosting(SYS_WRITE0, text);
    }
    semihosting(SYS_WRITE0, "\n");
}

void reset(void)
{
    uint32_t *from = &data_load;
    for (uint32_t *to = &data_start; to < &data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = &bss_start; to < &bss_end; to++) {
        *to = 0;
    }
    int code = kernel();
    write_result();
    leave((uint32_t)code);
}

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    &stack_top, (void *)reset, (void *)fault, (void *)fault, (void *)fault, (void *)fault,
    (void *)fault, 0, 0, 0, 0, (void *)fault, (void *)fault, 0, (void *)fault, (void *)fault,
};
