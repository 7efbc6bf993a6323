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
    limbs = [value >> 32 * i & 0xFFFFFFFF for i in range(8)]
    rows = [", ".join(f"0x{limb:08x}" for limb in limbs[i : i + 4]) for i in (0, 4)]
    return "     {{" + rows[0] + ",\n       " + rows[1] + "}}"


def main():
    print("/* SPDX-License-Identifier: MIT OR Apache-2.0 */")
    print("/* Written by make_base.py: do not edit. */")
    print(f"static const precomputed base[{GROUPS}][{MULTIPLES}] = {{")
    power = base_point()
    for i in range(GROUPS):
        print(f"  {{ /* 2^{16 * i} B */")
        multiple = power
        for _ in range(MULTIPLES):
            x, y = multiple
            elements = ((y + x) % P, (y - x) % P, 2 * D * x * y % P)
            print("    {" + ",\n".join(map(element, elements)).lstrip() + "},")
            multiple = add(multiple, power)
        print("  },")
        for _ in range(16):
            power = add(power, power)
    print("};")


if __name__ == "__main__":
    main()
