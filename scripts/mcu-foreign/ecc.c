/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "harness.h"
#include "uECC.h"

PHASE_NAME(1, p256_keypair);
PHASE_NAME(2, p256_sign);
PHASE_NAME(3, p256_verify);
PHASE_NAME(4, p256_shared_secret);

static int random_number(uint8_t *to, unsigned length)
{
    randombytes(to, length);
    return 1;
}

int program(void)
{
    uint8_t key[32], public[64], hash[32], signature[64], secret[32];
    uECC_Curve curve = uECC_secp256r1();
    uECC_set_rng(random_number);
    randombytes(hash, sizeof hash);
    PHASE(1);
    int good = uECC_make_key(public, key, curve);
    PHASE(2);
    good &= uECC_sign(key, hash, sizeof hash, signature, curve);
    PHASE(3);
    good &= uECC_verify(public, hash, sizeof hash, signature, curve);
    PHASE(4);
    good &= uECC_shared_secret(public, key, secret, curve);
    PHASE(0);
    show(signature, sizeof signature);
    show(secret, sizeof secret);
    return !good;
}
