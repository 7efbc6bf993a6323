/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The field of p = 2^255 - 19 (RFC 7748 section 4.1).  An element is any
 * 256-bit number congruent to it: operations reduce modulo 2^256 - 38 = 2p
 * only as far as eight limbs need, and fe25519_to_bytes does the rest.
 * All run in constant time; results may be the same objects as operands.
 */
#ifndef FE25519_H
#define FE25519_H

#include <stdint.h>

typedef struct {
    uint32_t limb[8]; /* least significant first */
} fe25519;

void fe25519_from_bytes(fe25519 *r, const uint8_t bytes[32]);
void fe25519_to_bytes(uint8_t bytes[32], const fe25519 *a);
void fe25519_set(fe25519 *r, uint32_t value);

void fe25519_add(fe25519 *r, const fe25519 *a, const fe25519 *b);
void fe25519_sub(fe25519 *r, const fe25519 *a, const fe25519 *b);
void fe25519_mul(fe25519 *r, const fe25519 *a, const fe25519 *b);
void fe25519_square(fe25519 *r, const fe25519 *a);
/* r = a^(2^n) */
void fe25519_square_times(fe25519 *r, const fe25519 *a, unsigned n);
/* r = a + b * small, small < 2^24 */
void fe25519_mul_small_add(fe25519 *r, const fe25519 *a, const fe25519 *b,
                           uint32_t small);
/* r = 1 / a, and 0 for 0 */
void fe25519_invert(fe25519 *r, const fe25519 *a);

/* Exchanges a and b if swap is 1, not if 0. */
void fe25519_cswap(uint32_t swap, fe25519 *a, fe25519 *b);

#endif
