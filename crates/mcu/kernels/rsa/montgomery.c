/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Montgomery multiplication (HAC 14.36) and squaring. The accumulator d has 2n limbs: the operand
 * goes in, and the result comes out, in the upper half; the lower half is zero before and after.
 */
#include "montgomery.h"

#include "bignum.h"
#include "memory.h"

#define LONGEST_WINDOW 6

static uint32_t d[2 * PRIME_LIMBS];
static uint32_t table[1 << (LONGEST_WINDOW - 1)][PRIME_LIMBS];
static uint32_t base_mont[PRIME_LIMBS], square_of_r[PRIME_LIMBS];

/* -1/m mod 2^32, by Newton's iteration. */
static uint32_t negative_inverse(uint32_t m)
{
    uint32_t x = m;
    for (int i = 0; i < 4; i++) {
        x *= 2 - m * x;
    }
    return -x;
}

/* The upper half, or what is left of it, below the modulus; as much work either way. */
static void finish(const uint32_t *modulus, size_t n, uint32_t carry)
{
    if (carry || bn_compare(d + n, modulus, n) >= 0) {
        bn_sub(d + n, modulus, n);
    } else {
        bn_sub(d, d, n);
    }
    memset(d, 0, n * sizeof *d);
}

static void multiply(const uint32_t *b, const uint32_t *modulus, size_t n, uint32_t inverse)
{
    uint32_t carry = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t a = d[i + n];
        d[i + n] = carry;
        uint32_t q = (d[i] + a * b[0]) * inverse;
        uint32_t high = bn_mul_add(d + i, b, n, a);
        d[i + n] += high;
        carry = d[i + n] < high;
        high = bn_mul_add(d + i, modulus, n, q);
        d[i + n] += high;
        carry += d[i + n] < high;
    }
    finish(modulus, n, carry);
}

/* Reduces the 2n limbs of d row by row. */
static void reduce(const uint32_t *modulus, size_t n, uint32_t inverse)
{
    uint32_t carry = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t high = bn_mul_add(d + i, modulus, n, d[i] * inverse);
        high += carry;
        carry = high < carry;
        d[i + n] += high;
        carry += d[i + n] < high;
    }
    finish(modulus, n, carry);
}

/* What a row of a square hands on: a value below 2^33 for the next word. */
struct carried {
    uint32_t high;
    uint32_t top;
};

#if defined(MULADDC_UMAAL)

/* (c, h, w) = w + 2 x y + (c, h): UMAAL adds the product once, UMLAL once more. */
#define TWICE(w, y)                                                                                \
    "umaal   " w ", %[h], %[x], " y "  \n"                                                         \
    "umlal   " w ", %[c], %[x], " y "  \n"                                                         \
    "adds    %[h], %[h], %[c]         \n"                                                         \
    "adc     %[c], %[zero], #0        \n"
#define SCRATCH "r8", "r9", "r10", "r11"

#elif defined(MULADDC_UMULL)

#define TWICE(w, y)                                                                                \
    "umull   " y ", r12, %[x], " y "   \n"                                                         \
    "adds    " w ", " w ", %[h]        \n"                                                         \
    "adc     %[h], %[c], #0           \n"                                                         \
    "adds    " w ", " w ", " y "       \n"                                                         \
    "adcs    %[h], %[h], r12          \n"                                                         \
    "adc     %[c], %[zero], #0        \n"                                                         \
    "adds    " w ", " w ", " y "       \n"                                                         \
    "adcs    %[h], %[h], r12          \n"                                                         \
    "adc     %[c], %[c], #0           \n"
#define SCRATCH "r8", "r9", "r10", "r11", "r12"

#endif

/* w[k] += 2 x y[k] for all y up to the end. */
#if defined(TWICE)
static struct carried add_row_twice(uint32_t *w, uint32_t x, const uint32_t *y, const uint32_t *end,
                                    uint32_t high)
{
    uint32_t top = 0;
    if ((end - y) & 1) {
        __asm("ldr     r8, [%[y]], #4           \n"
              "ldr     r10, [%[w]]              \n"
              TWICE("r10", "r8")
              "str     r10, [%[w]], #4          \n"
              : [w] "+r"(w), [y] "+r"(y), [h] "+r"(high), [c] "+r"(top)
              : [x] "r"(x), [zero] "r"(0)
              : SCRATCH, "cc", "memory");
    }
    while (y < end) {
        __asm("ldmia   %[y]!, {r8, r9}          \n"
              "ldmia   %[w], {r10, r11}         \n"
              TWICE("r10", "r8")
              TWICE("r11", "r9")
              "stmia   %[w]!, {r10, r11}        \n"
              : [w] "+r"(w), [y] "+r"(y), [h] "+r"(high), [c] "+r"(top)
              : [x] "r"(x), [zero] "r"(0)
              : SCRATCH, "cc", "memory");
    }
    return (struct carried){ high, top };
}
#else
static struct carried add_row_twice(uint32_t *w, uint32_t x, const uint32_t *y, const uint32_t *end,
                                    uint32_t high)
{
    uint32_t top = 0;
    while (y < end) {
        uint64_t product = (uint64_t)x * *y++;
        uint64_t sum = (uint64_t)*w + high + (uint32_t)product + (uint32_t)product;
        *w++ = (uint32_t)sum;
        sum = (sum >> 32) + top + 2 * (product >> 32);
        high = (uint32_t)sum;
        top = (uint32_t)(sum >> 32);
    }
    return (struct carried){ high, top };
}
#endif

