/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sc25519.h"

#include "bytes.h"
#include "muladdc.h"

static const uint32_t L[8] = {
    0x5cf5d3ed, 0x5812631a, 0xa2f79cd6, 0x14def9de,
     0x00000000, 0x00000000, 0x00000000, 0x10000000,
};
#define MINUS_INVERSE 0x12547e1bu /* -1 / L modulo 2^32 */

/* 2^256 and 2^512 modulo L: the Montgomery form of 1 and of 2^256 */
static const sc25519 R = {{
    0x8d98951d, 0xd6ec3174, 0x737dcf70, 0xc6ef5bf4,
     0xfffffffe, 0xffffffff, 0xffffffff, 0x0fffffff,
}};
static const sc25519 RR = {{
    0x449c0f01, 0xa40611e3, 0x68859347, 0xd00e1ba7,
     0x17f5be65, 0xceec73d2, 0x7c309a3d, 0x0399411b,
}};

/* r -= L unless that is negative, for r < 2 L */
static void reduce_once(sc25519 *r)
{
    uint32_t t[8], mask;
    int64_t difference = 0;

    for (int i = 0; i < 8; i++) {
        difference += (int64_t)r->limb[i] - L[i];
        t[i] = (uint32_t)difference;
        difference >>= 32;
    }
    mask = (uint32_t)difference; /* all ones if negative */
    for (int i = 0; i < 8; i++)
        r->limb[i] = (r->limb[i] & mask) | (t[i] & ~mask);
}

static void add(sc25519 *r, const sc25519 *a, const sc25519 *b)
{
    uint64_t sum = 0;

    for (int i = 0; i < 8; i++) {
        sum += (uint64_t)a->limb[i] + b->limb[i];
        r->limb[i] = (uint32_t)sum;
        sum >>= 32;
    }
    reduce_once(r);
}

/* r = a * b / 2^256 modulo L, by Montgomery's reduction.  One factor must be
   below L, the other may be any 256-bit number: a b + (2^256 - 1) L then is
   below 2^257 L, and the quotient below 2 L. */
static void montgomery_mul(sc25519 *r, const sc25519 *a, const sc25519 *b)
{
    uint32_t t[16], carry = 0;

    mul_8(t, a->limb, b->limb);
    for (int i = 0; i < 8; i++) {
        const uint32_t q = t[i] * MINUS_INVERSE;
        const uint64_t sum = (uint64_t)mul_add_row_8(t + i, L, q, 0)
                           + t[i + 8] + carry;
        t[i + 8] = (uint32_t)sum;
        carry = (uint32_t)(sum >> 32);
    }
    for (int i = 0; i < 8; i++)
        r->limb[i] = t[i + 8];
    reduce_once(r);
}

void sc25519_from_hash(sc25519 *r, const uint8_t hash[64])
{
    sc25519 low, high;

    for (int i = 0; i < 8; i++) {
        low.limb[i] = load32_le(hash + 4 * i);
        high.limb[i] = load32_le(hash + 32 + 4 * i);
    }
    montgomery_mul(&low, &low, &R);
    montgomery_mul(&high, &high, &RR);
    add(r, &low, &high);
}

void sc25519_mul_add(sc25519 *s, const sc25519 *r, const sc25519 *k,
                     const sc25519 *a)
{
    sc25519 t;

    montgomery_mul(&t, a, k);
    montgomery_mul(&t, &t, &RR);
    add(s, &t, r);
}
