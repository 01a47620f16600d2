#!/usr/bin/env python3
"""Writes Project Wycheproof's test vectors for keys as conformance cases, so that they run through SecKey.

    git clone https://github.com/C2SP/wycheproof
    Tests/Support/Vectors/wycheproof-cases.py wycheproof/testvectors_v1 > cases.json
    swift run keychain-conformance cases.json

Taken are the vectors for which there is a SecKeyAlgorithm: ECDSA and ECDH on the curves P-192 to P-521, RSA
signatures with PKCS#1 v1.5, PSS whose salt is as long as the digest, RSA encryption with PKCS#1 v1.5 and OAEP with
one hash function. How many that are is said at the end. A vector that ought to be refused has to fail where the bytes
are read or where they are used; PKCS#1 decryption, which may return random data instead, is only watched for
crashes.
"""

import base64
import collections
import json
import sys
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

DIGESTS = {"SHA-1": "SHA1", "SHA-224": "SHA224", "SHA-256": "SHA256", "SHA-384": "SHA384", "SHA-512": "SHA512"}
LENGTHS = {"SHA1": 20, "SHA224": 28, "SHA256": 32, "SHA384": 48, "SHA512": 64}
CURVES = {
    "secp192r1": ec.SECP192R1, "secp224r1": ec.SECP224R1, "secp256r1": ec.SECP256R1, "secp384r1": ec.SECP384R1,
    "secp521r1": ec.SECP521R1,
}
REFUSED = {"oneOf": [-50, -67808]}


def data(hexadecimal):
    return {"data": base64.b64encode(bytes.fromhex(hexadecimal)).decode()}


def constant(name):
    return {"const": "kSecKeyAlgorithm" + name}


def load(name, hexadecimal, key_type, key_class, status=0):
    step = {
        "op": "key.createWithData", "data": data(hexadecimal),
        "attributes": {
            "kSecAttrKeyType": {"const": "kSecAttrKeyType" + key_type},
            "kSecAttrKeyClass": {"const": "kSecAttrKeyClass" + key_class},
        },
        "expect": {"status": status},
    }
    if status == 0:
        step["save"] = name
    return step


def verify(algorithm, test):
    step = {
        "op": "key.verify", "key": {"ref": "key"}, "algorithm": constant(algorithm), "input": data(test["msg"]),
        "signature": data(test["sig"]),
    }
    valid = test["result"] == "valid"
    step["expect"] = {"status": 0 if valid else REFUSED, "result": {"equals": valid}}
    return step


def ecdsa(group, test):
    digest = DIGESTS.get(group["sha"])
    curve = group["publicKey"]["curve"]
    if digest is None or curve not in CURVES:
        return None
    encoding = "RFC4754" if "P1363" in group["type"] else "X962"
    return [
        load("key", group["publicKey"]["uncompressed"], "ECSECPrimeRandom", "Public"),
        verify(f"ECDSASignatureMessage{encoding}{digest}", test),
    ]


def ecdh(group, test):
    if group["curve"] not in CURVES or group.get("encoding") != "ecpoint":
        return None
    curve = CURVES[group["curve"]]()
    size = (curve.key_size + 7) // 8
    scalar = int(test["private"], 16)
    point = ec.derive_private_key(scalar, curve).public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    private = load("key", (point + scalar.to_bytes(size, "big")).hex(), "ECSECPrimeRandom", "Private")
    # Compressed points are acceptable to some, and not of the form that a key has here.
    valid = test["result"] == "valid" and test["public"].startswith("04")
    public = load("peer", test["public"], "ECSECPrimeRandom", "Public", 0 if valid else -50)
    if not valid:
        return [private, public]
    return [private, public, {
        "op": "key.exchange", "key": {"ref": "key"}, "peer": {"ref": "peer"},
        "algorithm": constant("ECDHKeyExchangeStandard"), "parameters": {},
        "expect": {"status": 0, "result": {"equals": data(test["shared"])}},
    }]


def rsa_public(group):
    return group.get("publicKeyAsn") or group["publicKey"].get("publicKeyAsn") or pkcs1_of(group)


def pkcs1_of(group):
    key = serialization.load_der_public_key(bytes.fromhex(group["publicKeyDer"]))
    return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.PKCS1).hex()


def content(der, place):
    """The place and the end of the contents of the DER value at `place`."""
    length = der[place + 1]
    place += 2
    if length & 0x80:
        count = length & 0x7F
        length = int.from_bytes(der[place:place + count], "big")
        place += count
    return place, place + length


