#!/usr/bin/env python3
"""Reads and writes files of items without any of the Swift code, from Documentation/Specify/Formats/ItemFiles.md alone.

    item-file.py read (--passphrase FILE | --key FILE) FILE       prints the items as JSON
    item-file.py write (--passphrase FILE | --to FILE) ITEMS FILE
    item-file.py vectors                                          prints the published vectors
    item-file.py rfc9180                                          checks HPKE with a vector of RFC 9180

ITEMS is a JSON file with a list of items in the form in which `read` prints them. A passphrase is the bytes of its
file. --key is a private key on P-256 in PEM (PKCS#8), and --to the public key of the recipient in PEM. What does not
agree with the page ends the program with a message.
"""

import argparse
import hashlib
import hmac
import importlib.util
import json
import os
import struct
import sys
import uuid
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap

# Argon2id, HKDF and the form of printed attributes.
spec = importlib.util.spec_from_file_location("reader", Path(__file__).with_name("format-vectors.py"))
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)

MAGIC = b"SKITEMS\0\0\1"
PURPOSE = b"swift-keychain/v1/items"
TRAVELLING = {1: "ak", 2: "ck", 3: "dk"}
LARGEST = 32 << 20
FLAGS = [0, 1, 3, 4, 5, 14, 15, 30, 31]


def fail(message):
    sys.exit(f"item-file: {message}")


def check(condition, message):
    if not condition:
        fail(message)


# HPKE (RFC 9180), base mode, DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM.

KEM_SUITE = b"KEM" + struct.pack(">H", 0x0010)
SUITE = b"HPKE" + struct.pack(">HHH", 0x0010, 0x0001, 0x0002)


def extract(salt, material):
    return hmac.digest(salt or bytes(32), material, "sha256")


def expand(key, info, length):
    block, output, number = b"", b"", 1
    while len(output) < length:
        block = hmac.digest(key, block + info + bytes([number]), "sha256")
        output, number = output + block, number + 1
    return output[:length]


def labeled_extract(suite, salt, label, material):
    return extract(salt, b"HPKE-v1" + suite + label + material)


def labeled_expand(suite, key, label, info, length):
    return expand(key, struct.pack(">H", length) + b"HPKE-v1" + suite + label + info, length)


def point(public_key):
    return public_key.public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def kem_secret(agreed, encapsulated, recipient):
    key = labeled_extract(KEM_SUITE, b"", b"eae_prk", agreed)
    return labeled_expand(KEM_SUITE, key, b"shared_secret", encapsulated + recipient, 32)


def key_schedule(shared, info):
    context = (
        b"\0" + labeled_extract(SUITE, b"", b"psk_id_hash", b"") + labeled_extract(SUITE, b"", b"info_hash", info))
    secret = labeled_extract(SUITE, shared, b"secret", b"")
    return labeled_expand(SUITE, secret, b"key", context, 32), labeled_expand(SUITE, secret, b"base_nonce", context, 12)


def hpke_sender(recipient, ephemeral, info):
    encapsulated = point(ephemeral.public_key())
    agreed = ephemeral.exchange(ec.ECDH(), recipient)
    return encapsulated, *key_schedule(kem_secret(agreed, encapsulated, point(recipient)), info)


def hpke_recipient(private, encapsulated, info):
    try:
        peer = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), encapsulated)
    except ValueError:
        fail("the encapsulated key is no point on the curve")
    agreed = private.exchange(ec.ECDH(), peer)
    return key_schedule(kem_secret(agreed, encapsulated, point(private.public_key())), info)


def private_key(number):
    return ec.derive_private_key(int(number, 16), ec.SECP256R1())


# The contents.


class Bytes:
    def __init__(self, data):
        self.data, self.position = data, 0

    def take(self, count):
        part = self.data[self.position : self.position + count]
        check(len(part) == count, "the contents end early")
        self.position += count
        return part

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]


def decode(data):
    bytes_, items = Bytes(data), []
    count = bytes_.number(">I")
    check(1 <= count <= 1000, "number of items")
    for _ in range(count):
        item, last = {"attributes": {}, "custom": {}}, None
        for _ in range(bytes_.number(">I")):
            field = bytes_.number(">B")
            part = Bytes(bytes_.take(bytes_.number(">I")))
            name = decode_field(field, part, item)
            check(part.position == len(part.data), "length of a field")
            check(last is None or last < (field, name), "order of the fields")
            last = (field, name)
        needed = {"class", "identifier", "protection", "synchronizable", "created", "modified", "group", "version"}
        check(needed <= set(item), "a field is missing")
        check(len(item["custom"]) <= 64, "number of custom attributes")
        items.append(item)
    check(bytes_.position == len(data), "bytes after the items")
    return items


