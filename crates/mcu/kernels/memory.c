/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the compiler may call in a freestanding program. */
#include "memory.h"

#include <stdint.h>

/* By words where both are aligned, as the limbs of big numbers are. */
void *memcpy(void *restrict to, const void *restrict from, size_t length)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    if ((((uintptr_t)t | (uintptr_t)f) & 3) == 0) {
        for (; length >= 4; length -= 4, t += 4, f += 4) {
            *(uint32_t *)(void *)t = *(const uint32_t *)(const void *)f;
        }
    }
    while (length-- > 0) {
        *t++ = *f++;
    }
    return to;
}

void *memset(void *to, int value, size_t length)
{
    uint8_t *t = to;
    if (((uintptr_t)t & 3) == 0) {
        const uint32_t word = 0x01010101u * (uint8_t)value;
        for (; length >= 4; length -= 4, t += 4) {
            *(uint32_t *)(void *)t = word;
        }
    }
    while (length-- > 0) {
        *t++ = (uint8_t)value;
    }
    return to;
}
