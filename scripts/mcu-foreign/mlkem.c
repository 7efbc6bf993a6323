/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "api.h"
#include "harness.h"

PHASE_NAME(1, mlkem768_keypair);
PHASE_NAME(2, mlkem768_encapsulate);
PHASE_NAME(3, mlkem768_decapsulate);

int program(void)
{
    static uint8_t public[PQCLEAN_MLKEM768_CLEAN_CRYPTO_PUBLICKEYBYTES], key[PQCLEAN_MLKEM768_CLEAN_CRYPTO_SECRETKEYBYTES];
    static uint8_t text[PQCLEAN_MLKEM768_CLEAN_CRYPTO_CIPHERTEXTBYTES], a[32], b[32];
    PHASE(1);
    PQCLEAN_MLKEM768_CLEAN_crypto_kem_keypair(public, key);
    PHASE(2);
    PQCLEAN_MLKEM768_CLEAN_crypto_kem_enc(text, a, public);
    PHASE(3);
    PQCLEAN_MLKEM768_CLEAN_crypto_kem_dec(b, text, key);
    PHASE(0);
    show(a, sizeof a);
    return memcmp(a, b, sizeof a) != 0;
}
