#!/usr/bin/env python3
"""Seals and opens fields of databases, from the description in Documentation/Specify/Formats/SealedFields.md alone.

    sealed_fields.py vectors             prints the published vectors
    sealed_fields.py open                reads lines of JSON and prints the value of each, or "refused"

Keys, blobs and identifiers are hexadecimal.
"""

import hashlib
import hmac
import json
import struct
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

CIPHERS = {1: ChaCha20Poly1305, 2: AESGCM}


def counted(data):
    return struct.pack(">I", len(data)) + data


def folded(name):
    return "".join(chr(ord(c) | 0x20) if "A" <= c <= "Z" else c for c in name)


def row_key(values):
    parts = [bytes([len(values)])]
    for value in values:
        if "int" in value:
            parts.append(b"\x01" + struct.pack(">q", value["int"]))
        elif "real" in value:
            parts.append(b"\x02" + struct.pack(">d", value["real"]))
        elif "text" in value:
            parts.append(b"\x03" + counted(value["text"].encode()))
        else:
            parts.append(b"\x04" + counted(bytes.fromhex(value["blob"])))
    return b"".join(parts)


def place(case):
    names = [case["database"], folded(case["table"]), folded(case["column"])]
    return b"swift-keychain/v1/field" + b"".join(counted(n.encode()) for n in names) + row_key(case["row"])


def encoded(kind, value):
    if kind == "none":
        return b"\x00"
    if kind.startswith("some "):
        return b"\x01" + encoded(kind[5:], value)
    if kind == "string":
        return b"\x02" + value.encode()
    if kind == "data":
        return b"\x03" + bytes.fromhex(value)
    if kind == "signed":
        return b"\x04" + struct.pack(">q", value)
    if kind == "unsigned":
        return b"\x05" + struct.pack(">Q", value)
    if kind == "double":
        return b"\x06" + struct.pack(">d", value)
    if kind == "float":
        return b"\x07" + struct.pack(">I", 0) + struct.pack(">f", value)
    if kind == "bool":
        return b"\x08" + struct.pack(">Q", value)
    if kind == "date":
        return b"\x09" + struct.pack(">d", value)
    if kind == "uuid":
        return b"\x0a" + bytes.fromhex(value)
    assert kind == "json"
    return b"\x0b" + json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def cipher(case, algorithm):
    info = b"swift-keychain/v1/field/" + bytes([algorithm])
    key = HKDF(hashes.SHA256(), 32, None, info).derive(bytes.fromhex(case["key"]))
    return CIPHERS[algorithm](key)


def seal(case, nonce):
    header = bytes([1, case["algorithm"]]) + bytes.fromhex(case["id"])
    plain = encoded(case["kind"], case.get("value"))
    return header + nonce + cipher(case, case["algorithm"]).encrypt(nonce, plain, header + place(case))


def open_value(case):
    sealed = bytes.fromhex(case["sealed"])
    header, nonce, rest = sealed[:10], sealed[10:22], sealed[22:]
    assert header[0] == 1 and header[2:] == bytes.fromhex(case["id"])
    return cipher(case, header[1]).decrypt(nonce, rest, header + place(case))


def digest(case):
    value = encoded(case["kind"], case.get("value"))
    while len(value) > 1 and value[0] == 1:
        value = value[1:]
    message = b"digest/v1\0" + place(dict(case, row=[{"int": 0}])) + value
    return hmac.new(bytes.fromhex(case["key"]), message, hashlib.sha256).digest()[:16]


def vectors():
    values = [
        ("string", "Dear diary"), ("string", ""), ("string", "Grüße 🔑"), ("data", "00ff10"), ("data", ""),
        ("signed", -4711), ("signed", 2**63 - 1), ("unsigned", 2**64 - 1), ("double", -0.5), ("float", 1.5),
        ("bool", 1), ("date", 700000000.25), ("uuid", "000102030405060708090a0b0c0d0e0f"),
        ("none", None), ("some string", "x"), ("some none", None), ("json", {"b": [1, 2], "a": "x/y"}),
    ]
    rows = [
        [{"int": -7}], [{"text": "alice"}], [{"blob": "101112131415161718191a1b1c1d1e1f"}],
        [{"int": 1}, {"text": ""}, {"real": 0.25}],
    ]
    cases = []
    for number, (kind, value) in enumerate(values):
        case = {
            "database": "notes", "table": "Note", "column": "bodY", "row": rows[number % len(rows)],
            "id": "0102030405060708", "key": bytes(range(32)).hex(), "algorithm": 1 + number % 2, "kind": kind,
            "value": value,
        }
        case["sealed"] = seal(case, bytes(range(100 + number, 112 + number))).hex()
        case["digest"] = digest(case).hex()
        cases.append(case)
    return cases


def main():
    if sys.argv[1] == "vectors":
        print(json.dumps(vectors(), indent=1, ensure_ascii=False))
        return
    for line in sys.stdin:
        if line.strip() == "end":
            break
        try:
            print(open_value(json.loads(line)).hex(), flush=True)
        except InvalidTag:
            print("refused", flush=True)


main()
