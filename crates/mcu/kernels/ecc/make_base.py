#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes ed25519_base.h: small multiples of 2^(16 i) B, for ed25519.c.

    python3 make_base.py > ed25519_base.h
"""

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
GROUPS = 16  # one per 16 bits of scalar
MULTIPLES = 8  # signed 4-bit digits


def base_point():
    """RFC 8032 section 5.1: y = 4/5, x even."""
    y = 4 * pow(5, -1, P) % P
    xx = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if x * x % P != xx:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert x * x % P == xx
    return (P - x if x & 1 else x, y)


def add(a, b):
    """The complete affine addition law of section 5.1."""
    (x1, y1), (x2, y2) = a, b
    k = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + k, -1, P) % P
    y = (y1 * y2 + x1 * x2) * pow(1 - k, -1, P) % P
    return (x, y)


def element(value):
    limbs = (f"0x{value >> 32 * i & 0xFFFFFFFF:08x}" for i in range(8))
    return "{{" + ", ".join(limbs) + "}}"


def entry(point):
    x, y = point
    elements = ((y + x) % P, (y - x) % P, 2 * D * x * y % P)
    return "{" + ",\n ".join(map(element, elements)) + "}"


def row(point):
    """The multiples 1, 2, .. 8 of point."""
    multiples = [point]
    while len(multiples) < MULTIPLES:
        multiples.append(add(multiples[-1], point))
    return "{" + ",\n".join(map(entry, multiples)) + "}"


def main():
    print("/* SPDX-License-Identifier: MIT OR Apache-2.0 */")
    print("/* Written by make_base.py.  base[i][j] is (j + 1) 2^(16 i) B. */")
    print(f"static const precomputed base[{GROUPS}][{MULTIPLES}] = {{")
    power = base_point()
    for _ in range(GROUPS):
        print(row(power) + ",")
        for _ in range(16):
            power = add(power, power)
    print("};")


if __name__ == "__main__":
    main()
