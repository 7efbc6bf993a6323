/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Scalars modulo L = 2^252 + 27742317777372353535851937790883648493, the
   order of the base point (RFC 8032 section 5.1), in constant time. */
#ifndef SC25519_H
#define SC25519_H

#include <stdint.h>

typedef struct {
    uint32_t limb[8]; /* least significant first */
} sc25519;

/* r = a 512-bit hash modulo L */
void sc25519_from_hash(sc25519 *r, const uint8_t hash[64]);
/* s = r + k * a modulo L; r, k < L, a any 256-bit number */
void sc25519_mul_add(sc25519 *s, const sc25519 *r, const sc25519 *k,
                     const sc25519 *a);

#endif
