/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fe25519.h"

#include "bytes.h"
#include "muladdc.h"

#define TOP_BIT 0x80000000u

void fe25519_from_bytes(fe25519 *r, const uint8_t bytes[32])
{
    for (int i = 0; i < 8; i++)
        r->limb[i] = load32_le(bytes + 4 * i);
}

/* r = a + addend in 256 bits, the carry out dropped */
static void add_word(uint32_t r[8], const uint32_t a[8], uint32_t addend)
{
    uint32_t carry = addend;

    for (int i = 0; i < 8; i++) {
        uint32_t sum = a[i] + carry;
        carry = sum < carry;
        r[i] = sum;
    }
}

void fe25519_to_bytes(uint8_t bytes[32], const fe25519 *a)
{
    uint32_t t[8], u[8];

    /* Fold bit 255, as 2^255 = 19: t < 2^255 + 19. */
    for (int i = 0; i < 8; i++)
        t[i] = a->limb[i];
    t[7] &= ~TOP_BIT;
    add_word(t, t, 19 * (a->limb[7] >> 31));
    /* t >= p exactly if t + 19 reaches bit 255; t - p is then t + 19 less
       that bit. */
    add_word(u, t, 19);
    add_word(t, t, 19 * (u[7] >> 31));
    t[7] &= ~TOP_BIT;
    for (int i = 0; i < 8; i++)
        store32_le(bytes + 4 * i, t[i]);
}

void fe25519_set(fe25519 *r, uint32_t value)
{
    r->limb[0] = value;
    for (int i = 1; i < 8; i++)
        r->limb[i] = 0;
}

void fe25519_cswap(uint32_t swap, fe25519 *a, fe25519 *b)
{
    const uint32_t mask = 0 - swap;

    for (int i = 0; i < 8; i++) {
        uint32_t dummy = mask & (a->limb[i] ^ b->limb[i]);
        a->limb[i] ^= dummy;
        b->limb[i] ^= dummy;
    }
}

#if defined(MULADDC_C)

/* A carry out of bit 256 is worth 38.  Adding it can carry once more, but
   then leaves a number below 38, which a second 38 cannot make carry. */
void fe25519_add(fe25519 *r, const fe25519 *a, const fe25519 *b)
{
    uint64_t sum = 0;

    for (int i = 0; i < 8; i++) {
        sum += (uint64_t)a->limb[i] + b->limb[i];
        r->limb[i] = (uint32_t)sum;
        sum >>= 32;
    }
    sum *= 38;
    for (int i = 0; i < 8; i++) {
        sum += r->limb[i];
        r->limb[i] = (uint32_t)sum;
        sum >>= 32;
    }
    r->limb[0] += 38 * (uint32_t)sum;
}

void fe25519_sub(fe25519 *r, const fe25519 *a, const fe25519 *b)
{
    int64_t difference = 0;

    for (int i = 0; i < 8; i++) {
        difference += (int64_t)a->limb[i] - b->limb[i];
        r->limb[i] = (uint32_t)difference;
        difference >>= 32;
    }
    difference *= 38;
    for (int i = 0; i < 8; i++) {
        difference += r->limb[i];
        r->limb[i] = (uint32_t)difference;
        difference >>= 32;
    }
    r->limb[0] += 38 * (uint32_t)difference;
}

#else

#define LOAD_8 \
    "ldr %[x0], [%[a_]]\n\t" \
    "ldr %[x1], [%[a_], #4]\n\t" \
    "ldr %[x2], [%[a_], #8]\n\t" \
    "ldr %[x3], [%[a_], #12]\n\t" \
    "ldr %[x4], [%[a_], #16]\n\t" \
    "ldr %[x5], [%[a_], #20]\n\t" \
    "ldr %[x6], [%[a_], #24]\n\t" \
    "ldr %[x7], [%[a_], #28]\n\t"
