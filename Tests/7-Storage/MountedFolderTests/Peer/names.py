#!/usr/bin/env python3
"""A second implementation of the names and links of mounted folders, from the description of the format.

Answers each line of its input with one:

    name KEY FOLDER NAME      what a name is below (KEY, FOLDER and NAME in hexadecimal)
    plain KEY FOLDER BELOW    the name that something below has, in hexadecimal
    link KEY BELOW            where a link leads, in hexadecimal

AES-256-GCM-SIV is spelt out from RFC 8452, since few libraries have it.
"""
import base64
import hashlib
import hmac
import sys

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes


def hkdf(key, salt, info):
    extracted = hmac.new(salt or bytes(32), key, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\x01", hashlib.sha256).digest()


def block_cipher(key, block):
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def dot(left, right):
    """RFC 8452, section 3: the product, divided by x^128, in the field of x^128 + x^127 + x^126 + x^121 + 1."""
    modulus = 1 << 128 | 1 << 127 | 1 << 126 | 1 << 121 | 1
    result = 0
    for bit in range(128):
        if right >> bit & 1:
            result ^= left
        # Divided by x, as often as bits remain.
        if result & 1:
            result ^= modulus
        result >>= 1
    return result


def polyval(key, data):
    key, sum = int.from_bytes(key, "little"), 0
    for start in range(0, len(data), 16):
        sum = dot(key, sum ^ int.from_bytes(data[start:start + 16], "little"))
    return sum.to_bytes(16, "little")


def padded(data):
    return data + bytes(-len(data) % 16)


def derived(key, nonce):
    parts = [block_cipher(key, number.to_bytes(4, "little") + nonce)[:8] for number in range(6)]
    return b"".join(parts[:2]), b"".join(parts[2:])


def tag(authentication, encryption, nonce, plain):
    sum = bytearray(polyval(authentication, padded(plain) + bytes(8) + (len(plain) * 8).to_bytes(8, "little")))
    for place in range(12):
        sum[place] ^= nonce[place]
    sum[15] &= 0x7F
    return block_cipher(encryption, bytes(sum))


def counted(encryption, tag, data):
    counter, result = bytearray(tag), b""
    counter[15] |= 0x80
    for start in range(0, len(data), 16):
        stream = block_cipher(encryption, bytes(counter))
        result += bytes(a ^ b for a, b in zip(data[start:start + 16], stream))
        counter[:4] = ((int.from_bytes(counter[:4], "little") + 1) % (1 << 32)).to_bytes(4, "little")
    return result


def seal(key, nonce, plain):
    authentication, encryption = derived(key, nonce)
    check = tag(authentication, encryption, nonce, plain)
    return counted(encryption, check, plain) + check


def unseal(key, nonce, sealed):
    authentication, encryption = derived(key, nonce)
    check = sealed[-16:]
    plain = counted(encryption, check, sealed[:-16])
    assert tag(authentication, encryption, nonce, plain) == check, "the tag does not fit"
    return plain


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


# RFC 8452, appendix C.2
assert seal(b"\x01" + bytes(31), b"\x03" + bytes(11), b"\x01" + bytes(7)).hex() == \
    "c2ef328e5c71c83b843122130f7364b761e0b97427e3df28"


def answer(command, key, *words):
    key = bytes.fromhex(key)
    if command == "link":
        sealed = decode(words[0])
        return unseal(hkdf(key, b"", b"swift-keychain/v1/mount/links"), sealed[:12], sealed[12:]).hex()
    folder_key = hkdf(key, bytes.fromhex(words[0]), b"swift-keychain/v1/mount/names")
    if command == "name":
        return encode(seal(folder_key, bytes(12), bytes.fromhex(words[1])))
    return unseal(folder_key, bytes(12), decode(words[1])).hex()


for line in sys.stdin:
    print(answer(*line.split()), flush=True)
