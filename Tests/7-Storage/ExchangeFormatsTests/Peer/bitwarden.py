#!/usr/bin/env python3
"""Encrypts a plain export as Bitwarden does under a password.

    bitwarden.py pbkdf2|argon2id PASSWORD < plain.json > encrypted.json
"""
import base64
import ctypes
import hashlib
import json
import os
import sys

from cryptography.hazmat.primitives import hashes, hmac, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC

kind, password = sys.argv[1], sys.argv[2].encode()
salt = base64.b64encode(os.urandom(16)).decode()
if kind == "pbkdf2":
    parameters = {"kdfType": 0, "kdfIterations": 5000}
    key = PBKDF2HMAC(hashes.SHA256(), 32, salt.encode(), 5000).derive(password)
else:
    parameters = {"kdfType": 1, "kdfIterations": 3, "kdfMemory": 16, "kdfParallelism": 4}
    raw = ctypes.create_string_buffer(32)
    digest = hashlib.sha256(salt.encode()).digest()
    library = ctypes.CDLL("libargon2.so.1")
    sizes = [ctypes.c_uint32(3), ctypes.c_uint32(16 << 10), ctypes.c_uint32(4)]
    status = library.argon2id_hash_raw(
        *sizes, password, ctypes.c_size_t(len(password)), digest, ctypes.c_size_t(32), raw, ctypes.c_size_t(32))
    assert status == 0
    key = raw.raw
encryption = HKDFExpand(hashes.SHA256(), 32, b"enc").derive(key)
code = HKDFExpand(hashes.SHA256(), 32, b"mac").derive(key)


def seal(plain):
    vector = os.urandom(16)
    padder = padding.PKCS7(128).padder()
    encryptor = Cipher(algorithms.AES(encryption), modes.CBC(vector)).encryptor()
    ciphertext = encryptor.update(padder.update(plain) + padder.finalize()) + encryptor.finalize()
    authentication = hmac.HMAC(code, hashes.SHA256())
    authentication.update(vector + ciphertext)
    return "2." + "|".join(base64.b64encode(part).decode() for part in (vector, ciphertext, authentication.finalize()))


print(json.dumps({
    "encrypted": True, "passwordProtected": True, "salt": salt, **parameters,
    "encKeyValidation_DO_NOT_EDIT": seal(b"a random text"), "data": seal(sys.stdin.buffer.read()),
}))