def rsa_private(group):
    """The PKCS#1 key inside PKCS#8: the third member, after version and algorithm."""
    der = bytes.fromhex(group["privateKeyPkcs8"])
    place, _ = content(der, 0)
    for _ in range(2):
        _, place = content(der, place)
    place, end = content(der, place)
    return der[place:end].hex()


def rsa_signature(group, test):
    digest = DIGESTS.get(group["sha"])
    # A missing NULL in the DigestInfo is acceptable to some.
    if digest is None or test["result"] == "acceptable":
        return None
    return [
        load("key", rsa_public(group), "RSA", "Public"), verify(f"RSASignatureMessagePKCS1v15{digest}", test),
    ]


def rsa_signing(group, test):
    digest = DIGESTS.get(group["sha"])
    if digest is None or test["result"] == "invalid":
        return None
    return [load("key", rsa_private(group), "RSA", "Private"), {
        "op": "key.sign", "key": {"ref": "key"}, "algorithm": constant(f"RSASignatureMessagePKCS1v15{digest}"),
        "input": data(test["msg"]), "expect": {"status": 0, "result": {"equals": data(test["sig"])}},
    }]


def rsa_pss(group, test):
    digest = DIGESTS.get(group["sha"])
    if digest is None or group["mgfSha"] != group["sha"] or group["sLen"] != LENGTHS[digest]:
        return None
    if test["result"] == "acceptable":
        return None
    return [load("key", rsa_public(group), "RSA", "Public"), verify(f"RSASignatureMessagePSS{digest}", test)]


def decrypt(group, test, algorithm, expected):
    return [load("key", rsa_private(group), "RSA", "Private"), {
        "op": "key.decrypt", "key": {"ref": "key"}, "algorithm": constant(algorithm), "input": data(test["ct"]),
        "expect": expected,
    }]


def rsa_oaep(group, test):
    digest = DIGESTS.get(group["sha"])
    if digest is None or group["mgfSha"] != group["sha"] or test["result"] == "acceptable":
        return None
    valid = test["result"] == "valid" and not test["label"]
    expected = {"status": 0, "result": {"equals": data(test["msg"])}} if valid else {"status": -50}
    return decrypt(group, test, f"RSAEncryptionOAEP{digest}", expected)


def rsa_decryption(group, test):
    if test["result"] == "valid":
        return decrypt(group, test, "RSAEncryptionPKCS1", {"status": 0, "result": {"equals": data(test["msg"])}})
    return decrypt(group, test, "RSAEncryptionPKCS1", {"status": {"oneOf": [0, -50]}})


KINDS = {
    "EcdsaVerify": ecdsa, "EcdsaP1363Verify": ecdsa, "EcdhEcpointTest": ecdh, "EcdhTest": ecdh,
    "RsassaPkcs1Verify": rsa_signature, "RsassaPkcs1Generate": rsa_signing, "RsassaPssVerify": rsa_pss,
    "RsaesOaepDecrypt": rsa_oaep, "RsaesPkcs1Decrypt": rsa_decryption,
}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: wycheproof-cases.py FOLDER > cases.json")
    cases = []
    taken, left = collections.Counter(), collections.Counter()
    for path in sorted(Path(sys.argv[1]).glob("*_test.json")):
        # Keys with more than two primes are of a version of PKCS#1 that is not read.
        if not path.name.startswith(("ecdsa_", "ecdh_", "rsa_")) or "three_primes" in path.name:
            continue
        for number, group in enumerate(json.loads(path.read_text())["testGroups"]):
            convert = KINDS.get(group["type"])
            for test in group["tests"]:
                steps = convert(group, test) if convert else None
                if steps is None:
                    left[path.stem] += 1
                    continue
                taken[group["type"]] += 1
                cases.append({
                    "id": f"{path.stem}/{test['tcId']}", "area": path.stem.removesuffix("_test"),
                    "title": test.get("comment") or group["type"], "steps": steps,
                })
    json.dump({"format": "secitem-conformance", "version": 1, "cases": cases}, sys.stdout)
    print(f"{len(cases)} vectors taken: " + ", ".join(f"{n} {kind}" for kind, n in sorted(taken.items())), file=sys.stderr)
    print(f"{sum(left.values())} left out, for which there is no algorithm", file=sys.stderr)


main()
