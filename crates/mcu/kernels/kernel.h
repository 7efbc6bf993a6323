/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What every kernel has: marked phases, a result, and a way to say that it is done. */
#ifndef KERNEL_H
#define KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* A phase of that number begins; 0 ends the last. The simulator takes the time of each. */
#define PHASE(number) __asm volatile("bkpt #" #number ::: "memory")

/* The kernel proper; returns 0 when all is well. Its result is read by symbol, little-endian. */
int kernel(void);
extern uint8_t result[];
extern const uint32_t result_length;

#endif
