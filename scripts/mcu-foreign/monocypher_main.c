/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "harness.h"
#include "monocypher.h"

PHASE_NAME(1, x25519);
PHASE_NAME(2, eddsa_keypair);
PHASE_NAME(3, eddsa_sign);
PHASE_NAME(4, eddsa_verify);
PHASE_NAME(5, aead_1kib);

int program(void)
{
    static uint8_t text[1024];
    uint8_t seed[32], secret[64], public[32], signature[64], shared[32], mac[16];
    randombytes(seed, sizeof seed);
    randombytes(public, sizeof public);
    PHASE(1);
    crypto_x25519(shared, seed, public);
    PHASE(2);
    crypto_eddsa_key_pair(secret, public, seed);
    PHASE(3);
    crypto_eddsa_sign(signature, secret, shared, sizeof shared);
    PHASE(4);
    int bad = crypto_eddsa_check(signature, public, shared, sizeof shared);
    PHASE(5);
    crypto_aead_lock(text, mac, shared, text, NULL, 0, text, sizeof text);
    PHASE(0);
    show(shared, sizeof shared);
    show(signature, sizeof signature);
    show(mac, sizeof mac);
    return bad;
}
