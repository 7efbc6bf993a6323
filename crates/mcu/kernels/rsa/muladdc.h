/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The MULADDC step of long multiplication, d += s * b, of sixteen, four and one limbs.
 *
 * MULADDC_UMULL: UMULL and additions, for every ARMv7-M core. Three limbs are loaded and stored
 *                together: with pointers, counter, multiplier and carry that takes all registers.
 * MULADDC_UMAAL: UMAAL, of the DSP extension, takes the product and both additions at once.
 * MULADDC_C:     what a compiler makes of 64-bit arithmetic.
 */
#ifndef MULADDC_H
#define MULADDC_H

#include <stdint.h>

#if defined(MULADDC_UMULL)

/* One limb w += x * b + c. The carry of the flags belongs to the limb before, hence ADCS first. */
#define STEP(first, w, x)                                                                          \
    first "   " w ", " w ", %[c]      \n"                                                          \
    "umull   r11, r12, %[b], " x "    \n"                                                          \
    "adc     %[c], r12, #0            \n"                                                          \
    "adds    " w ", " w ", r11        \n"

#define ONE(first)                                                                                 \
    "ldr     r5, [%[s]], #4           \n"                                                          \
    "ldr     r8, [%[d]]               \n"                                                          \
    STEP(first, "r8", "r5")                                                                        \
    "str     r8, [%[d]], #4           \n"

#define THREE(first)                                                                               \
    "ldmia   %[s]!, {r5, r6, r7}      \n"                                                          \
    "ldmia   %[d], {r8, r9, r10}      \n"                                                          \
    STEP(first, "r8", "r5") STEP("adcs", "r9", "r6") STEP("adcs", "r10", "r7")                     \
    "stmia   %[d]!, {r8, r9, r10}     \n"

#define MULADDC_BODY_16                                                                            \
    THREE("adds") THREE("adcs") THREE("adcs") THREE("adcs") THREE("adcs") ONE("adcs")              \
    "adc     %[c], %[c], #0           \n"
#define MULADDC_BODY_4 THREE("adds") ONE("adcs") "adc     %[c], %[c], #0           \n"
#define MULADDC_BODY_1 ONE("adds") "adc     %[c], %[c], #0           \n"
#define MULADDC_CLOBBERS "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "cc", "memory"

#elif defined(MULADDC_UMAAL)

#define FOUR                                                                                       \
    "ldmia   %[s]!, {r5, r6, r8, r9}  \n"                                                          \
    "ldmia   %[d], {r10, r11, r12, lr}\n"                                                          \
    "umaal   r10, %[c], %[b], r5      \n"                                                          \
    "umaal   r11, %[c], %[b], r6      \n"                                                          \
    "umaal   r12, %[c], %[b], r8      \n"                                                          \
    "umaal   lr, %[c], %[b], r9       \n"                                                          \
    "stmia   %[d]!, {r10, r11, r12, lr}\n"

#define MULADDC_BODY_16 FOUR FOUR FOUR FOUR
#define MULADDC_BODY_4 FOUR
#define MULADDC_BODY_1                                                                             \
    "ldr     r5, [%[s]], #4           \n"                                                          \
    "ldr     r10, [%[d]]              \n"                                                          \
    "umaal   r10, %[c], %[b], r5      \n"                                                          \
    "str     r10, [%[d]], #4          \n"
#define MULADDC_CLOBBERS "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "memory"

#elif !defined(MULADDC_C)
#error "define MULADDC_UMULL, MULADDC_UMAAL or MULADDC_C"
#endif

/* Pointers move on as limbs are done; the carry comes in and goes out. */
#define MULADDC_FUNCTION(limbs)                                                                    \
    static inline uint32_t muladdc_##limbs(uint32_t **dp, const uint32_t **sp, uint32_t b,         \
                                           uint32_t c)                                             \
    {                                                                                              \
        uint32_t *d = *dp;                                                                         \
        const uint32_t *s = *sp;                                                                   \
        MULADDC_DO(limbs)                                                                          \
        *dp = d;                                                                                   \
        *sp = s;                                                                                   \
        return c;                                                                                  \
    }

#if defined(MULADDC_C)
#define MULADDC_DO(limbs)                                                                          \
    for (int i = 0; i < (limbs); i++) {                                                            \
        uint64_t sum = (uint64_t)*s++ * b + *d + c;                                                \
        *d++ = (uint32_t)sum;                                                                      \
        c = (uint32_t)(sum >> 32);                                                                 \
    }
#else
#define MULADDC_DO(limbs)                                                                          \
    __asm volatile(MULADDC_BODY_##limbs                                                            \
                   : [d] "+r"(d), [s] "+r"(s), [c] "+r"(c)                                         \
                   : [b] "r"(b)                                                                    \
                   : MULADDC_CLOBBERS);
#endif

MULADDC_FUNCTION(16)
MULADDC_FUNCTION(4)
MULADDC_FUNCTION(1)

#endif
