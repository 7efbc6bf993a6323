/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Big numbers: little-endian arrays of 32-bit limbs, lengths in limbs. */
#ifndef BIGNUM_H
#define BIGNUM_H

#include <stddef.h>
#include <stdint.h>

/* The longest prime: half of RSA-4096. */
#define PRIME_LIMBS 64
#define MODULUS_LIMBS (2 * PRIME_LIMBS)

/* d[0..n] += s[0..n] * b; returns the carry. */
uint32_t bn_mul_add(uint32_t *d, const uint32_t *s, size_t n, uint32_t b);
/* d[0..n] += s[0..n], or -=; return carry or borrow. */
uint32_t bn_add(uint32_t *d, const uint32_t *s, size_t n);
uint32_t bn_sub(uint32_t *d, const uint32_t *s, size_t n);
/* -1, 0 or 1. */
int bn_compare(const uint32_t *a, const uint32_t *b, size_t n);
/* d >>= 1, with this bit coming in at the top. */
void bn_shift_right(uint32_t *d, size_t n, uint32_t top);
/* product[0..2n] = a[0..n] * b[0..n]. */
void bn_multiply(uint32_t *product, const uint32_t *a, const uint32_t *b, size_t n);
/* r[0..n] = a[0..an] mod m[0..n], Knuth's algorithm D. m's top bit is set; an <= MODULUS_LIMBS. */
void bn_modulo(uint32_t *r, const uint32_t *a, size_t an, const uint32_t *m, size_t n);
/* inverse[0..n] = a^-1 mod m, binary extended gcd (HAC 14.61). Returns 0 where there is none. */
int bn_inverse(uint32_t *inverse, const uint32_t *a, size_t an, const uint32_t *m, size_t n);

#endif
