/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#pragma once
#include <stddef.h>
void *malloc(size_t);
void free(void *);
void exit(int);
