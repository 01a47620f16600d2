#!/usr/bin/env python3
"""Writes a vault of Aegis with one entry, under a password.

    aegis.py PASSWORD
"""
import base64
import json
import os
import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

entries = {"version": 2, "entries": [{
    "type": "totp", "uuid": "u1", "name": "alice", "issuer": "Example", "note": "", "favorite": False, "icon": None,
    "info": {"secret": "JBSWY3DPEHPK3PXP", "algo": "SHA1", "digits": 6, "period": 30}}]}


def seal(key, plain):
    nonce = os.urandom(12)
    sealed = AESGCM(key).encrypt(nonce, plain, None)
    return sealed[:-16], {"nonce": nonce.hex(), "tag": sealed[-16:].hex()}


master, salt = os.urandom(32), os.urandom(32)
key, key_params = seal(Scrypt(salt, 32, 1 << 12, 8, 1).derive(sys.argv[1].encode()), master)
database, params = seal(master, json.dumps(entries).encode())
print(json.dumps({
    "version": 1,
    "header": {"params": params, "slots": [{
        "type": 1, "uuid": "s1", "key": key.hex(), "key_params": key_params, "n": 1 << 12, "r": 8, "p": 1,
        "salt": salt.hex()}]},
    "db": base64.b64encode(database).decode()}))
