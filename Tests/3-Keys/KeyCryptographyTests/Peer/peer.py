#!/usr/bin/env python3
"""What SecKey does, by Python's cryptography: the other side of the cross-checks.

Reads requests and writes answers, one JSON object a line, bytes in hexadecimal; keys are in SecKey's external
representations and algorithms have SecKeyAlgorithm's names. An error is an answer with "error".
"""

import functools
import hashlib
import json
import os
import sys
import warnings

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF

warnings.simplefilter("ignore")

HASHES = {
    "SHA1": hashes.SHA1(), "SHA224": hashes.SHA224(), "SHA256": hashes.SHA256(), "SHA384": hashes.SHA384(),
    "SHA512": hashes.SHA512(),
}
CURVES = {24: ec.SECP192R1(), 28: ec.SECP224R1(), 32: ec.SECP256R1(), 48: ec.SECP384R1(), 66: ec.SECP521R1()}
BITS = {curve.key_size: curve for curve in CURVES.values()}


# Keys

# Reading an RSA key checks its primes, which takes longer than using it.
@functools.lru_cache
def private_key(data):
    if data[0] == 0x30:
        return serialization.load_der_private_key(data, None)
    size = (len(data) - 1) // 3
    return ec.derive_private_key(int.from_bytes(data[1 + 2 * size:], "big"), CURVES[size])


