/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * MULADDC: the multiply-accumulate step every big-number routine is made of.
 *
 *   MULADDC_1(r, d, s, b, carry, i)   one step:
 *       carry : r[i] = d[i] + s[i] * b + carry
 *   MULADDC_4(r, d, s, b, carry, i)   four steps, at i, i+1, i+2, i+3
 *
 * r, d, s are uint32_t pointers (r == d is usual), b and carry are uint32_t
 * lvalues, i is a constant.  A step cannot overflow, because
 * (2^32-1)^2 + 2 (2^32-1) = 2^64-1.  On top of the steps:
 *
 *   mul_add_row(r, d, s, b, carry, n)  r = d + s*b + carry, n <= 8 limbs
 *   mul_add_row_8(d, s, b, carry)      d[0..8) += s[0..8)*b + carry
 *   mul_row_8(d, s, b)                 d[0..8)  = s[0..8)*b
 *
 * each returning the carry out.  An RSA bignum calls mul_add_row_8 once per
 * eight limbs, with the carry of the one call passed to the next.
 *
 * Choose one: MULADDC_UMAAL (Armv7E-M, Cortex-M4), MULADDC_UMULL (Armv7-M,
 * Cortex-M3), MULADDC_C (portable).  Constant time needs a constant-time
 * multiplier: true of the Cortex-M4, but UMULL of the Cortex-M3 stops early
 * for small operands (DDI 0337, 3 to 5 cycles), which code cannot hide.
 */
#ifndef MULADDC_H
#define MULADDC_H

#include <stdint.h>

#define ALWAYS_INLINE static inline __attribute__ ((always_inline))

#define MULADDC_OPERANDS_4(s, i) \
    [s0] "m" ((s)[(i)]), [s1] "m" ((s)[(i) + 1]), \
    [s2] "m" ((s)[(i) + 2]), [s3] "m" ((s)[(i) + 3])
#define MULADDC_INPUTS_4(d, i) \
    [d0] "m" ((d)[(i)]), [d1] "m" ((d)[(i) + 1]), \
    [d2] "m" ((d)[(i) + 2]), [d3] "m" ((d)[(i) + 3])
#define MULADDC_RESULTS_4(r, i) \
    [r0] "=m" ((r)[(i)]), [r1] "=m" ((r)[(i) + 1]), \
    [r2] "=m" ((r)[(i) + 2]), [r3] "=m" ((r)[(i) + 3])
#define MULADDC_SCRATCH_6 \
    [x0] "=&r" (x0_), [x1] "=&r" (x1_), [x2] "=&r" (x2_), [x3] "=&r" (x3_), \
    [y0] "=&r" (y0_), [y1] "=&r" (y1_)
#define MULADDC_DECLARE_6 uint32_t x0_, x1_, x2_, x3_, y0_, y1_

#if defined(MULADDC_UMAAL)

/* UMAAL is the whole step: (hi : lo) = x * b + lo + hi. */
#define MULADDC_1(r, d, s, b, carry, i) do { \
    uint32_t x0_, y0_; \
    __asm ("ldr %[x0], %[s0]\n\t" \
           "ldr %[y0], %[d0]\n\t" \
           "umaal %[y0], %[c], %[x0], %[b_]\n\t" \
           "str %[y0], %[r0]" \
           : [c] "+&r" (carry), [x0] "=&r" (x0_), [y0] "=&r" (y0_), \
             [r0] "=m" ((r)[(i)]) \
           : [b_] "r" (b), [s0] "m" ((s)[(i)]), [d0] "m" ((d)[(i)])); \
} while (0)

/* Loads and stores stand together so that they pipeline, a cycle each. */
#define MULADDC_4(r, d, s, b, carry, i) do { \
    MULADDC_DECLARE_6; \
    uint32_t y2_, y3_; \
    __asm ("ldr %[x0], %[s0]\n\t" \
           "ldr %[x1], %[s1]\n\t" \
           "ldr %[x2], %[s2]\n\t" \
           "ldr %[x3], %[s3]\n\t" \
           "ldr %[y0], %[d0]\n\t" \
           "ldr %[y1], %[d1]\n\t" \
           "ldr %[y2], %[d2]\n\t" \
           "ldr %[y3], %[d3]\n\t" \
           "umaal %[y0], %[c], %[x0], %[b_]\n\t" \
           "umaal %[y1], %[c], %[x1], %[b_]\n\t" \
           "umaal %[y2], %[c], %[x2], %[b_]\n\t" \
           "umaal %[y3], %[c], %[x3], %[b_]\n\t" \
           "str %[y0], %[r0]\n\t" \
           "str %[y1], %[r1]\n\t" \
           "str %[y2], %[r2]\n\t" \
           "str %[y3], %[r3]" \
           : [c] "+&r" (carry), MULADDC_SCRATCH_6, [y2] "=&r" (y2_), \
             [y3] "=&r" (y3_), MULADDC_RESULTS_4 (r, i) \
           : [b_] "r" (b), MULADDC_OPERANDS_4 (s, i), \
             MULADDC_INPUTS_4 (d, i)); \
} while (0)

