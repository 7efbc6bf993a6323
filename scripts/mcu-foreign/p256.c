/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "harness.h"
#include "p256-cortex-m4.h"

PHASE_NAME(1, p256_keypair);
PHASE_NAME(2, p256_sign);
PHASE_NAME(3, p256_verify);
PHASE_NAME(4, p256_shared_secret);

int program(void)
{
    uint32_t key[8], nonce[8], x[8], y[8], r[8], s[8];
    uint8_t hash[32], secret[32];
    randombytes((uint8_t *)key, sizeof key);
    randombytes((uint8_t *)nonce, sizeof nonce);
    randombytes(hash, sizeof hash);
    PHASE(1);
    int good = p256_keygen(x, y, key);
    PHASE(2);
    good &= p256_sign(r, s, hash, sizeof hash, key, nonce);
    PHASE(3);
    good &= p256_verify(x, y, hash, sizeof hash, r, s);
    PHASE(4);
    good &= p256_ecdh_calc_shared_secret(secret, key, x, y);
    PHASE(0);
    show(r, sizeof r);
    show(secret, sizeof secret);
    return !good;
}
