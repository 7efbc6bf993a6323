/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SHA-512, FIPS 180-4. */
#ifndef SHA512_H
#define SHA512_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t H[8];
    uint32_t length; /* bytes so far */
    uint8_t block[128];
} sha512_state;

void sha512_init(sha512_state *state);
void sha512_update(sha512_state *state, const uint8_t *data, size_t length);
void sha512_final(sha512_state *state, uint8_t digest[64]);

#endif
