#!/usr/bin/env python3
"""Writes expected/*: what the kernels must compute from their default inputs, by other means.

RSA by Python's pow from the primes in rsa/keys.h; X25519 and Ed25519 by OpenSSL.
"""

import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
OUT = HERE / "expected"


def numbers(text):
    groups = re.findall(r"\{([^{}]*)\}", text)
    words = ([int(word, 16) for word in re.findall(r"0x[0-9a-fA-F]+", group)] for group in groups)
    return [sum(word << 32 * i for i, word in enumerate(group)) for group in words]


def array(text, name):
    body = re.search(rf"{name}\[[^\]]*\]\s*=\s*\{{([^}}]*)\}}", text).group(1)
    return [int(word, 0) for word in re.findall(r"0x[0-9a-fA-F]+|\d+", body)]


def rsa(bits):
    keys = (HERE / "rsa/keys.h").read_text()
    p, q = numbers(re.search(rf"key_{bits} = (.*?)\n}};", keys, re.S).group(1))[:2]
    words = array((HERE / "rsa/rsa.c").read_text(), "message")
    message = sum(word << 32 * i for i, word in enumerate(words))
    plain = pow(message, pow(65537, -1, (p - 1) * (q - 1)), p * q)
    return plain.to_bytes(bits // 8, "little")


def private_key(oid, secret):
    """PKCS #8 of RFC 8410."""
    return bytes.fromhex(f"302e020100300506032b65{oid}04220420") + secret


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def x25519():
    text = (HERE / "ecc/x25519_main.c").read_text()
    secret, point = bytes(array(text, "scalar")), bytes(array(text, "point"))
    with tempfile.TemporaryDirectory() as folder:
        key, peer, out = (f"{folder}/{name}" for name in ("key", "peer", "out"))
        pathlib.Path(key).write_bytes(private_key("6e", secret))
        pathlib.Path(peer).write_bytes(bytes.fromhex("302a300506032b656e032100") + point)
        openssl("pkeyutl", "-derive", "-keyform", "DER", "-inkey", key, "-peerform", "DER", "-peerkey", peer, "-out", out)
        return pathlib.Path(out).read_bytes()


def ed25519():
    text = (HERE / "ecc/ed25519_main.c").read_text()
    with tempfile.TemporaryDirectory() as folder:
        key, message, out = (f"{folder}/{name}" for name in ("key", "message", "out"))
        pathlib.Path(key).write_bytes(private_key("70", bytes(array(text, "seed"))))
        pathlib.Path(message).write_bytes(bytes(array(text, "message")))
        openssl("pkeyutl", "-sign", "-rawin", "-keyform", "DER", "-inkey", key, "-in", message, "-out", out)
        return pathlib.Path(out).read_bytes()


OUT.mkdir(exist_ok=True)
for name, value in {f"rsa{bits}": rsa(bits) for bits in (2048, 3072, 4096)}.items():
    (OUT / name).write_text(value.hex() + "\n")
(OUT / "x25519").write_text(x25519().hex() + "\n")
(OUT / "ed25519").write_text(ed25519().hex() + "\n")
