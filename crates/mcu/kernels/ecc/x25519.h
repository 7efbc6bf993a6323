/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef X25519_H
#define X25519_H

#include <stdint.h>

/* RFC 7748 section 5.  Constant time.  A caller that must refuse points of
   small order checks for an all-zero result (section 6.1). */
void x25519(uint8_t out[32], const uint8_t scalar[32], const uint8_t point[32]);

#endif
