/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "harness.h"

extern uint32_t data_start, data_end, data_load, bss_start, bss_end, stack_top;

/* By words where that goes, as every C library does. */
void *memcpy(void *to, const void *from, size_t length)
{
    size_t i = 0;
    if ((((uintptr_t)to | (uintptr_t)from) & 3) == 0) {
        for (; i + 4 <= length; i += 4) {
            *(uint32_t *)((uint8_t *)to + i) = *(const uint32_t *)((const uint8_t *)from + i);
        }
    }
    for (; i < length; i++) {
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    }
    return to;
}

void *memmove(void *to, const void *from, size_t length)
{
    if ((uintptr_t)to < (uintptr_t)from) {
        return memcpy(to, from, length);
    }
    while (length-- > 0) {
        ((uint8_t *)to)[length] = ((const uint8_t *)from)[length];
    }
    return to;
}

void *memset(void *to, int byte, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        ((uint8_t *)to)[i] = (uint8_t)byte;
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        int difference = ((const uint8_t *)a)[i] - ((const uint8_t *)b)[i];
        if (difference != 0) {
            return difference;
        }
    }
    return 0;
}

/* PQClean's Keccak keeps its state on the heap: a few hundred bytes, one at a time. */
static uint8_t heap[1 << 16] __attribute__((aligned(8)));
static size_t taken;

void *malloc(size_t length)
{
    void *place = heap + taken;
    taken += (length + 7) & ~(size_t)7;
    return taken <= sizeof heap ? place : NULL;
}

void free(void *place)
{
    taken = (size_t)((uint8_t *)place - heap);
}

static void semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt #0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void exit(int code)
{
    const uint32_t block[2] = { 0x20026, (uint32_t)code };
    semihosting(0x20, block);
    for (;;) {
    }
}

void show(const void *bytes, size_t length)
{
    char text[3] = { 0, 0, 0 };
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = ((const uint8_t *)bytes)[i];
        text[0] = "0123456789abcdef"[byte >> 4];
        text[1] = "0123456789abcdef"[byte & 15];
        semihosting(0x04, text);
    }
    semihosting(0x04, "\n");
}

int randombytes(uint8_t *to, size_t length)
{
    static uint32_t state = 0x6b65796d;
    for (size_t i = 0; i < length; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        to[i] = (uint8_t)(state >> 24);
    }
    return 0;
}

/* What PQClean calls it. */
int PQCLEAN_randombytes(uint8_t *to, size_t length)
{
    return randombytes(to, length);
}

void reset(void)
{
#ifdef __ARM_FP
    *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20;
    __asm volatile("dsb\n isb");
#endif
    uint32_t *from = &data_load;
    for (uint32_t *to = &data_start; to < &data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = &bss_start; to < &bss_end; to++) {
        *to = 0;
    }
    exit(program());
}

static void fault(void)
{
    exit(99);
}

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    &stack_top, (void *)reset, (void *)fault, (void *)fault, (void *)fault, (void *)fault, (void *)fault,
};
