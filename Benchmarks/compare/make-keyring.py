#!/usr/bin/env python3
"""Writes a GNOME keyring file in its binary format with a given number of items.

keyring.py FILE ITEMS PASSWORD

Filling a keyring through its daemon takes time that grows with the square of the number of items. The
items are those of the other measurements: `service` and `account`, and a value of 32 bytes.
"""
import hashlib
import os
import struct
import sys
import time

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

MAGIC = b"GnomeKeyring\n\r\0\n"
ITERATIONS = 1000


def number(value):
    return struct.pack(">I", value)


def string(value):
    return b"\xff\xff\xff\xff" if value is None else number(len(value)) + value.encode()


def moment(value):
    return struct.pack(">II", value >> 32, value & 0xFFFFFFFF)


def attribute_list(pairs, hashed):
    out = number(len(pairs))
    for name, value in pairs:
        stored = hashlib.md5(value.encode()).hexdigest() if hashed else value
        out += string(name) + number(0) + string(stored)
    return out


def items(count):
    for index in range(count):
        pairs = [
            ("account", f"user-{index}@example.com"),
            ("service", f"com.example.service-{index // 4}"),
            ("xdg:schema", "org.freedesktop.Secret.Generic"),
        ]
        yield index + 1, f"user-{index}@example.com", f"{index:032d}", pairs


def derive(password, salt):
    digest = hashlib.sha256(password.encode() + salt).digest()
    for _ in range(ITERATIONS - 1):
        digest = hashlib.sha256(digest).digest()
    return digest[:16], digest[16:]


def main():
    path, count, password = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    now = int(time.time())
    salt = os.urandom(8)
    out = MAGIC + bytes(4)  # version 0.0, AES, MD5
    out += string("login") + moment(now) + moment(now) + number(0) + number(0)
    out += number(ITERATIONS) + salt + bytes(16) + number(count)
    for identifier, _, _, pairs in items(count):
        out += number(identifier) + number(0) + attribute_list(pairs, hashed=True)

    sealed = b""
    parts = []
    for _, label, value, pairs in items(count):
        parts.append(
            string(label) + string(value) + moment(now) + moment(now) + string(None) + bytes(16)
            + attribute_list(pairs, hashed=False) + number(0))
    sealed = b"".join(parts)
    sealed += bytes(-(len(sealed) + 16) % 16)
    sealed = hashlib.md5(sealed).digest() + sealed
    key, iv = derive(password, salt)
    cipher = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
    sealed = cipher.update(sealed) + cipher.finalize()
    with open(path, "wb") as file:
        file.write(out + number(len(sealed)) + sealed)
    os.chmod(path, 0o600)


main()
