/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef ED25519_H
#define ED25519_H

#include <stddef.h>
#include <stdint.h>

/* RFC 8032 section 5.1.6.  public_key must be that of seed: a signature made
   with another one gives the secret scalar away. */
void ed25519_sign(uint8_t sig[64], const uint8_t *message, size_t length,
                  const uint8_t seed[32], const uint8_t public_key[32]);

#endif
