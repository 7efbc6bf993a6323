/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#pragma once
#include <stddef.h>