#define STORE_8 \
    "str %[x0], [%[r_]]\n\t" \
    "str %[x1], [%[r_], #4]\n\t" \
    "str %[x2], [%[r_], #8]\n\t" \
    "str %[x3], [%[r_], #12]\n\t" \
    "str %[x4], [%[r_], #16]\n\t" \
    "str %[x5], [%[r_], #20]\n\t" \
    "str %[x6], [%[r_], #24]\n\t" \
    "str %[x7], [%[r_], #28]\n\t"
/* Two limbs of b at a time, so that their loads pipeline. */
#define COMBINE_2(first, next, i, j, offset_i, offset_j) \
    "ldr %[t0], [%[b_], #" #offset_i "]\n\t" \
    "ldr %[t1], [%[b_], #" #offset_j "]\n\t" \
    first " %[x" #i "], %[x" #i "], %[t0]\n\t" \
    next " %[x" #j "], %[x" #j "], %[t1]\n\t"
#define COMBINE_8(first, next) \
    COMBINE_2 (first, next, 0, 1, 0, 4) \
    COMBINE_2 (next, next, 2, 3, 8, 12) \
    COMBINE_2 (next, next, 4, 5, 16, 20) \
    COMBINE_2 (next, next, 6, 7, 24, 28)
/* t0 = 38 if the carry flag is set (when_set) or clear, otherwise 0 */
#define CARRY_38(when_set) \
    "mov %[t0], #38\n\t" \
    "sbc %[t1], %[t1], %[t1]\n\t" \
    when_set " %[t0], %[t0], %[t1]\n\t"
#define PROPAGATE_38(first, next) \
    first " %[x0], %[x0], %[t0]\n\t" \
    next " %[x1], %[x1], #0\n\t" \
    next " %[x2], %[x2], #0\n\t" \
    next " %[x3], %[x3], #0\n\t" \
    next " %[x4], %[x4], #0\n\t" \
    next " %[x5], %[x5], #0\n\t" \
    next " %[x6], %[x6], #0\n\t" \
    next " %[x7], %[x7], #0\n\t"
#define ADD_OPERANDS \
    : [x0] "=&r" (x0), [x1] "=&r" (x1), [x2] "=&r" (x2), [x3] "=&r" (x3), \
      [x4] "=&r" (x4), [x5] "=&r" (x5), [x6] "=&r" (x6), [x7] "=&r" (x7), \
      [t0] "=&r" (t0), [t1] "=&r" (t1) \
    : [r_] "r" (r->limb), [a_] "r" (a->limb), [b_] "r" (b->limb) \
    : "cc", "memory"

/* A carry out of bit 256 is worth 38.  Adding it can carry once more, but
   then leaves a number below 38, which a second 38 cannot make carry. */
void fe25519_add(fe25519 *r, const fe25519 *a, const fe25519 *b)
{
    uint32_t x0, x1, x2, x3, x4, x5, x6, x7, t0, t1;

    __asm volatile (LOAD_8
                    COMBINE_8 ("adds", "adcs")
                    CARRY_38 ("bic")
                    PROPAGATE_38 ("adds", "adcs")
                    CARRY_38 ("bic")
                    "add %[x0], %[x0], %[t0]\n\t"
                    STORE_8 ADD_OPERANDS);
}

void fe25519_sub(fe25519 *r, const fe25519 *a, const fe25519 *b)
{
    uint32_t x0, x1, x2, x3, x4, x5, x6, x7, t0, t1;

    __asm volatile (LOAD_8
                    COMBINE_8 ("subs", "sbcs")
                    CARRY_38 ("and")
                    PROPAGATE_38 ("subs", "sbcs")
                    CARRY_38 ("and")
                    "sub %[x0], %[x0], %[t0]\n\t"
                    STORE_8 ADD_OPERANDS);
}

#endif

/*
 * r = low + high * small modulo p.  Doing the top limb first shows what will
 * exceed bit 255, so that 19 times it goes in as the row's first carry; the
 * last carry, below small + 1, then fits above the 31 bits left at the top.
 */
ALWAYS_INLINE void fold(uint32_t *r, const uint32_t *low,
                        const uint32_t *high, uint32_t small)
{
    const uint64_t top = (uint64_t)high[7] * small + low[7];
    const uint32_t excess = 19 * (uint32_t)(top >> 31);
    const uint32_t rest = (uint32_t)top & ~TOP_BIT;

    r[7] = rest + mul_add_row(r, low, high, small, excess, 7);
}