def decode_field(field, part, item):
    """The name by which fields of this number are in order."""
    rest = len(part.data)
    if field == 1:
        item["class"] = reader.CLASSES[part.number(">B")]
    elif field == 2:
        item["identifier"] = str(uuid.UUID(bytes=part.take(16))).upper()
    elif field == 3:
        item["protection"] = TRAVELLING[part.number(">B")]
    elif field == 4:
        item["accessControlFlags"] = part.number(">Q")
        check(not item["accessControlFlags"] & ~sum(1 << bit for bit in FLAGS), "flags")
    elif field == 5:
        value = part.number(">B")
        check(value <= 1, "synchronizable")
        item["synchronizable"] = bool(value)
    elif field in (6, 7, 8):
        item[{6: "created", 7: "modified", 8: "expires"}[field]] = part.number(">d")
    elif field == 9:
        item["group"] = part.take(rest).decode()
    elif field == 10:
        name, kind = part.take(4), part.number(">B")
        value = {
            1: lambda: part.take(rest - 5).decode(),
            2: lambda: part.take(rest - 5),
            3: lambda: part.number(">q"),
            4: lambda: reader.Real(part.number(">d")),
            5: lambda: reader.Date(part.number(">d")),
        }[kind]()
        item["attributes"][name.decode()] = reader.printable(value)
        return name
    elif field == 11:
        name = part.take(part.number(">B"))
        check(name, "name of a custom attribute")
        item["custom"][name.decode()] = part.take(rest - len(name) - 1).decode()
        return name
    elif field == 12:
        item["value"] = part.take(rest).hex()
    elif field == 13:
        item["version"] = part.number(">Q")
        check(1 <= item["version"] <= 1 << 62, "version")
    elif field == 14:
        item["kept"] = part.number(">H")
        check(item["kept"] <= 1000, "number of former versions")
    else:
        fail("unknown field")
    return b""


def encode(items):
    codes = {name: code for code, name in reader.CLASSES.items()}
    classes = {name: code for code, name in TRAVELLING.items()}
    data = struct.pack(">I", len(items))
    for item in items:
        fields = [
            (1, bytes([codes[item["class"]]])),
            (2, uuid.UUID(item["identifier"]).bytes),
            (3, bytes([classes[item["protection"]]])),
        ]
        if item.get("accessControlFlags") is not None:
            fields.append((4, struct.pack(">Q", item["accessControlFlags"])))
        fields.append((5, bytes([item["synchronizable"]])))
        fields.append((6, struct.pack(">d", item["created"])))
        fields.append((7, struct.pack(">d", item["modified"])))
        if item.get("expires") is not None:
            fields.append((8, struct.pack(">d", item["expires"])))
        fields.append((9, item["group"].encode()))
        for name, printed in sorted(item.get("attributes", {}).items()):
            ((kind, value),) = printed.items()
            fields.append((10, name.encode() + {
                "string": lambda: b"\1" + value.encode(),
                "data": lambda: b"\2" + bytes.fromhex(value),
                "number": lambda: b"\3" + struct.pack(">q", value),
                "real": lambda: b"\4" + struct.pack(">d", value),
                "date": lambda: b"\5" + struct.pack(">d", value),
            }[kind]()))
        for name, value in sorted((n.encode(), v.encode()) for n, v in item.get("custom", {}).items()):
            fields.append((11, bytes([len(name)]) + name + value))
        if item.get("value") is not None:
            fields.append((12, bytes.fromhex(item["value"])))
        fields.append((13, struct.pack(">Q", item["version"])))
        if item.get("kept") is not None:
            fields.append((14, struct.pack(">H", item["kept"])))
        data += struct.pack(">I", len(fields))
        data += b"".join(struct.pack(">BI", field, len(content)) + content for field, content in fields)
    return data


# The file.


def wrapping_key(passphrase, identifier, form):
    _, way, first, second, third = struct.unpack(">BBIII", form[:14])
    check(form[0] == 1 and (way, third) == (1, 1), "way of the passphrase")
    check(8 <= first <= 1 << 20 and 1 <= second <= 64 and first * second << 10 <= 16 << 30, "cost of the passphrase")
    stretched = reader.argon2id(passphrase, form[14:30], first, second)
    return expand(extract(identifier, stretched), b"swift-keychain/v1/file-key/password" + form, 32)


def read(data, passphrase=None, key=None):
    check(len(data) <= LARGEST + 256, "size of the file")
    check(data[:10] == MAGIC, "not a file of items of version 1")
    if data[10] == 1:
        check(passphrase is not None, "a passphrase opens the file")
        identifier, wrapped, head = data[11:27], data[27:97], data[:97]
        try:
            secret = aes_key_unwrap(wrapping_key(passphrase, identifier, wrapped[:30]), wrapped[30:])
        except InvalidUnwrap:
            fail("the passphrase is wrong")
        nonce = bytes(12)
    else:
        check(data[10] == 2 and key is not None, "a private key opens the file")
        label, encapsulated, head = data[11:31], data[31:96], data[:96]
        check(label == hashlib.sha1(point(key.public_key())).digest(), "the file is for another key")
        secret, nonce = hpke_recipient(key, encapsulated, PURPOSE)
    try:
        return decode(AESGCM(secret).decrypt(nonce, data[len(head) :], head))
    except InvalidTag:
        fail("the contents were changed")


