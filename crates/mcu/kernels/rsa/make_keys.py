#!/usr/bin/env python3
"""Writes keys.h: test keys of their own for RSA-2048, 3072 and 4096, by OpenSSL. Not for use."""

import re
import subprocess

LIMBS = 64


def number(text, name):
    match = re.search(rf"^{name}:\s*((?:[0-9a-f]{{2}}:?\s*)+)", text, re.M)
    return int(re.sub(r"[^0-9a-f]", "", match.group(1)), 16)


def limbs(value):
    words = [value >> 32 * i & 0xFFFFFFFF for i in range(LIMBS)]
    lines = [words[i : i + 8] for i in range(0, LIMBS, 8)]
    while len(lines) > 1 and not any(lines[-1]):
        lines.pop()
    return "{\n" + "".join("        " + " ".join(f"0x{w:08x}," for w in line) + "\n" for line in lines) + "    }"


def key(bits):
    made = subprocess.run(["openssl", "genrsa", str(bits)], check=True, capture_output=True)
    text = subprocess.run(
        ["openssl", "rsa", "-noout", "-text"], input=made.stdout, check=True, capture_output=True
    ).stdout.decode()
    parts = [number(text, name) for name in ("prime1", "prime2", "exponent1", "exponent2", "coefficient")]
    p, q = parts[:2]
    assert p.bit_length() == q.bit_length() == bits // 2
    fields = "".join(f"    {limbs(part)},\n" for part in parts)
    return f"static const struct key key_{bits} = {{\n{fields}}};\n"


print("/* SPDX-License-Identifier: MIT OR Apache-2.0 */")
print("/* Written by make_keys.py: test keys, little-endian limbs, e = 65537. Never use them. */")
print("#ifndef KEYS_H\n#define KEYS_H\n\n#include \"bignum.h\"\n")
print("struct key {")
print("    uint32_t p[PRIME_LIMBS], q[PRIME_LIMBS], dp[PRIME_LIMBS], dq[PRIME_LIMBS], qp[PRIME_LIMBS];\n};\n")
print("\n".join(key(bits) for bits in (2048, 3072, 4096)))
print("#endif")
