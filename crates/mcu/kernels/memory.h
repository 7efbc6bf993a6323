/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The two functions of <string.h> that there are here, so that no C library is needed. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t length);
void *memset(void *to, int value, size_t length);

#endif