def under_passphrase(items, passphrase, cost=(64, 1), identifier=None, salt=None, secret=None):
    identifier, salt, secret = identifier or os.urandom(16), salt or os.urandom(16), secret or os.urandom(32)
    form = struct.pack(">BBIII", 1, 1, *cost, 1) + salt
    wrapping = wrapping_key(passphrase, identifier, form)
    head = MAGIC + b"\1" + identifier + form + aes_key_wrap(wrapping, secret)
    return head + AESGCM(secret).encrypt(bytes(12), encode(items), head)


def for_key(items, recipient, ephemeral=None):
    ephemeral = ephemeral or ec.generate_private_key(ec.SECP256R1())
    encapsulated, secret, nonce = hpke_sender(recipient, ephemeral, PURPOSE)
    head = MAGIC + b"\2" + hashlib.sha1(point(recipient)).digest() + encapsulated
    return head + AESGCM(secret).encrypt(nonce, encode(items), head)


VECTOR = [{
    "class": "genp", "identifier": "00010203-0405-0607-0809-0A0B0C0D0E0F", "protection": "ak",
    "accessControlFlags": 1, "synchronizable": False, "created": 800000000.5, "modified": 800000001.0,
    "expires": 900000000.0, "group": "com.example.mail",
    "attributes": {"acct": {"string": "ada"}, "svce": {"string": "mail"}}, "custom": {"stage": "test"},
    "value": b"hunter2".hex(), "version": 7, "kept": 5,
}]
# The recipient and the ephemeral key of a vector of RFC 9180.
RECIPIENT = "317f915db7bc629c48fe765587897e01e282d3e8445f79f27f65d031a88082b2"
EPHEMERAL = "90345e3a1d116c1dd39ae76d95ab858c142223a63e44f8f85318cfa91a84858e"


def vectors():
    sealed = for_key(VECTOR, private_key(RECIPIENT).public_key(), private_key(EPHEMERAL))
    phrase = under_passphrase(
        VECTOR, b"correct horse battery staple", (64, 1), bytes(range(16)), bytes(range(0x80, 0x90)),
        bytes(range(0x20, 0x40)))
    print(f"contents    {encode(VECTOR).hex()}\nkey         {sealed.hex()}\npassphrase  {phrase.hex()}")


def rfc9180():
    """A vector of the file that RFC 9180 names, for this suite in base mode."""
    encapsulated, key, nonce = hpke_sender(
        private_key(RECIPIENT).public_key(), private_key(EPHEMERAL), bytes.fromhex(
            "4f6465206f6e2061204772656369616e2055726e"))
    check(encapsulated.hex() == (
        "04c06b4f6bebc7bb495cb797ab753f911aff80aefb86fd8b6fcc35525f3ab5f03e0b21bd31a86c6048af3cb2d98e0d3bf01da5cc4c39ff"
        "5370d331a4f1f7d5a4e0"), "encapsulated key")
    check(key.hex() == "ee16802a936d5f544771131900ee6973d0551de9e852ece2ef34bf0d5f9e1d1d", "key")
    check(nonce.hex() == "9bc50980832a7b4b58c40161", "nonce")
    sealed = AESGCM(key).encrypt(nonce, b"Beauty is truth, truth beauty", b"Count-0")
    check(sealed.hex() == (
        "58c61a45059d0c5704560e9d88b564a8b63f1364b8d1fcb3c4c6ddc1d291742465e902cd216f8908da49f8f96f"), "ciphertext")
    check(hpke_recipient(private_key(RECIPIENT), encapsulated, bytes.fromhex(
        "4f6465206f6e2061204772656369616e2055726e")) == (key, nonce), "opening")
    print("ok")


def main(arguments):
    parser = argparse.ArgumentParser(description="Read and write files of items.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("read", "write"):
        command = commands.add_parser(name)
        command.add_argument("--passphrase", type=Path)
        command.add_argument("--key" if name == "read" else "--to", type=Path, dest="key")
        if name == "write":
            command.add_argument("items", type=Path)
        command.add_argument("file", type=Path)
    commands.add_parser("vectors")
    commands.add_parser("rfc9180")
    options = parser.parse_args(arguments)
    if options.command == "vectors":
        return vectors()
    if options.command == "rfc9180":
        return rfc9180()
    passphrase = options.passphrase and options.passphrase.read_bytes()
    if options.command == "read":
        key = options.key and serialization.load_pem_private_key(options.key.read_bytes(), None)
        json.dump(read(options.file.read_bytes(), passphrase, key), sys.stdout, indent=1, ensure_ascii=False)
        return print()
    items = json.loads(options.items.read_text())
    if passphrase is not None:
        options.file.write_bytes(under_passphrase(items, passphrase))
    else:
        options.file.write_bytes(for_key(items, serialization.load_pem_public_key(options.key.read_bytes())))


if __name__ == "__main__":
    main(sys.argv[1:])
