/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What keymark understands: markers of phases, and semihosting to write and to end. On a part without a debugger both would
 * stop the core: leave them out of what is delivered. */
#ifndef KEYMARK_H
#define KEYMARK_H

#include <stdint.h>

/* A phase of that number begins; 0 ends the last. */
#define PHASE(number) __asm volatile("bkpt #" #number ::: "memory")
/* The same, and what the core's counter of cycles reads there: both count the same cycles then. */
#define PHASE_AT(number, cycles) \
    __asm volatile("bkpt #" #number "\n\tldr %0, [%1]" : "=r"(cycles) : "r"(0xe0001004) : "memory")
/* What it is called in keymark's tables. */
#define PHASE_NAME(number, name) \
    __asm(".global keymark_phase_" #name "\n.equ keymark_phase_" #name ", " #number)

static inline void semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt #0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static inline void write_text(const char *text)
{
    semihosting(0x04, text);
}

static inline void leave(uint32_t code)
{
    const uint32_t block[2] = { 0x20026, code };
    semihosting(0x20, block);
    for (;;) {
    }
}

#endif