/*
 * Two columns of two rows at once, one row a limb behind the other; halves
 * the loads and stores of d.  before is s[i-1] (0 at the start of a row) and
 * becomes s[i+1].
 */
#define MULADDC_2X2(d, s, b0, b1, carry0, carry1, before, i) do { \
    uint32_t x0_, x1_, y0_, y1_; \
    __asm ("ldr %[x0], %[s0]\n\t" \
           "ldr %[x1], %[s1]\n\t" \
           "ldr %[y0], %[d0]\n\t" \
           "ldr %[y1], %[d1]\n\t" \
           "umaal %[y0], %[c0], %[x0], %[b0_]\n\t" \
           "umaal %[y0], %[c1], %[xp], %[b1_]\n\t" \
           "umaal %[y1], %[c0], %[x1], %[b0_]\n\t" \
           "umaal %[y1], %[c1], %[x0], %[b1_]\n\t" \
           "str %[y0], %[d0]\n\t" \
           "str %[y1], %[d1]" \
           : [c0] "+&r" (carry0), [c1] "+&r" (carry1), \
             [x0] "=&r" (x0_), [x1] "=&r" (x1_), \
             [y0] "=&r" (y0_), [y1] "=&r" (y1_), \
             [d0] "+m" ((d)[(i)]), [d1] "+m" ((d)[(i) + 1]) \
           : [b0_] "r" (b0), [b1_] "r" (b1), [xp] "r" (before), \
             [s0] "m" ((s)[(i)]), [s1] "m" ((s)[(i) + 1])); \
    (before) = x1_; \
} while (0)

#elif defined(MULADDC_UMULL)

#define MULADDC_1(r, d, s, b, carry, i) do { \
    uint32_t x0_, y0_; \
    __asm ("ldr %[x0], %[s0]\n\t" \
           "umull %[x0], %[y0], %[x0], %[b_]\n\t" \
           "adds %[x0], %[x0], %[c]\n\t" \
           "ldr %[c], %[d0]\n\t" \
           "adc %[y0], %[y0], #0\n\t" \
           "adds %[x0], %[x0], %[c]\n\t" \
           "adc %[c], %[y0], #0\n\t" \
           "str %[x0], %[r0]" \
           : [c] "+&r" (carry), [x0] "=&r" (x0_), [y0] "=&r" (y0_), \
             [r0] "=m" ((r)[(i)]) \
           : [b_] "r" (b), [s0] "m" ((s)[(i)]), [d0] "m" ((d)[(i)]) \
           : "cc"); \
} while (0)

/* Two carry chains of four limbs: 10 additions, where four steps need 16.
   UMULL and LDR leave the flags alone. */
#define MULADDC_4(r, d, s, b, carry, i) do { \
    MULADDC_DECLARE_6; \
    __asm (MULADDC_PRODUCTS_4 \
           "ldr %[y0], %[d0]\n\t" \
           "ldr %[y1], %[d1]\n\t" \
           "adds %[x0], %[x0], %[y0]\n\t" \
           "adcs %[x1], %[x1], %[y1]\n\t" \
           "ldr %[y0], %[d2]\n\t" \
           "ldr %[y1], %[d3]\n\t" \
           "adcs %[x2], %[x2], %[y0]\n\t" \
           "adcs %[x3], %[x3], %[y1]\n\t" \
           "adc %[c], %[c], #0\n\t" \
           MULADDC_STORES_4 \
           : [c] "+&r" (carry), MULADDC_SCRATCH_6, MULADDC_RESULTS_4 (r, i) \
           : [b_] "r" (b), MULADDC_OPERANDS_4 (s, i), \
             MULADDC_INPUTS_4 (d, i) \
           : "cc"); \
} while (0)

/* The same with d = 0, for the first row of a product. */
#define MULC_4(r, s, b, carry, i) do { \
    MULADDC_DECLARE_6; \
    __asm (MULADDC_PRODUCTS_4 MULADDC_STORES_4 \
           : [c] "+&r" (carry), MULADDC_SCRATCH_6, MULADDC_RESULTS_4 (r, i) \
           : [b_] "r" (b), MULADDC_OPERANDS_4 (s, i) \
           : "cc"); \
} while (0)