void fe25519_mul_small_add(fe25519 *r, const fe25519 *a, const fe25519 *b,
                           uint32_t small)
{
    fold(r->limb, a->limb, b->limb, small);
}

void fe25519_mul(fe25519 *r, const fe25519 *a, const fe25519 *b)
{
    uint32_t t[16];

    mul_8(t, a->limb, b->limb);
    fold(r->limb, t, t + 8, 38);
}

/* t[1..15) = sum of a[i] a[j] 2^(32 (i + j)), i < j; t[0] = t[15] = 0 */
ALWAYS_INLINE void mixed_products(uint32_t t[16], const uint32_t *a)
{
    t[0] = t[15] = 0;
#if defined(MULADDC_UMAAL)
    uint32_t carry = mul_row(t + 1, a + 1, a[0], 1);
    mul_add_2_rows(t + 2, a + 2, a[0], a[1], carry, 6, 1);
    carry = mul_add_row(t + 5, t + 5, a + 3, a[2], 0, 1);
    mul_add_2_rows(t + 6, a + 4, a[2], a[3], carry, 4, 0);
    carry = mul_add_row(t + 9, t + 9, a + 5, a[4], 0, 1);
    mul_add_2_rows(t + 10, a + 6, a[4], a[5], carry, 2, 0);
    t[14] = mul_add_row(t + 13, t + 13, a + 7, a[6], 0, 1);
#else
    t[8] = mul_row(t + 1, a + 1, a[0], 7);
    t[9] = mul_add_row(t + 3, t + 3, a + 2, a[1], 0, 6);
    t[10] = mul_add_row(t + 5, t + 5, a + 3, a[2], 0, 5);
    t[11] = mul_add_row(t + 7, t + 7, a + 4, a[3], 0, 4);
    t[12] = mul_add_row(t + 9, t + 9, a + 5, a[4], 0, 3);
    t[13] = mul_add_row(t + 11, t + 11, a + 6, a[5], 0, 2);
    t[14] = mul_add_row(t + 13, t + 13, a + 7, a[6], 0, 1);
#endif
}

#if defined(MULADDC_C)

/* t = 2 t + sum of a[i]^2 2^(64 i) */
ALWAYS_INLINE void double_and_add_squares(uint32_t *t, const uint32_t *a)
{
    uint32_t shifted_in = 0, carry = 0;

    for (int i = 0; i < 8; i++) {
        const uint64_t square = (uint64_t)a[i] * a[i];
        uint32_t low = t[2 * i], high = t[2 * i + 1];
        uint64_t sum = (uint64_t)(low << 1 | shifted_in) + (uint32_t)square
                     + carry;
        t[2 * i] = (uint32_t)sum;
        sum = (sum >> 32) + (high << 1 | low >> 31) + (square >> 32);
        t[2 * i + 1] = (uint32_t)sum;
        carry = (uint32_t)(sum >> 32);
        shifted_in = high >> 31;
    }
}

#else

#if defined(MULADDC_UMAAL)
/* The flags carry the doubling; UMAAL, which leaves them alone, does the
   rest, the one by z = 0 to add the carry c. */
#define DOUBLE_AND_ADD_SQUARE(i, low, high, first, next) \
    "ldr %[s], [%[a_], #4 * " #i "]\n\t" \
    "ldr %[x], [%[t_], #" #low "]\n\t" \
    "ldr %[y], [%[t_], #" #high "]\n\t" \
    first " %[x], %[x], %[x]\n\t" \
    "adcs %[y], %[y], %[y]\n\t" \
    "umaal %[x], %[c], %[s], %[s]\n\t" \
    "umaal %[y], %[c], %[z], %[z]\n\t" \
    "str %[x], [%[t_], #" #low "]\n\t" \
    "str %[y], [%[t_], #" #high "]\n\t"
#else
/* The flags carry the addition; UMULL and the shifts, which leave them
   alone, do the rest, c being the bit from the limb below. */