/* Row i of the square, x_i x_j for j >= i, then its reduction. */
static void square_twice(const uint32_t *modulus, size_t n, uint32_t inverse)
{
    uint32_t carry = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t x = d[i + n];
        /* x_i has been read for the last time: its place takes the carry of the row before. */
        d[i + n] = carry;
        uint64_t own = (uint64_t)x * x + d[2 * i];
        d[2 * i] = (uint32_t)own;
        struct carried row = add_row_twice(&d[2 * i + 1], x, &d[i + n + 1], &d[2 * n],
                                           (uint32_t)(own >> 32));
        d[i + n] += row.high;
        carry = row.top + (d[i + n] < row.high);
        uint32_t high = bn_mul_add(d + i, modulus, n, d[i] * inverse);
        d[i + n] += high;
        carry += d[i + n] < high;
    }
    finish(modulus, n, carry);
}

/* All products once, doubled, and the squares added: then the reduction. */
static void square_doubled(const uint32_t *modulus, size_t n, uint32_t inverse)
{
    static uint32_t x[PRIME_LIMBS];
    memcpy(x, d + n, n * sizeof *x);
    memset(d, 0, 2 * n * sizeof *d);
    for (size_t i = 0; i + 1 < n; i++) {
        d[i + n] = bn_mul_add(d + 2 * i + 1, x + i + 1, n - i - 1, x[i]);
    }
    uint32_t doubled = 0, carry = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t own = (uint64_t)x[i] * x[i];
        uint32_t low = d[2 * i], top = d[2 * i + 1];
        uint64_t sum = (uint64_t)(low << 1 | doubled) + (uint32_t)own + carry;
        d[2 * i] = (uint32_t)sum;
        sum = (sum >> 32) + (top << 1 | low >> 31) + (own >> 32);
        d[2 * i + 1] = (uint32_t)sum;
        doubled = top >> 31;
        carry = (uint32_t)(sum >> 32);
    }
    reduce(modulus, n, inverse);
}

/* 2^(64 n) mod modulus, by division. */
static void compute_square_of_r(const uint32_t *modulus, size_t n)
{
    static uint32_t r[2 * PRIME_LIMBS];
    memset(r, 0, sizeof r);
    /* 2^(32 n) - modulus has the same remainder as 2^(32 n), and fits. */
    bn_sub(r + n, modulus, n);
    bn_modulo(square_of_r, r, 2 * n, modulus, n);
}

/* The exponentiation under way. */
struct state {
    const struct exponentiation *how;
    uint32_t inverse;
};

static void square_it(const struct state *state)
{
    const struct exponentiation *how = state->how;
    if (how->square == SQUARE_TWICE) {
        square_twice(how->modulus, how->n, state->inverse);
    } else {
        square_doubled(how->modulus, how->n, state->inverse);
    }
}

static void multiply_by(const struct state *state, const uint32_t *b)
{
    multiply(b, state->how->modulus, state->how->n, state->inverse);
}

/* The powers whose exponents have the window's top bit set: base^(2^(w-1)) and on. */
static void fill_table(const struct state *state)
{
    const size_t n = state->how->n, bytes = n * sizeof *d;
    for (uint32_t i = 1; i < state->how->window; i++) {
        square_it(state);
    }
    memcpy(table[0], d + n, bytes);
    for (uint32_t i = 1; i < 1u << (state->how->window - 1); i++) {
        multiply_by(state, base_mont);
        memcpy(table[i], d + n, bytes);
    }
}

static uint32_t bit(const uint32_t *exponent, size_t position)
{
    return exponent[position / 32] >> position % 32 & 1;
}

static void slide(const struct state *state)
{
    const struct exponentiation *how = state->how;
    size_t left = 32 * how->n;
    while (left > 0 && !bit(how->exponent, left - 1)) {
        left--;
    }
    while (left > 0) {
        if (!bit(how->exponent, left - 1)) {
            square_it(state);
            left--;
            continue;
        }
        if (left < how->window) {
            square_it(state);
            multiply_by(state, base_mont);
            left--;
            continue;
        }
        uint32_t digit = 0;
        for (uint32_t i = 0; i < how->window; i++) {
            digit = digit << 1 | bit(how->exponent, --left);
            square_it(state);
        }
        multiply_by(state, table[digit - (1u << (how->window - 1))]);
    }
}

void mont_power(uint32_t *x, const uint32_t *base, const struct exponentiation *how)
{
    const size_t n = how->n, bytes = n * sizeof *d;
    const struct state state = { how, negative_inverse(how->modulus[0]) };
    memset(d, 0, n * sizeof *d);
    compute_square_of_r(how->modulus, n);
    memcpy(d + n, base, bytes);
    multiply_by(&state, square_of_r);
    memcpy(base_mont, d + n, bytes);
    fill_table(&state);
    /* One in Montgomery form: R^2 reduced. */
    memcpy(d, square_of_r, bytes);
    memset(d + n, 0, bytes);
    reduce(how->modulus, n, state.inverse);
    slide(&state);
    memcpy(d, d + n, bytes);
    memset(d + n, 0, bytes);
    reduce(how->modulus, n, state.inverse);
    memcpy(x, d + n, bytes);
}

void mont_product(uint32_t *x, const uint32_t *a, const uint32_t *b, const uint32_t *modulus, size_t n)
{
    const uint32_t inverse = negative_inverse(modulus[0]);
    memset(d, 0, n * sizeof *d);
    compute_square_of_r(modulus, n);
    memcpy(d + n, a, n * sizeof *d);
    multiply(square_of_r, modulus, n, inverse);
    multiply(b, modulus, n, inverse);
    memcpy(x, d + n, n * sizeof *d);
}
