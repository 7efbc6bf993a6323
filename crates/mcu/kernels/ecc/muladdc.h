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
 * (2^32-1)^2 + 2 (2^32-1) = 2^64-1.  MULC_1 and MULC_4 (r, s, b, carry, i)
 * are the same with d = 0.  On top of the steps:
 *
 *   mul_add_row(r, d, s, b, carry, n)  r = d + s*b + carry, n <= 8 limbs
 *   mul_row(r, s, b, n)                r = s*b
 *   mul_add_row_8(d, s, b, carry)      d[0..8) += s[0..8)*b + carry
 *   mul_8(r, a, b)                     r[0..16) = a[0..8)*b[0..8)
 *
 * the rows returning the carry out.  The rows of RSA are longer, with registers
 * for more of them at a time: rsa/muladdc.h has steps of its own.
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

/* Each step reads all its operands before it writes, so that r may be d or s.
   Fixed offsets from whole pointers keep the compiler from computing (and
   spilling) an address for every limb. */
#define MULADDC_ASM_1(text, r, d, s, b, carry, i) do { \
    uint32_t x0_, y0_; \
    __asm volatile (text \
        : [c] "+&r" (carry), [x0] "=&r" (x0_), [y0] "=&r" (y0_) \
        : [b_] "r" (b), [r_] "r" (r), [d_] "r" (d), [s_] "r" (s), \
          [o] "i" (4 * (i)) \
        : "cc", "memory"); \
} while (0)
#define MULADDC_ASM_4(text, r, d, s, b, carry, i) do { \
    uint32_t x0_, x1_, x2_, x3_, y0_, y1_, y2_; \
    __asm volatile (text \
        : [c] "+&r" (carry), [x0] "=&r" (x0_), [x1] "=&r" (x1_), \
          [x2] "=&r" (x2_), [x3] "=&r" (x3_), [y0] "=&r" (y0_), \
          [y1] "=&r" (y1_), [y2] "=&r" (y2_) \
        : [b_] "r" (b), [r_] "r" (r), [d_] "r" (d), [s_] "r" (s), \
          [o] "i" (4 * (i)) \
        : "cc", "memory"); \
} while (0)
#define LIMB(operation, name, pointer, j) \
    operation " %[" #name "], [%[" #pointer "], #%c[o] + 4 * " #j "]\n\t"
#define LOAD_S_4 \
    LIMB ("ldr", x0, s_, 0) LIMB ("ldr", x1, s_, 1) \
    LIMB ("ldr", x2, s_, 2) LIMB ("ldr", x3, s_, 3)

#if defined(MULADDC_UMAAL)

/* UMAAL is the whole step: (hi : lo) = x * b + lo + hi. */
#define UMAAL(lo, hi, x, b) \
    "umaal %[" #lo "], %[" #hi "], %[" #x "], %[" #b "]\n\t"
#define ZERO(x) "mov %[" #x "], #0\n\t"

#define MULADDC_1(r, d, s, b, carry, i) \
    MULADDC_ASM_1 (LIMB ("ldr", x0, s_, 0) LIMB ("ldr", y0, d_, 0) \
                   UMAAL (y0, c, x0, b_) LIMB ("str", y0, r_, 0), \
                   r, d, s, b, carry, i)
#define MULC_1(r, s, b, carry, i) \
    MULADDC_ASM_1 (LIMB ("ldr", x0, s_, 0) ZERO (y0) \
                   UMAAL (y0, c, x0, b_) LIMB ("str", y0, r_, 0), \
                   r, r, s, b, carry, i)

/* Loads and stores are together so that they pipeline, a cycle each. */
#define MULADDC_4(r, d, s, b, carry, i) \
    MULADDC_ASM_4 (LOAD_S_4 \
                   LIMB ("ldr", y0, d_, 0) LIMB ("ldr", y1, d_, 1) \
                   LIMB ("ldr", y2, d_, 2) UMAAL (y0, c, x0, b_) \
                   LIMB ("ldr", x0, d_, 3) UMAALS_4, r, d, s, b, carry, i)
#define MULC_4(r, s, b, carry, i) \
    MULADDC_ASM_4 (LOAD_S_4 ZERO (y0) ZERO (y1) ZERO (y2) \
                   UMAAL (y0, c, x0, b_) ZERO (x0) UMAALS_4, \
                   r, r, s, b, carry, i)
