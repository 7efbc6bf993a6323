/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef MONTGOMERY_H
#define MONTGOMERY_H

#include <stddef.h>
#include <stdint.h>

/* How the products x_i x_j, i != j, of a square are counted twice. */
enum square {
    SQUARE_DOUBLED, /* all of them are summed, and the sum is doubled */
    SQUARE_TWICE,   /* each is added twice */
};

/* x[0..n] = base^exponent mod modulus, sliding window (HAC 14.85); modulus odd with its top bit set. */
struct exponentiation {
    const uint32_t *modulus;
    const uint32_t *exponent;
    size_t n; /* limbs of both */
    uint32_t window;
    enum square square;
};
void mont_power(uint32_t *x, const uint32_t *base, const struct exponentiation *how);
/* x = a * b mod modulus; a and b below it. */
void mont_product(uint32_t *x, const uint32_t *a, const uint32_t *b, const uint32_t *modulus, size_t n);

#endif
