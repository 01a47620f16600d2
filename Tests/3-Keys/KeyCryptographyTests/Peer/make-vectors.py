#!/usr/bin/env python3
"""Writes ../Fixtures/vectors.json with Python's cryptography; see the page beside it.

Keys that the file has already stay; everything else is made anew.
"""

import json
import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec

import peer

FILE = Path(__file__).parent.parent / "Fixtures" / "vectors.json"
DIGESTS = list(peer.HASHES)

# RFC 6979, A.2.3 to A.2.7.
RFC_6979 = {
    "P-192": (192, "6FAB034934E4C0FC9AE67F5B5659A9D7D1FEFD187EE09FD4"),
    "P-224": (224, "F220266E1105BFE3083E03EC7A3A654651F45E37167E88600BF257C1"),
    "P-256": (256, "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"),
    "P-384": (384, "6B9D3DAD2E1B8C1C05B19875B6659F4DE23C3B667BF297BA9AA47740787137D896D5724E4C70A825F872C9EA60D2EDF5"),
    "P-521": (
        521,
        "00FAD06DAA62BA3B25D2FB40133DA757205DE67F5BB0018FEE8C86E1B68C7E75CAA896EB32F1F47C70855836A6D16FCC1466F6D8FBEC67"
        "DB89EC0C08B0E996B83538"),
}
RSA = {"RSA-1024": 1024, "RSA-1031": 1031, "RSA-2048": 2048, "RSA-3072": 3072, "RSA-4096": 4096}
# One of RFC 6979's own answers (A.2.5, SHA-256, "sample"), so that a peer that signs otherwise is noticed.
SAMPLE = (
    "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
    "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8")


def keys():
    known = json.loads(FILE.read_text())["keys"] if FILE.exists() else {}
    made = {name: ec.derive_private_key(int(scalar, 16), peer.BITS[bits]) for name, (bits, scalar) in RFC_6979.items()}
    for name, bits in RSA.items():
        made[name] = (
            peer.private_key(bytes.fromhex(known[name]["private"])) if name in known else peer.generate("RSA", bits))
    return made


def signatures(made):
    rows = []

    def add(name, algorithm, data):
        signature = peer.sign(made[name], algorithm, data, deterministic="ECDSA:message" in algorithm)
        assert peer.verify(made[name].public_key(), algorithm, data, signature), (name, algorithm)
        rows.append({"key": name, "algorithm": algorithm, "input": data.hex(), "signature": signature.hex()})

    for name in RFC_6979:
        for digest in DIGESTS:
            for message in (b"sample", b"test"):
                add(name, f"algid:sign:ECDSA:message-RFC4754:{digest}", message)
            length = peer.HASHES[digest].digest_size
            add(name, f"algid:sign:ECDSA:message-X962:{digest}", os.urandom(100))
            add(name, f"algid:sign:ECDSA:digest-X962:{digest}", os.urandom(length))
            add(name, f"algid:sign:ECDSA:digest-RFC4754:{digest}", bytes([255]) * length)
        for length in (0, 1, 40, 66, 100):
            add(name, "algid:sign:ECDSA:digest-X962", os.urandom(length))
        add(name, "algid:sign:ECDSA:RFC4754", os.urandom(32))
        add(name, "algid:sign:ECDSA:digest-RFC4754", os.urandom(33))
    for name, bits in RSA.items():
        size = (bits + 7) // 8
        for digest in DIGESTS if bits == 2048 else ["SHA1", "SHA256"]:
            length = peer.HASHES[digest].digest_size
            salt = 24 if digest == "SHA224" else length
            for algorithm in (f"PKCS1v15:{digest}", f"PSS:{digest}:{digest}:{salt}"):
                add(name, f"algid:sign:RSA:message-{algorithm}", os.urandom(50))
                add(name, f"algid:sign:RSA:digest-{algorithm}", os.urandom(length))
        add(name, "algid:sign:RSA:digest-PKCS1v15", os.urandom(17))
        add(name, "algid:sign:RSA:raw", b"\0" + os.urandom(size - 1))
        add(name, "algid:sign:RSA:raw", b"a number")
    assert any(row["signature"] == SAMPLE for row in rows)
    return rows


def encryptions(made):
    rows = []

    def add(name, algorithm, length):
        plaintext = os.urandom(length)
        ciphertext = peer.encrypt(made[name].public_key(), algorithm, plaintext)
        rows.append({"key": name, "algorithm": algorithm, "input": plaintext.hex(), "ciphertext": ciphertext.hex()})

    for name in RFC_6979:
        for digest in DIGESTS if name == "P-256" else ["SHA224", "SHA512"]:
            for agreement in ("ECDH", "ECDHC"):
                start = f"algid:encrypt:ECIES:{agreement}:KDFX963:{digest}"
                add(name, f"{start}:AESGCM", 33)
                if digest != "SHA1":
                    add(name, f"{start}:AESGCM-KDFIV", 16)
        add(name, "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM", 0)
    for name, bits in RSA.items():
        for digest in DIGESTS if bits == 2048 else ["SHA1", "SHA256"]:
            add(name, f"algid:encrypt:RSA:OAEP:{digest}", 20)
            add(name, f"algid:encrypt:RSA:OAEP:{digest}:AESGCM", 100)
        add(name, "algid:encrypt:RSA:OAEP:SHA256:AESGCM", 0)
        add(name, "algid:encrypt:RSA:OAEP:SHA1", 0)
        add(name, "algid:encrypt:RSA:PKCS1", 48)
        add(name, "algid:encrypt:RSA:PKCS1", 0)
    return rows


def exchanges(made):
    rows = []

    def add(name, algorithm, count, length):
        other = peer.generate("EC", made[name].key_size).public_key()
        info = os.urandom(length)
        rows.append({
            "key": name, "peer": peer.external_public(other).hex(), "algorithm": algorithm, "count": count,
            "sharedInfo": info.hex(), "result": peer.exchange(made[name], other, algorithm, count, info).hex(),
        })

    for name in RFC_6979:
        for agreement in ("ECDH", "ECDHC"):
            add(name, f"algid:keyexchange:{agreement}", 0, 0)
            for digest in DIGESTS:
                for count, length in ((16, 0), (70, 11)) if name == "P-256" else ((33, 5),):
                    add(name, f"algid:keyexchange:{agreement}:KDFX963:{digest}", count, length)
        add(name, "algid:keyexchange:ECDH:KDFX963:SHA256", 1, 0)
        add(name, "algid:keyexchange:ECDH:KDFX963:SHA256", 256, 300)
    return rows


def main():
    made = keys()
    vectors = {
        "keys": {
            name: {
                "private": peer.external_private(key).hex(), "public": peer.external_public(key.public_key()).hex(),
            } for name, key in made.items()
        },
        "signatures": signatures(made), "encryptions": encryptions(made), "exchanges": exchanges(made),
    }
    # A row a line, so that changes can be read.
    parts = []
    for name, rows in vectors.items():
        if isinstance(rows, dict):
            body = ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in rows.items())
            parts.append(f'  "{name}": {{\n{body}\n  }}')
        else:
            body = ",\n".join(f"    {json.dumps(row)}" for row in rows)
            parts.append(f'  "{name}": [\n{body}\n  ]')
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n")
    print({name: len(rows) for name, rows in vectors.items()})


main()