#define UMAALS_4 \
    UMAAL (y1, c, x1, b_) UMAAL (y2, c, x2, b_) UMAAL (x0, c, x3, b_) \
    LIMB ("str", y0, r_, 0) LIMB ("str", y1, r_, 1) \
    LIMB ("str", y2, r_, 2) LIMB ("str", x0, r_, 3)

/*
 * Two columns of two rows at once, d[i..] += s[i..] * b0 + s[i-1..] * b1 as
 * it were: halves the loads and stores of d.  before is s[i-1] (0 where the
 * row starts) and becomes s[i+1].  MULC_2X2 has d = 0.
 */
#define MULADDC_2X2(d, s, b0, b1, carry0, carry1, before, i) \
    MULADDC_ASM_2X2 (LIMB ("ldr", y0, d_, 0) LIMB ("ldr", y1, d_, 1), \
                     d, s, b0, b1, carry0, carry1, before, i)
#define MULC_2X2(d, s, b0, b1, carry0, carry1, before, i) \
    MULADDC_ASM_2X2 (ZERO (y0) ZERO (y1), \
                     d, s, b0, b1, carry0, carry1, before, i)
#define MULADDC_ASM_2X2(text, d, s, b0, b1, carry0, carry1, before, i) do { \
    uint32_t x0_, x1_, y0_, y1_; \
    __asm volatile ( \
        LIMB ("ldr", x0, s_, 0) LIMB ("ldr", x1, s_, 1) text \
        UMAAL (y0, c0, x0, b0_) UMAAL (y0, c1, xp, b1_) \
        UMAAL (y1, c0, x1, b0_) UMAAL (y1, c1, x0, b1_) \
        LIMB ("str", y0, d_, 0) LIMB ("str", y1, d_, 1) \
        : [c0] "+&r" (carry0), [c1] "+&r" (carry1), [x0] "=&r" (x0_), \
          [x1] "=&r" (x1_), [y0] "=&r" (y0_), [y1] "=&r" (y1_) \
        : [b0_] "r" (b0), [b1_] "r" (b1), [xp] "r" (before), [d_] "r" (d), \
          [s_] "r" (s), [o] "i" (4 * (i)) \
        : "memory"); \
    (before) = x1_; \
} while (0)
/* What the second row has left: (carry1 : carry0) += before * b1 + carry1 */
#define MULADDC_2X2_END(b1, carry0, carry1, before) \
    __asm ("umaal %0, %1, %2, %3" \
           : "+&r" (carry0), "+&r" (carry1) : "r" (before), "r" (b1))

#elif defined(MULADDC_UMULL)

#define UMULL(lo, hi) "umull %[" #lo "], %[" #hi "], %[" #lo "], %[b_]\n\t"
#define ADD(operation, to, x) \
    operation " %[" #to "], %[" #to "], %[" #x "]\n\t"

#define MULADDC_1(r, d, s, b, carry, i) \
    MULADDC_ASM_1 (LIMB ("ldr", x0, s_, 0) UMULL (x0, y0) \
                   ADD ("adds", x0, c) LIMB ("ldr", c, d_, 0) \
                   "adc %[y0], %[y0], #0\n\t" ADD ("adds", x0, c) \
                   "adc %[c], %[y0], #0\n\t" LIMB ("str", x0, r_, 0), \
                   r, d, s, b, carry, i)
#define MULC_1(r, s, b, carry, i) \
    MULADDC_ASM_1 (LIMB ("ldr", x0, s_, 0) UMULL (x0, y0) \
                   ADD ("adds", x0, c) "adc %[c], %[y0], #0\n\t" \
                   LIMB ("str", x0, r_, 0), r, r, s, b, carry, i)

/* Two carry chains of four limbs: 10 additions, where four steps need 16.
   UMULL and LDR leave the flags alone. */
#define MULADDC_4(r, d, s, b, carry, i) \
    MULADDC_ASM_4 (PRODUCTS_4 \
                   LIMB ("ldr", y0, d_, 0) LIMB ("ldr", y1, d_, 1) \
                   LIMB ("ldr", y2, d_, 2) ADD ("adds", x0, y0) \
                   LIMB ("ldr", y0, d_, 3) ADD ("adcs", x1, y1) \
                   ADD ("adcs", x2, y2) ADD ("adcs", x3, y0) \
                   "adc %[c], %[c], #0\n\t" STORES_4, r, d, s, b, carry, i)
#define MULC_4(r, s, b, carry, i) \
    MULADDC_ASM_4 (PRODUCTS_4 STORES_4, r, r, s, b, carry, i)