/* (c : x3 : x2 : x1 : x0) = s[0..4) * b + c */
#define MULADDC_PRODUCTS_4 \
    "ldr %[x0], %[s0]\n\t" \
    "ldr %[x1], %[s1]\n\t" \
    "ldr %[x2], %[s2]\n\t" \
    "ldr %[x3], %[s3]\n\t" \
    "umull %[x0], %[y0], %[x0], %[b_]\n\t" \
    "adds %[x0], %[x0], %[c]\n\t" \
    "umull %[x1], %[y1], %[x1], %[b_]\n\t" \
    "adcs %[x1], %[x1], %[y0]\n\t" \
    "umull %[x2], %[y0], %[x2], %[b_]\n\t" \
    "adcs %[x2], %[x2], %[y1]\n\t" \
    "umull %[x3], %[c], %[x3], %[b_]\n\t" \
    "adcs %[x3], %[x3], %[y0]\n\t" \
    "adc %[c], %[c], #0\n\t"
#define MULADDC_STORES_4 \
    "str %[x0], %[r0]\n\t" \
    "str %[x1], %[r1]\n\t" \
    "str %[x2], %[r2]\n\t" \
    "str %[x3], %[r3]\n\t"

#elif defined(MULADDC_C)

#define MULADDC_1(r, d, s, b, carry, i) do { \
    uint64_t step_ = (uint64_t)(s)[(i)] * (b) + (d)[(i)] + (carry); \
    (r)[(i)] = (uint32_t)step_; \
    (carry) = (uint32_t)(step_ >> 32); \
} while (0)

#define MULADDC_4(r, d, s, b, carry, i) do { \
    MULADDC_1 (r, d, s, b, carry, (i)); \
    MULADDC_1 (r, d, s, b, carry, (i) + 1); \
    MULADDC_1 (r, d, s, b, carry, (i) + 2); \
    MULADDC_1 (r, d, s, b, carry, (i) + 3); \
} while (0)

#else
#error "define MULADDC_UMAAL, MULADDC_UMULL or MULADDC_C"
#endif

/* n must be a constant: the tests on it disappear. */
ALWAYS_INLINE uint32_t mul_add_row(uint32_t *r, const uint32_t *d,
                                   const uint32_t *s, uint32_t b,
                                   uint32_t carry, unsigned n)
{
    const unsigned tail = n & ~3u;

    if (n >= 4)
        MULADDC_4 (r, d, s, b, carry, 0);
    if (n >= 8)
        MULADDC_4 (r, d, s, b, carry, 4);
    if (n - tail >= 1)
        MULADDC_1 (r, d, s, b, carry, tail);
    if (n - tail >= 2)
        MULADDC_1 (r, d, s, b, carry, tail + 1);
    if (n - tail >= 3)
        MULADDC_1 (r, d, s, b, carry, tail + 2);
    return carry;
}

ALWAYS_INLINE uint32_t mul_add_row_8(uint32_t *d, const uint32_t *s,
                                     uint32_t b, uint32_t carry)
{
    return mul_add_row(d, d, s, b, carry, 8);
}

ALWAYS_INLINE uint32_t mul_row_8(uint32_t *d, const uint32_t *s, uint32_t b)
{
    uint32_t carry = 0;

#if defined(MULADDC_UMULL)
    MULC_4 (d, s, b, carry, 0);
    MULC_4 (d, s, b, carry, 4);
#else
    for (int i = 0; i < 8; i++)
        d[i] = 0;
    carry = mul_add_row_8(d, s, b, 0);
#endif
    return carry;
}

/* r[0..16) = a[0..8) * b[0..8), r apart from a and b. */
ALWAYS_INLINE void mul_8(uint32_t *r, const uint32_t *a, const uint32_t *b)
{
#if defined(MULADDC_UMAAL)
    for (int i = 0; i < 8; i++)
        r[i] = 0;
    for (int i = 0; i < 8; i += 2) {
        uint32_t carry0 = 0, carry1 = 0, before = 0;
        const uint32_t b0 = b[i], b1 = b[i + 1];
        uint32_t *d = r + i;

        MULADDC_2X2 (d, a, b0, b1, carry0, carry1, before, 0);
        MULADDC_2X2 (d, a, b0, b1, carry0, carry1, before, 2);
        MULADDC_2X2 (d, a, b0, b1, carry0, carry1, before, 4);
        MULADDC_2X2 (d, a, b0, b1, carry0, carry1, before, 6);
        __asm ("umaal %0, %1, %2, %3"
               : "+&r" (carry0), "+&r" (carry1) : "r" (before), "r" (b1));
        d[8] = carry0;
        d[9] = carry1;
    }
#else
    r[8] = mul_row_8(r, a, b[0]);
    for (int i = 1; i < 8; i++)
        r[i + 8] = mul_add_row_8(r + i, a, b[i], 0);
#endif
}

#endif
