/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The RSA private operation with the Chinese remainder theorem (RFC 8017, 5.1.2), without blinding:
 * what token firmware does between decoding a command and encoding the response.
 */
#include "bignum.h"
#include "kernel.h"
#include "keys.h"
#include "memory.h"
#include "montgomery.h"

enum { CRT_STORED, CRT_RECOMPUTED };
enum { KEY_IN_RAM, KEY_IN_FLASH };

/* Written by the simulator or debugger before the kernel starts. */
struct options {
    uint32_t bits;
    uint32_t window;
    uint32_t crt;
    uint32_t key;
    uint32_t square;
};
struct options options = { 2048, 4, CRT_STORED, KEY_IN_RAM, SQUARE_DOUBLED };

uint32_t message[MODULUS_LIMBS] = { 0x6b65796d, 0x61726b20, 1 };

uint8_t result[4 * MODULUS_LIMBS] __attribute__((aligned(4)));
const uint32_t result_length = sizeof result;

static struct key in_ram;
static uint32_t dp[PRIME_LIMBS], dq[PRIME_LIMBS], qp[PRIME_LIMBS];
static uint32_t wide[MODULUS_LIMBS], totient[MODULUS_LIMBS];
static uint32_t mp[PRIME_LIMBS], mq[PRIME_LIMBS], base[PRIME_LIMBS];

static const struct key *find_key(void)
{
    const struct key *key = options.bits == 2048 ? &key_2048 : options.bits == 3072 ? &key_3072 : &key_4096;
    if (options.key == KEY_IN_FLASH) {
        return key;
    }
    memcpy(&in_ram, key, sizeof in_ram);
    return &in_ram;
}

/* D = E^-1 mod (p-1)(q-1), reduced by each; q^-1 mod p. */
static int recompute(const struct key *key, size_t n)
{
    static uint32_t p1[PRIME_LIMBS], q1[PRIME_LIMBS];
    const uint32_t e = 65537;
    memcpy(p1, key->p, sizeof p1);
    memcpy(q1, key->q, sizeof q1);
    p1[0] -= 1;
    q1[0] -= 1;
    bn_multiply(totient, p1, q1, n);
    if (!bn_inverse(wide, &e, 1, totient, 2 * n)) {
        return 0;
    }
    bn_modulo(dp, wide, 2 * n, p1, n);
    bn_modulo(dq, wide, 2 * n, q1, n);
    return bn_inverse(qp, key->q, n, key->p, n);
}

int kernel(void)
{
    const size_t n = options.bits / 64;
    const struct key *key = find_key();
    const uint32_t *exponent_p = key->dp, *exponent_q = key->dq, *coefficient = key->qp;

    PHASE(1);
    if (options.crt == CRT_RECOMPUTED) {
        if (!recompute(key, n)) {
            return 1;
        }
        exponent_p = dp;
        exponent_q = dq;
        coefficient = qp;
    }

    PHASE(2);
    struct exponentiation how = { key->p, exponent_p, n, options.window, options.square };
    bn_modulo(base, message, 2 * n, key->p, n);
    mont_power(mp, base, &how);

    PHASE(3);
    how.modulus = key->q;
    how.exponent = exponent_q;
    bn_modulo(base, message, 2 * n, key->q, n);
    mont_power(mq, base, &how);

    PHASE(4);
    /* h = (mp - mq) qp mod p; m = mq + q h. The primes have the same length, so mq < 2p. */
    memcpy(base, mq, sizeof base);
    if (bn_compare(base, key->p, n) >= 0) {
        bn_sub(base, key->p, n);
    }
    if (bn_sub(mp, base, n)) {
        bn_add(mp, key->p, n);
    }
    mont_product(base, mp, coefficient, key->p, n);
    bn_multiply(wide, base, key->q, n);
    uint32_t carry = bn_add(wide, mq, n);
    for (size_t i = n; carry && i < 2 * n; i++) {
        carry = ++wide[i] == 0;
    }
    PHASE(0);

    memcpy(result, wide, 8 * n);
    return 0;
}