/* (c : x3 : x2 : x1 : x0) = s[0..4) * b + c */
#define PRODUCTS_4 \
    LOAD_S_4 \
    UMULL (x0, y0) ADD ("adds", x0, c) \
    UMULL (x1, y1) ADD ("adcs", x1, y0) \
    UMULL (x2, y2) ADD ("adcs", x2, y1) \
    UMULL (x3, c) ADD ("adcs", x3, y2) \
    "adc %[c], %[c], #0\n\t"
#define STORES_4 \
    LIMB ("str", x0, r_, 0) LIMB ("str", x1, r_, 1) \
    LIMB ("str", x2, r_, 2) LIMB ("str", x3, r_, 3)

#elif defined(MULADDC_C)

#define STEP(r, addend, s, b, carry, i) do { \
    uint64_t step_ = (uint64_t)(s)[(i)] * (b) + (addend) + (carry); \
    (r)[(i)] = (uint32_t)step_; \
    (carry) = (uint32_t)(step_ >> 32); \
} while (0)
#define MULADDC_1(r, d, s, b, carry, i) STEP (r, (d)[(i)], s, b, carry, i)
#define MULC_1(r, s, b, carry, i) STEP (r, 0, s, b, carry, i)

#define MULADDC_4(r, d, s, b, carry, i) do { \
    MULADDC_1 (r, d, s, b, carry, (i)); \
    MULADDC_1 (r, d, s, b, carry, (i) + 1); \
    MULADDC_1 (r, d, s, b, carry, (i) + 2); \
    MULADDC_1 (r, d, s, b, carry, (i) + 3); \
} while (0)
#define MULC_4(r, s, b, carry, i) do { \
    MULC_1 (r, s, b, carry, (i)); \
    MULC_1 (r, s, b, carry, (i) + 1); \
    MULC_1 (r, s, b, carry, (i) + 2); \
    MULC_1 (r, s, b, carry, (i) + 3); \
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

ALWAYS_INLINE uint32_t mul_row(uint32_t *r, const uint32_t *s, uint32_t b,
                               unsigned n)
{
    const unsigned tail = n & ~3u;
    uint32_t carry = 0;

    if (n >= 4)
        MULC_4 (r, s, b, carry, 0);
    if (n >= 8)
        MULC_4 (r, s, b, carry, 4);
    if (n - tail >= 1)
        MULC_1 (r, s, b, carry, tail);
    if (n - tail >= 2)
        MULC_1 (r, s, b, carry, tail + 1);
    if (n - tail >= 3)
        MULC_1 (r, s, b, carry, tail + 2);
    return carry;
}

ALWAYS_INLINE uint32_t mul_add_row_8(uint32_t *d, const uint32_t *s,
                                     uint32_t b, uint32_t carry)
{
    return mul_add_row(d, d, s, b, carry, 8);
}

#if defined(MULADDC_UMAAL)

/* d[0..n+2) = d[0..n) + s[0..n) * (b0 + 2^32 b1) + carry, n = 2, 4, 6, 8;
   with clear, as if d were 0. */
ALWAYS_INLINE void mul_add_2_rows(uint32_t *d, const uint32_t *s, uint32_t b0,
                                  uint32_t b1, uint32_t carry, unsigned n,
                                  int clear)
{
    uint32_t carry1 = 0, before = 0;

#define TWO_COLUMNS(i) \
    if (n > (i) && clear) \
        MULC_2X2 (d, s, b0, b1, carry, carry1, before, i); \
    else if (n > (i)) \
        MULADDC_2X2 (d, s, b0, b1, carry, carry1, before, i)
    TWO_COLUMNS (0);
    TWO_COLUMNS (2);
    TWO_COLUMNS (4);
    TWO_COLUMNS (6);
#undef TWO_COLUMNS
    MULADDC_2X2_END (b1, carry, carry1, before);
    d[n] = carry;
    d[n + 1] = carry1;
}

#endif

/* r apart from a and b */
ALWAYS_INLINE void mul_8(uint32_t *r, const uint32_t *a, const uint32_t *b)
{
#if defined(MULADDC_UMAAL)
    mul_add_2_rows(r, a, b[0], b[1], 0, 8, 1);
    for (int i = 2; i < 8; i += 2)
        mul_add_2_rows(r + i, a, b[i], b[i + 1], 0, 8, 0);
#else
    r[8] = mul_row(r, a, b[0], 8);
    for (int i = 1; i < 8; i++)
        r[i + 8] = mul_add_row_8(r + i, a, b[i], 0);
#endif
}

#endif