#define DOUBLE_AND_ADD_SQUARE(i, low, high, first, next) \
    "ldr %[s], [%[a_], #4 * " #i "]\n\t" \
    "ldr %[x], [%[t_], #" #low "]\n\t" \
    "ldr %[y], [%[t_], #" #high "]\n\t" \
    "umull %[s], %[z], %[s], %[s]\n\t" \
    "orr %[c], %[c], %[x], lsl #1\n\t" \
    first " %[s], %[s], %[c]\n\t" \
    "lsr %[c], %[y], #31\n\t" \
    "lsl %[y], %[y], #1\n\t" \
    "orr %[y], %[y], %[x], lsr #31\n\t" \
    next " %[z], %[z], %[y]\n\t" \
    "str %[s], [%[t_], #" #low "]\n\t" \
    "str %[z], [%[t_], #" #high "]\n\t"
#endif

ALWAYS_INLINE void double_and_add_squares(uint32_t *t, const uint32_t *a)
{
    uint32_t s, x, y, c = 0, z = 0;

    __asm volatile (DOUBLE_AND_ADD_SQUARE (0, 0, 4, "adds", "adcs")
                    DOUBLE_AND_ADD_SQUARE (1, 8, 12, "adcs", "adcs")
                    DOUBLE_AND_ADD_SQUARE (2, 16, 20, "adcs", "adcs")
                    DOUBLE_AND_ADD_SQUARE (3, 24, 28, "adcs", "adcs")
                    DOUBLE_AND_ADD_SQUARE (4, 32, 36, "adcs", "adcs")
                    DOUBLE_AND_ADD_SQUARE (5, 40, 44, "adcs", "adcs")
                    DOUBLE_AND_ADD_SQUARE (6, 48, 52, "adcs", "adcs")
                    DOUBLE_AND_ADD_SQUARE (7, 56, 60, "adcs", "adcs")
                    : [s] "=&r" (s), [x] "=&r" (x), [y] "=&r" (y),
                      [c] "+&r" (c), [z] "+&r" (z)
                    : [t_] "r" (t), [a_] "r" (a)
                    : "cc", "memory");
}

#endif

void fe25519_square(fe25519 *r, const fe25519 *a)
{
    uint32_t t[16];

    mixed_products(t, a->limb);
    double_and_add_squares(t, a->limb);
    fold(r->limb, t, t + 8, 38);
}

void fe25519_square_times(fe25519 *r, const fe25519 *a, unsigned n)
{
    fe25519_square(r, a);
    while (--n)
        fe25519_square(r, r);
}

/* a^(p-2) with p - 2 = 2^255 - 21; an is a^(2^n - 1). */
void fe25519_invert(fe25519 *r, const fe25519 *a)
{
    fe25519 a_2, a_9, a_11, a5, a10, a50, t;

    fe25519_square(&a_2, a);
    fe25519_square_times(&t, &a_2, 2);
    fe25519_mul(&a_9, &t, a);
    fe25519_mul(&a_11, &a_9, &a_2);
    fe25519_square(&t, &a_11);
    fe25519_mul(&a5, &t, &a_9); /* 22 + 9 = 31 */
    fe25519_square_times(&t, &a5, 5);
    fe25519_mul(&a10, &t, &a5);
    fe25519_square_times(&t, &a10, 10);
    fe25519_mul(&t, &t, &a10); /* a20 */
    fe25519_square_times(&a50, &t, 20);
    fe25519_mul(&t, &a50, &t); /* a40 */
    fe25519_square_times(&t, &t, 10);
    fe25519_mul(&a50, &t, &a10);
    fe25519_square_times(&t, &a50, 50);
    fe25519_mul(&t, &t, &a50); /* a100 */
    fe25519_square_times(&a10, &t, 100);
    fe25519_mul(&t, &a10, &t); /* a200 */
    fe25519_square_times(&t, &t, 50);
    fe25519_mul(&t, &t, &a50); /* a250 */
    fe25519_square_times(&t, &t, 5);
    fe25519_mul(r, &t, &a_11); /* 2^255 - 2^5 + 11 */
}
