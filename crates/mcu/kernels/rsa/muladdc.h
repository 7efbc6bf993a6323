/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The MULADDC step of long multiplication, d += s * b, sixteen limbs at a time.
 *
 * MULADDC_UMULL: UMULL and additions, for every ARMv7-M core. Three limbs are loaded and stored
 *                together: with pointers, counter, multiplier and carry that takes all registers.
 * MULADDC_UMAAL: UMAAL, of the DSP extension, takes the product and both additions at once.
 * MULADDC_C:     what a compiler makes of 64-bit arithmetic.
 */
#ifndef MULADDC_H
#define MULADDC_H

#include <stdint.h>

#define MULADDC_LIMBS 16

#if defined(MULADDC_UMULL)

/* One limb w += x * b + c. The carry of the flags belongs to the limb before, hence ADCS first. */
#define STEP(first, w, x)                                                                          \
    first "   " w ", " w ", %[c]      \n"                                                          \
    "umull   r11, r12, %[b], " x "    \n"                                                          \
    "adc     %[c], r12, #0            \n"                                                          \
    "adds    " w ", " w ", r11        \n"

#define THREE(first)                                                                               \
    "ldmia   %[s]!, {r5, r6, r7}      \n"                                                          \
    "ldmia   %[d], {r8, r9, r10}      \n"                                                          \
    STEP(first, "r8", "r5") STEP("adcs", "r9", "r6") STEP("adcs", "r10", "r7")                     \
    "stmia   %[d]!, {r8, r9, r10}     \n"

static inline uint32_t muladdc_16(uint32_t **dp, const uint32_t **sp, uint32_t b, uint32_t c)
{
    uint32_t *d = *dp;
    const uint32_t *s = *sp;
    __asm volatile(
        THREE("adds") THREE("adcs") THREE("adcs") THREE("adcs") THREE("adcs")
        "ldr     r5, [%[s]], #4           \n"
        "ldr     r8, [%[d]]               \n"
        STEP("adcs", "r8", "r5")
        "str     r8, [%[d]], #4           \n"
        "adc     %[c], %[c], #0           \n"
        : [d] "+r"(d), [s] "+r"(s), [c] "+r"(c)
        : [b] "r"(b)
        : "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
    *dp = d;
    *sp = s;
    return c;
}

#elif defined(MULADDC_UMAAL)

#define FOUR                                                                                       \
    "ldmia   %[s]!, {r5, r6, r8, r9}  \n"                                                          \
    "ldmia   %[d], {r10, r11, r12, lr}\n"                                                          \
    "umaal   r10, %[c], %[b], r5      \n"                                                          \
    "umaal   r11, %[c], %[b], r6      \n"                                                          \
    "umaal   r12, %[c], %[b], r8      \n"                                                          \
    "umaal   lr, %[c], %[b], r9       \n"                                                          \
    "stmia   %[d]!, {r10, r11, r12, lr}\n"

static inline uint32_t muladdc_16(uint32_t **dp, const uint32_t **sp, uint32_t b, uint32_t c)
{
    uint32_t *d = *dp;
    const uint32_t *s = *sp;
    __asm volatile(
        FOUR FOUR FOUR FOUR
        : [d] "+r"(d), [s] "+r"(s), [c] "+r"(c)
        : [b] "r"(b)
        : "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "memory");
    *dp = d;
    *sp = s;
    return c;
}

#elif defined(MULADDC_C)

static inline uint32_t muladdc_16(uint32_t **dp, const uint32_t **sp, uint32_t b, uint32_t c)
{
    uint32_t *d = *dp;
    const uint32_t *s = *sp;
    for (int i = 0; i < MULADDC_LIMBS; i++) {
        uint64_t sum = (uint64_t)s[i] * b + d[i] + c;
        d[i] = (uint32_t)sum;
        c = (uint32_t)(sum >> 32);
    }
    *dp = d + MULADDC_LIMBS;
    *sp = s + MULADDC_LIMBS;
    return c;
}

#else
#error "define MULADDC_UMULL, MULADDC_UMAAL or MULADDC_C"
#endif

#endif
