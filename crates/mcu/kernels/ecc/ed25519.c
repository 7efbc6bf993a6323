/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ed25519.h"

#include "bytes.h"
#include "fe25519.h"
#include "sc25519.h"
#include "sha512.h"

/* x = X/Z, y = Y/Z, x y = T/Z: RFC 8032 section 5.1.4 */
typedef struct {
    fe25519 X, Y, Z, T;
} point;

/* An affine point ready for point_add: y + x, y - x, 2 d x y */
typedef struct {
    fe25519 sum, difference, product;
} precomputed;

#include "ed25519_base.h"

/* The addition of section 5.1.4, less what the table has in advance: 7 M.
   Complete, so that the neutral element needs no branch. */
static void point_add(point *p, const precomputed *q)
{
    fe25519 A, B, C, D;

    fe25519_sub(&A, &p->Y, &p->X);
    fe25519_mul(&A, &A, &q->difference);
    fe25519_add(&B, &p->Y, &p->X);
    fe25519_mul(&B, &B, &q->sum);
    fe25519_mul(&C, &p->T, &q->product);
    fe25519_add(&D, &p->Z, &p->Z);
    fe25519_sub(&p->X, &B, &A); /* E */
    fe25519_sub(&p->T, &D, &C); /* F */
    fe25519_add(&p->Z, &D, &C); /* G */
    fe25519_add(&p->Y, &B, &A); /* H */
    fe25519_mul(&A, &p->X, &p->T);
    fe25519_mul(&B, &p->Z, &p->Y);
    fe25519_mul(&C, &p->X, &p->Y);
    fe25519_mul(&p->Z, &p->T, &p->Z);
    p->X = A;
    p->Y = B;
    p->T = C;
}

/* The doubling of section 5.1.4. */
static void point_double(point *p)
{
    fe25519 A, B, C, E, F, G, H;

    fe25519_square(&A, &p->X);
    fe25519_square(&B, &p->Y);
    fe25519_square(&C, &p->Z);
    fe25519_add(&C, &C, &C);
    fe25519_add(&H, &A, &B);
    fe25519_add(&E, &p->X, &p->Y);
    fe25519_square(&E, &E);
    fe25519_sub(&E, &H, &E);
    fe25519_sub(&G, &A, &B);
    fe25519_add(&F, &C, &G);
    fe25519_mul(&p->X, &E, &F);
    fe25519_mul(&p->Y, &G, &H);
    fe25519_mul(&p->T, &E, &H);
    fe25519_mul(&p->Z, &F, &G);
}

/*
 * q = digit * (the point of this row), -8 <= digit <= 8.  Reads the whole
 * row, for a flash accelerator is a cache and shows what was read.
 */
static void select_multiple(precomputed *q, const precomputed row[8], int digit)
{
    const uint32_t negative = (uint32_t)digit >> 31;
    const uint32_t size = ((uint32_t)digit ^ (0 - negative)) + negative;
    const uint32_t *limbs = row[0].sum.limb;
    uint32_t *to = q->sum.limb, mask[8], one;
    fe25519 zero, minus;

    for (uint32_t i = 0; i < 8; i++)
        mask[i] = 0 - (((size ^ (i + 1)) - 1) >> 31);
    for (int i = 0; i < 24; i++, limbs++)
        to[i] = (limbs[0] & mask[0]) | (limbs[24] & mask[1])
              | (limbs[48] & mask[2]) | (limbs[72] & mask[3])
              | (limbs[96] & mask[4]) | (limbs[120] & mask[5])
              | (limbs[144] & mask[6]) | (limbs[168] & mask[7]);
    one = (size - 1) >> 31; /* the neutral element has y + x = y - x = 1 */
    q->sum.limb[0] |= one;
    q->difference.limb[0] |= one;

    /* -(x, y) = (-x, y) */
    fe25519_set(&zero, 0);
    fe25519_sub(&minus, &zero, &q->product);
    fe25519_cswap(negative, &q->sum, &q->difference);
    fe25519_cswap(negative, &q->product, &minus);
}

/* digits[i], from -8 to 7, with sum of digits[i] 16^i = r < 2^255 */
static void signed_digits(int8_t digits[64], const sc25519 *r)
{
    int carry = 0;

    for (int i = 0; i < 64; i++) {
        const int digit = (int)(r->limb[i >> 3] >> 4 * (i & 7) & 15) + carry;
        carry = (digit + 8) >> 4;
        digits[i] = (int8_t)(digit - 16 * carry);
    }
}

/*
 * p = r B.  Digit 4 i + j takes its multiple from row i, of 2^(16 i) B, and
 * the four j are a Horner scheme in 16: 64 additions, 12 doublings, 12 kB.
 */
static void base_multiply(point *p, const sc25519 *r)
{
    int8_t digits[64];
    precomputed q;

    signed_digits(digits, r);
    fe25519_set(&p->X, 0);
    fe25519_set(&p->Y, 1);
    fe25519_set(&p->Z, 1);
    fe25519_set(&p->T, 0);
    for (int j = 3; j >= 0; j--) {
        for (int i = 0; i < 16; i++) {
            select_multiple(&q, base[i], digits[4 * i + j]);
            point_add(p, &q);
        }
        for (int n = 0; j > 0 && n < 4; n++)
            point_double(p);
    }
}

/* Section 5.1.2 */
static void point_encode(uint8_t bytes[32], const point *p)
{
    fe25519 x, y, inverse;
    uint8_t x_bytes[32];

    fe25519_invert(&inverse, &p->Z);
    fe25519_mul(&x, &p->X, &inverse);
    fe25519_mul(&y, &p->Y, &inverse);
    fe25519_to_bytes(x_bytes, &x);
    fe25519_to_bytes(bytes, &y);
    bytes[31] |= (uint8_t)(x_bytes[0] << 7);
}

/* SHA-512(first || second || message) modulo L */
static void hash_to_scalar(sc25519 *r, const uint8_t first[32],
                           const uint8_t *second, const uint8_t *message,
                           size_t length)
{
    sha512_state state;
    uint8_t digest[64];

    sha512_init(&state);
    sha512_update(&state, first, 32);
    if (second)
        sha512_update(&state, second, 32);
    sha512_update(&state, message, length);
    sha512_final(&state, digest);
    sc25519_from_hash(r, digest);
}

/* Section 5.1.5, steps 1 and 2: the secret scalar a, and the prefix */
static void expand_seed(sc25519 *a, uint8_t prefix[32], const uint8_t seed[32])
{
    sha512_state state;
    uint8_t h[64];

    sha512_init(&state);
    sha512_update(&state, seed, 32);
    sha512_final(&state, h);
    for (int i = 0; i < 8; i++)
        a->limb[i] = load32_le(h + 4 * i);
    a->limb[0] &= ~7u;
    a->limb[7] = (a->limb[7] & 0x7fffffff) | 0x40000000;
    for (int i = 0; i < 32; i++)
        prefix[i] = h[32 + i];
}

/* The steps of section 5.1.6. */
void ed25519_sign(uint8_t sig[64], const uint8_t *message, size_t length,
                  const uint8_t seed[32], const uint8_t public_key[32])
{
    sc25519 a, r, k, S;
    uint8_t prefix[32];
    point R;

    expand_seed(&a, prefix, seed);
    hash_to_scalar(&r, prefix, 0, message, length);
    base_multiply(&R, &r);
    point_encode(sig, &R);
    hash_to_scalar(&k, sig, public_key, message, length);
    sc25519_mul_add(&S, &r, &k, &a);
    for (int i = 0; i < 8; i++)
        store32_le(sig + 32 + 4 * i, S.limb[i]);
}
