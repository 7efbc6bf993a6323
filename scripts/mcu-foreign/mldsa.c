/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "api.h"
#include "harness.h"

PHASE_NAME(1, mldsa65_keypair);
PHASE_NAME(2, mldsa65_sign);
PHASE_NAME(3, mldsa65_verify);

int program(void)
{
    static uint8_t public[PQCLEAN_MLDSA65_CLEAN_CRYPTO_PUBLICKEYBYTES], key[PQCLEAN_MLDSA65_CLEAN_CRYPTO_SECRETKEYBYTES];
    static uint8_t signature[PQCLEAN_MLDSA65_CLEAN_CRYPTO_BYTES], message[32];
    size_t length;
    randombytes(message, sizeof message);
    PHASE(1);
    PQCLEAN_MLDSA65_CLEAN_crypto_sign_keypair(public, key);
    PHASE(2);
    PQCLEAN_MLDSA65_CLEAN_crypto_sign_signature(signature, &length, message, sizeof message, key);
    PHASE(3);
    int bad = PQCLEAN_MLDSA65_CLEAN_crypto_sign_verify(signature, length, message, sizeof message, public);
    PHASE(0);
    show(signature, 64);
    return bad;
}
