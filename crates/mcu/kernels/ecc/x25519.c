/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "x25519.h"

#include "bytes.h"
#include "fe25519.h"

#define A24 121665 /* (486662 - 2) / 4 */

typedef struct {
    fe25519 x_2, z_2, x_3, z_3;
} ladder;

/* decodeScalar25519, RFC 7748 section 5 */
static void decode_scalar(uint32_t k[8], const uint8_t scalar[32])
{
    for (int i = 0; i < 8; i++)
        k[i] = load32_le(scalar + 4 * i);
    k[0] &= ~7u;
    k[7] = (k[7] & 0x7fffffff) | 0x40000000;
}

/* One step of the ladder, RFC 7748 section 5, the names as there. */
static void ladder_step(ladder *l, const fe25519 *x_1)
{
    fe25519 A, B, E, CB;

    fe25519_add(&A, &l->x_2, &l->z_2);
    fe25519_sub(&B, &l->x_2, &l->z_2);
    fe25519_add(&CB, &l->x_3, &l->z_3); /* C */
    fe25519_sub(&l->x_3, &l->x_3, &l->z_3); /* D */
    fe25519_mul(&l->z_3, &l->x_3, &A); /* DA */
    fe25519_mul(&CB, &CB, &B);
    fe25519_square(&A, &A); /* AA */
    fe25519_square(&B, &B); /* BB */

    fe25519_add(&l->x_3, &l->z_3, &CB);
    fe25519_sub(&l->z_3, &l->z_3, &CB);
    fe25519_square(&l->x_3, &l->x_3);
    fe25519_square(&l->z_3, &l->z_3);
    fe25519_mul(&l->z_3, &l->z_3, x_1);

    fe25519_mul(&l->x_2, &A, &B);
    fe25519_sub(&E, &A, &B);
    fe25519_mul_small_add(&A, &A, &E, A24); /* AA + a24 * E */
    fe25519_mul(&l->z_2, &E, &A);
}

void x25519(uint8_t out[32], const uint8_t scalar[32], const uint8_t point[32])
{
    uint32_t k[8], swap = 0;
    fe25519 x_1;
    ladder l;

    decode_scalar(k, scalar);
    fe25519_from_bytes(&x_1, point);
    x_1.limb[7] &= 0x7fffffff; /* section 5: the unused bit is ignored */
    fe25519_set(&l.x_2, 1);
    fe25519_set(&l.z_2, 0);
    l.x_3 = x_1;
    fe25519_set(&l.z_3, 1);

    for (int t = 254; t >= 0; t--) {
        const uint32_t k_t = k[t >> 5] >> (t & 31) & 1;

        swap ^= k_t;
        fe25519_cswap(swap, &l.x_2, &l.x_3);
        fe25519_cswap(swap, &l.z_2, &l.z_3);
        swap = k_t;
        ladder_step(&l, &x_1);
    }
    /* The last bit of a clamped scalar is 0, so no swap is left to undo. */

    fe25519_invert(&l.z_2, &l.z_2);
    fe25519_mul(&l.x_2, &l.x_2, &l.z_2);
    fe25519_to_bytes(out, &l.x_2);
}