@functools.lru_cache
def public_key(data):
    if data[0] == 0x30:
        return serialization.load_der_public_key(data)
    return ec.EllipticCurvePublicKey.from_encoded_point(CURVES[(len(data) - 1) // 2], data)


def external_public(key):
    if isinstance(key, rsa.RSAPublicKey):
        return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.PKCS1)
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def external_private(key):
    if isinstance(key, rsa.RSAPrivateKey):
        return key.private_bytes(
            serialization.Encoding.DER, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    return external_public(key.public_key()) + key.private_numbers().private_value.to_bytes(size_of(key), "big")


def size_of(key):
    """The bytes of a coordinate or of the modulus."""
    return (key.key_size + 7) // 8


def generate(kind, bits):
    if kind == "EC":
        return ec.generate_private_key(BITS[bits])
    return rsa.generate_private_key(65537, bits)


def complete(n, e, d):
    """The key of which only modulus and exponents are known."""
    p, q = rsa.rsa_recover_prime_factors(n, e, d)
    public = rsa.RSAPublicNumbers(e, n)
    return rsa.RSAPrivateNumbers(
        p, q, d, rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q), public).private_key()


# Signatures

def parse_signature(algorithm):
    """Family, form, whether the input is a digest, and the hash function or None."""
    parts = algorithm.split(":")
    family, name = parts[2], parts[3]
    digest = HASHES.get(parts[4]) if len(parts) > 4 else None
    if name in ("raw", "RFC4754"):
        return family, name, True, digest
    kind, form = name.split("-")
    return family, form, kind == "digest", digest


def digest_of(data, is_digest, function):
    if is_digest:
        return data
    return hashlib.new(function.name, data).digest()


def padded(key, digest):
    """PKCS#1 v1.5 padding for a signature without DigestInfo."""
    return b"\x00\x01" + b"\xff" * (size_of(key) - len(digest) - 3) + b"\x00" + digest


def to_raw(signature, size):
    r, s = utils.decode_dss_signature(signature)
    return r.to_bytes(size, "big") + s.to_bytes(size, "big")


def to_der(signature):
    half = len(signature) // 2
    return utils.encode_dss_signature(int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big"))


class AnyLength(hashes.SHA512):
    """Stands for a digest of whatever length: only the length is looked at."""

    def __init__(self, length):
        self.length = length

    @property
    def digest_size(self):
        return self.length


def prehashed(digest):
    same = [function for function in HASHES.values() if function.digest_size == len(digest)]
    return utils.Prehashed(same[0] if same else AnyLength(len(digest)))


def sign(key, algorithm, data, deterministic=False):
    family, form, is_digest, function = parse_signature(algorithm)
    digest = digest_of(data, is_digest, function)
    if family == "ECDSA":
        # An option of newer versions, which only the making of vectors needs.
        options = {"deterministic_signing": True} if deterministic else {}
        signature = key.sign(digest, ec.ECDSA(prehashed(digest), **options))
        return signature if form == "X962" else to_raw(signature, size_of(key))
    numbers = key.private_numbers()
    if form == "raw" or function is None:
        block = digest if form == "raw" else padded(key, digest)
        value = pow(int.from_bytes(block, "big"), numbers.d, numbers.public_numbers.n)
        return value.to_bytes(size_of(key), "big")
    return key.sign(digest, rsa_padding(form, function), utils.Prehashed(function))


def verify(key, algorithm, data, signature):
    family, form, is_digest, function = parse_signature(algorithm)
    digest = digest_of(data, is_digest, function)
    try:
        if family == "ECDSA":
            key.verify(signature if form == "X962" else to_der(signature), digest, ec.ECDSA(prehashed(digest)))
        elif form == "raw" or function is None:
            numbers = key.public_numbers()
            value = pow(int.from_bytes(signature, "big"), numbers.e, numbers.n).to_bytes(size_of(key), "big")
            return value == (digest.rjust(size_of(key), b"\0") if form == "raw" else padded(key, digest))
        else:
            key.verify(signature, digest, rsa_padding(form, function), utils.Prehashed(function))
        return True
    except InvalidSignature:
        return False


def rsa_padding(form, function):
    if form == "PSS":
        return padding.PSS(padding.MGF1(function), function.digest_size)
    return padding.PKCS1v15()


# Encryption

def x963(secret, function, count, shared_info):
    return X963KDF(function, count, shared_info).derive(secret)


def seal(key, nonce, plaintext, header=b""):
    encryptor = Cipher(algorithms.AES(key), modes.GCM(nonce)).encryptor()
    encryptor.authenticate_additional_data(header)
    return encryptor.update(plaintext) + encryptor.finalize() + encryptor.tag


def open_sealed(key, nonce, sealed, header=b""):
    decryptor = Cipher(algorithms.AES(key), modes.GCM(nonce, sealed[-16:])).decryptor()
    decryptor.authenticate_additional_data(header)
    return decryptor.update(sealed[:-16]) + decryptor.finalize()


def ecies_key(secret, algorithm, bits, point):
    parts = algorithm.split(":")
    count = 16 if bits <= 256 else 32
    if parts[6] == "AESGCM-KDFIV":
        derived = x963(secret, HASHES[parts[5]], count + 16, point)
        return derived[:count], derived[count:]
    return x963(secret, HASHES[parts[5]], count, point), bytes(16)


def oaep(algorithm):
    function = HASHES[algorithm.split(":")[4]]
    return padding.OAEP(padding.MGF1(function), function, None)


def encrypt(key, algorithm, plaintext, ephemeral=None, session=None):
    if isinstance(key, ec.EllipticCurvePublicKey):
        ephemeral = ephemeral or ec.generate_private_key(key.curve)
        point = external_public(ephemeral.public_key())
        secret = ephemeral.exchange(ec.ECDH(), key)
        return point + seal(*ecies_key(secret, algorithm, key.key_size, point), plaintext)
    if algorithm.endswith(":AESGCM"):
        session = session or os.urandom(16 if key.key_size < 4096 else 32)
        return key.encrypt(session, oaep(algorithm)) + seal(session, bytes(16), plaintext, external_public(key))
    if algorithm.endswith(":raw"):
        numbers = key.public_numbers()
        return pow(int.from_bytes(plaintext, "big"), numbers.e, numbers.n).to_bytes(size_of(key), "big")
    return key.encrypt(plaintext, padding.PKCS1v15() if algorithm.endswith(":PKCS1") else oaep(algorithm))


def decrypt(key, algorithm, data):
    size = size_of(key)
    if isinstance(key, ec.EllipticCurvePrivateKey):
        point = data[:2 * size + 1]
        secret = key.exchange(ec.ECDH(), public_key(point))
        return open_sealed(*ecies_key(secret, algorithm, key.key_size, point), data[2 * size + 1:])
    if algorithm.endswith(":AESGCM"):
        session = key.decrypt(data[:size], oaep(algorithm))
        return open_sealed(session, bytes(16), data[size:], external_public(key.public_key()))
    if algorithm.endswith(":raw"):
        numbers = key.private_numbers()
        return pow(int.from_bytes(data, "big"), numbers.d, numbers.public_numbers.n).to_bytes(size, "big")
    return key.decrypt(data, padding.PKCS1v15() if algorithm.endswith(":PKCS1") else oaep(algorithm))


def exchange(key, peer, algorithm, count, shared_info):
    secret = key.exchange(ec.ECDH(), peer)
    parts = algorithm.split(":")
    return secret if len(parts) == 3 else x963(secret, HASHES[parts[4]], count, shared_info)


# Requests

def answer(request):
    operation, algorithm = request["op"], request.get("algorithm")
    data = {name: bytes.fromhex(request[name]) for name in ("key", "peer", "input", "signature", "sharedInfo")
            if name in request}
    if operation == "generate":
        key = generate(request["type"], request["bits"])
        return {"private": external_private(key).hex(), "public": external_public(key.public_key()).hex()}
    if operation == "complete":
        return {"result": external_private(complete(*(int(request[name], 16) for name in "ned"))).hex()}
    if operation == "sign":
        return {"result": sign(private_key(data["key"]), algorithm, data["input"]).hex()}
    if operation == "verify":
        return {"isValid": verify(public_key(data["key"]), algorithm, data["input"], data["signature"])}
    if operation == "encrypt":
        return {"result": encrypt(public_key(data["key"]), algorithm, data["input"]).hex()}
    if operation == "decrypt":
        return {"result": decrypt(private_key(data["key"]), algorithm, data["input"]).hex()}
    return {"result": exchange(
        private_key(data["key"]), public_key(data["peer"]), algorithm, request.get("count", 0),
        data.get("sharedInfo", b"")).hex()}


def main():
    for line in sys.stdin:
        try:
            result = answer(json.loads(line))
        except Exception as error:  # Whatever it is, the other side wants to know.
            result = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
