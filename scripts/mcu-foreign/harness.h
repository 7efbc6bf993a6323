/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A phase is a marker for keymark; QEMU gets an instruction of the same length instead. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef MARKED
#define PHASE(number) __asm volatile("bkpt #" #number ::: "memory")
#else
#define PHASE(number) __asm volatile("nop" ::: "memory")
#endif
#define PHASE_NAME(number, name) \
    __asm(".global keymark_phase_" #name "\n.equ keymark_phase_" #name ", " #number)

/* Writes bytes in hexadecimal. */
void show(const void *bytes, size_t length);
/* Bytes that only look random: both simulators get the same. */
int randombytes(uint8_t *to, size_t length);
int program(void);
