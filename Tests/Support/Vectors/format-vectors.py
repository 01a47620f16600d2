#!/usr/bin/env python3
"""Opens a vault folder without any of the Swift code and prints what is in it as JSON.

A second implementation of the formats in Documentation/Specify/Formats: device secret, keybag, item rows, the digests
rows are found by, keys of files, backups, and the audit log. Everything that can be recomputed is, and anything that does
not agree ends the program with a message. The vault must not be open anywhere else.

    format-vectors.py [--keys] [--passcode FILE] [--application-password FILE] [--enrolment FILE]
                      [--file-key CLASS:FILE:WRAPPED]... FOLDER
    format-vectors.py --audit-key KEYBAG:KEY FOLDER
    format-vectors.py --backup-password FILE BACKUP

With --keys the output also holds every derived key, as test vectors for other implementations; the
keys of a vault that is in use are secrets. Each FILE holds the
passcode, the application password or the state of the enrolment, byte for byte; items whose factors are not
given are listed without their value. Each --file-key is the number of a file's class, its identifier and its
wrapped key, the last two in hexadecimal, and has the file's key printed.
The second form reads an audit log alone, whose key is given in hexadecimal. The third form prints the items of a backup.
"""

import argparse
import hashlib
import hmac
import importlib.util
import json
import sqlite3
import struct
import sys
import uuid
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap

spec = importlib.util.spec_from_file_location("pages", Path(__file__).with_name("database-pages.py"))
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)

PROTECTION = {1: "ak", 2: "ck", 3: "dk", 4: "akpu", 5: "aku", 6: "cku", 7: "dku"}
CLASSES = {1: "genp", 2: "inet", 3: "cert", 4: "keys"}
FILED = {
    "genp": ["svce", "acct", "labl", "gena"],
    "inet": ["srvr", "acct", "labl", "sdmn"],
    "cert": ["issr", "slnr", "subj", "skid", "pkhh", "labl"],
    "keys": ["klbl", "atag", "labl"],
}
LOOKUP = {"genp": ["svce", "acct"], "inet": ["srvr", "acct"], "cert": [], "keys": []}

# The attributes of each class that are not compared as caller-typed blobs, by kind, and the
# primary key with the default of each part. "agrp" and "sync" have places of their own.
NUMBERS = {
    "genp": {"crtr", "type", "scrp", "invi", "nega", "cusi"},
    "inet": {"crtr", "type", "scrp", "invi", "nega", "cusi", "ptcl", "port"},
    "cert": {"ctyp", "cenc"},
    "keys": {
        "kcls", "crtr", "type", "bsiz", "esiz", "perm", "priv", "modi", "sens", "asen", "extr", "next",
        "encr", "decr", "drve", "sign", "vrfy", "snrc", "vyrc", "wrap", "unwp",
    },
}
ALL_NUMBERS = {"sync", "tomb"}
ALL_KEY = {"tkid": "", "vwht": "", "musr": b"", "ggrp": ""}
PRIMARY_KEY = {
    "genp": {"acct": "", "svce": ""},
    "inet": {"acct": "", "sdmn": "", "srvr": "", "ptcl": 0, "atyp": "", "port": 0, "path": ""},
    "cert": {"ctyp": 0, "issr": b"", "slnr": b""},
    "keys": {
        "kcls": 0, "klbl": b"", "atag": "", "crtr": 0, "type": 0, "bsiz": 0, "esiz": 0,
        "sdat": None, "edat": None,
    },
}


class Real(float):
    """An attribute of type 'real'."""


class Date(float):
    """An attribute of type 'date': seconds since 2001-01-01 UTC."""


def fail(message):
    sys.exit(f"format-vectors: {message}")


def check(condition, message):
    if not condition:
        fail(message)


def derive(secret, salt, context):
    """HKDF-SHA256, 32 bytes."""
    return HKDF(hashes.SHA256(), 32, salt, context.encode()).derive(secret)


def read_device_secret(data):
    check(len(data) == 50 and data[:8] == b"SKDEVICE", "not a device secret")
    check(data[8:10] == b"\0\1", "unknown version of the device secret")
    check(hashlib.sha256(data[:42]).digest()[:8] == data[42:], "check value of the device secret")
    return data[10:42]


def argon2id(password, salt, memory, passes):
    """Argon2id with one lane, 32 bytes."""
    try:
        from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
    except ImportError:
        from argon2.low_level import Type, hash_secret_raw

        return hash_secret_raw(password, salt, passes, memory, 1, 32, Type.ID)
    return Argon2id(salt=salt, length=32, iterations=passes, lanes=1, memory_cost=memory).derive(password)


def read_attempts(data, secret, salt):
    check(len(data) == 70 and data[:10] in (b"SKTRIES\0\0\1", b"SKTRIES\0\0\2"), "not a record of attempts")
    salt = salt if data[9] == 1 else bytes(32)
    mac = hmac.digest(derive(secret, salt, f"swift-keychain/v{data[9]}/attempts"), data[:38], "sha256")
    check(mac == data[38:], "MAC of the attempts")
    failures, boot, milliseconds = struct.unpack(">I16sQ", data[10:38])
    return {"failures": failures, "boot": boot, "milliseconds": milliseconds}


def read_keybag(data, secret, passcode):
    check(data[:8] == b"SKKEYBAG" and data[8:10] in (b"\0\1", b"\0\5"), "not a keybag of version 1 or 5")
    check(data[10] == 1 and data[11] <= 1, "not a software enclave")
    salt, count = data[44:76], data[76]
    end = 77 + 41 * count
    passcode_key, sequence = None, None
    if data[11] == 1:
        passcode_salt, memory, passes, _ = struct.unpack(">16sIIB", data[end : end + 25])
        end += 25
        check(passcode is not None, "the vault has a passcode; give it with --passcode")
        passcode_key = argon2id(passcode, passcode_salt, memory, passes)
    if data[9] == 5:
        # A software enclave has no binding, and no counter.
        check(data[end : end + 16] == bytes(16), "what a software enclave does not have")
        sequence = struct.unpack(">Q", data[end + 16 : end + 24])[0]
        end += 24
    body, mac = data[:end], data[end:]
    mac_key = derive(secret, salt, "swift-keychain/v1/keybag")
    check(hmac.digest(mac_key, body, "sha256") == mac, "MAC of the keybag")
    keys = {}
    for index in range(count):
        entry = body[77 + 41 * index : 77 + 41 * (index + 1)]
        name = PROTECTION[entry[0]]
        tangle = passcode_key if passcode_key and name not in ("dk", "dku") else b""
        wrapping = derive(secret + tangle, salt, f"swift-keychain/v1/class-key/{name}")
        class_key = aes_key_unwrap(wrapping, entry[1:])
        keys[name] = {
            "wrapping": wrapping,
            "class": class_key,
            "metadata": derive(class_key, None, "swift-keychain/v1/metadata"),
        }
    return {
        "identifier": data[12:28],
        "replaces": data[28:44],
        "salt": salt,
        "sequence": sequence,
        "mac": mac_key,
        "keys": keys,
        "index": derive(keys["dk"]["class"], None, "swift-keychain/v1/index"),
    }


# The protection class whose key opens the files of a class, and the class's name.
FILE_CLASSES = {
    1: ("ak", "complete"), 2: ("ak", "complete-unless-open"), 3: ("ck", "until-first-unlock"), 4: ("dk", "none"),
}


def store_key(keybag):
    return derive(keybag["keys"]["dk"]["class"], None, "swift-keychain/v2/items")


def store_path(folder, keybag):
    return folder / f"items-{keybag['identifier'].hex()[:16]}.db"


def check_closed(path):
    log = path.with_name(path.name + "-wal")
    check(not log.exists() or log.stat().st_size == 0, "the vault is open elsewhere; close it first")


def open_store(folder, keybag):
    """A copy of the item store in memory, with the identifier and the index of the encrypted file; nil for a plain one."""
    if keybag["sequence"] is None:
        check_closed(folder / "items.db")
        return sqlite3.connect(f"{(folder / 'items.db').absolute().as_uri()}?immutable=1", uri=True), None
    path = store_path(folder, keybag)
    check_closed(path)
    plain, *file = pages.open_database(store_key(keybag), path)
    store = sqlite3.connect(":memory:", isolation_level=None)
    # Not for a log, which a database in memory does not have.
    store.deserialize(plain[:18] + b"\1\1" + plain[20:])
    return store, file


def former_keys(folder, keybag):
    """The class keys before they were renewed, by keybag and class, the latest first."""
    path = folder / f"former-keys-{keybag['identifier'].hex()[:16]}"
    return read_former_keys(path.read_bytes(), keybag) if path.exists() else {}


def read_former_keys(data, keybag):
    present = {name: keys["class"] for name, keys in keybag["keys"].items()}
    check(data[:10] == b"SKFORMER\0\1" and data[10:26] == keybag["identifier"], "not the former keys of this keybag")
    key = derive(present["dk"], None, "swift-keychain/v2/former-keys")
    check(hmac.digest(key, data[:-32], "sha256") == data[-32:], "MAC of the former keys")
    count, position, former = struct.unpack(">H", data[26:28])[0], 28, {}
    for _ in range(count):
        name, entries = data[position : position + 16], data[position + 16]
        position += 17
        former[name] = {}
        for _ in range(entries):
            protection, wrapped = PROTECTION[data[position]], data[position + 1 : position + 41]
            position += 41
            if protection in present:
                wrapping = derive(present[protection], name, "swift-keychain/v2/former-class-key/" + protection)
                former[name][protection] = aes_key_unwrap(wrapping, wrapped)
    check(position == len(data) - 32, "length of the former keys")
    return former


def file_class_key(keybag, number, former=None):
    protection, name = FILE_CLASSES[number]
    return derive((former or {}).get(protection) or keybag["keys"][protection]["class"], None, "swift-keychain/v1/file-class/" + name)


def read_file_agreement_key(data, keybag):
    check(len(data) == 90 and data[:10] == b"SKFILEAG\0\1", "not a public key for files")
    check(data[10:26] == keybag["identifier"], "another keybag's public key for files")
    key = derive(keybag["keys"]["dk"]["class"], None, "swift-keychain/v1/file-agreement-key")
    check(hmac.digest(key, data[:58], "sha256") == data[58:], "MAC of the public key for files")
    private = X25519PrivateKey.from_private_bytes(file_class_key(keybag, 2))
    check(private.public_key().public_bytes_raw() == data[26:58], "the public key for files")


def open_file_key(keybag, number, file, wrapped):
    for former in [None, *keybag.get("former", {}).values()]:
        try:
            return open_file_key_under(file_class_key(keybag, number, former), number, file, wrapped)
        except InvalidUnwrap:
            pass
    fail("the key of a file does not open")


def open_file_key_under(key, number, file, wrapped):
    if number != 2:
        return aes_key_unwrap(derive(key, file, "swift-keychain/v1/file-key"), wrapped)
    check(len(wrapped) == 72, "length of a file's wrapped key")
    private = X25519PrivateKey.from_private_bytes(key)
    secret = private.exchange(X25519PublicKey.from_public_bytes(wrapped[:32]))
    info = b"swift-keychain/v1/file-key/agreed" + wrapped[:32] + private.public_key().public_bytes_raw()
    return aes_key_unwrap(HKDF(hashes.SHA256(), 32, file, info).derive(secret), wrapped[32:])


def decode_attributes(data):
    """The inside of sealed metadata."""
    version, has_flags, flags, created, modified, length = struct.unpack_from(">BBQddH", data)
    check(version in (1, 2, 3), "version of an attribute encoding")
    position = struct.calcsize(">BBQddH")
    group = data[position : position + length].decode()
    position += length
    (count,) = struct.unpack_from(">H", data, position)
    position += 2
    attributes = {}
    for _ in range(count):
        name, kind, length = struct.unpack_from(">4sBI", data, position)
        position += 9
        value = data[position : position + length]
        check(len(value) == length, "attributes end early")
        position += length
        attributes[name.decode()] = {
            1: lambda: value.decode(),
            2: lambda: value,
            3: lambda: struct.unpack(">q", value)[0],
            4: lambda: Real(struct.unpack(">d", value)[0]),
            5: lambda: Date(struct.unpack(">d", value)[0]),
        }[kind]()
    custom, expiry, kept = {}, None, None
    if version >= 2:
        check(data[position] <= 1, "expiry")
        if data[position]:
            (expiry,) = struct.unpack_from(">d", data, position + 1)
            position += 8
        position += 1
        (count,) = struct.unpack_from(">H", data, position)
        position += 2
        check(count <= 64, "number of custom attributes")
        check(version == 3 or count > 0 or expiry is not None, "version of attributes")
        for _ in range(count):
            parts = []
            for form, limit in ((">B", 255), (">H", 8192)):
                (length,) = struct.unpack_from(form, data, position)
                position += struct.calcsize(form)
                check(length <= limit, "length of a custom attribute")
                parts.append(data[position : position + length].decode())
                position += length
            custom[parts[0]] = parts[1]
        check(len(custom) == count and "" not in custom, "names of custom attributes")
        check(list(custom) == sorted(custom, key=str.encode), "custom attributes out of order")
    if version == 3:
        (kept,) = struct.unpack_from(">H", data, position)
        check(kept <= 1000, "number of kept versions")
        position += 2
    check(position == len(data), "bytes after the attributes")
    check(list(attributes) == sorted(attributes), "attributes out of order")
    return (flags if has_flags else None), created, modified, group, attributes, custom, expiry, kept


def canonical(value, is_number):
    """The bytes that stand for a value in digests."""
    if isinstance(value, str):
        return b"s" * is_number + value.encode()
    if isinstance(value, bytes):
        return value
    if isinstance(value, Date):
        return struct.pack(">d", value)
    if isinstance(value, Real):
        return b"r" + struct.pack(">d", value)
    if is_number:
        return b"n" + struct.pack(">q", value)
    return struct.pack("<I", value & 0xFFFFFFFF)


class Digests:
    """The digests of items that need an unlocking, or of the others. Groups and listings are under the key of those."""

    def __init__(self, keys, is_closed=False):
        self.open_key = derive(keys["dk"]["class"], None, "swift-keychain/v1/index")
        self.is_closed = is_closed
        self.key = derive(keys["ck"]["class"], None, "swift-keychain/v2/index") if is_closed else self.open_key

    @classmethod
    def of_row(cls, keys, protection, version):
        return cls(keys, version > 0 and protection not in ("dk", "dku"))

    def digest(self, message):
        return hmac.digest(self.key, message, "sha256")

    def term(self, class_code, name, message):
        return struct.unpack(">q", self.digest(b"t" + bytes([class_code]) + name.encode() + message)[:8])[0]

    def group(self, group):
        return struct.unpack(">q", hmac.digest(self.open_key, b"group" + group.encode(), "sha256")[:8])[0]

    def listing(self, row):
        message = b"t" + bytes([row["class"]]) + (b"clos" if self.is_closed else b"list") + struct.pack(">q", row["grp"])
        return struct.unpack(">q", hmac.digest(self.open_key, message, "sha256")[:8])[0]

    def primary_key(self, class_code, group, is_synchronizable, attributes):
        item_class = CLASSES[class_code]
        message = bytes([0x70, class_code, is_synchronizable])
        message += struct.pack(">I", len(group.encode())) + group.encode()
        for name, default in sorted((ALL_KEY | PRIMARY_KEY[item_class]).items()):
            value = attributes.get(name, default)
            if value is None:
                continue
            part = canonical(value, name in NUMBERS[item_class])
            message += name.encode() + struct.pack(">I", len(part)) + part
        return self.digest(message)[:16]

    def custom_terms(self, class_code, custom):
        for pair in custom.items():
            parts = [text.encode() for text in pair]
            message = b"".join(struct.pack(">I", len(part)) + part for part in parts)
            yield self.term(class_code, "cust", message)

    def terms(self, class_code, attributes, custom):
        item_class = CLASSES[class_code]
        numbers = NUMBERS[item_class] | ALL_NUMBERS
        defaults = {n: v for n, v in (ALL_KEY | PRIMARY_KEY[item_class]).items() if v is not None}
        every = defaults | attributes
        terms = [self.term(class_code, n, canonical(v, n in numbers)) for n, v in every.items()]
        if LOOKUP[item_class]:
            parts = [canonical(every[n], n in numbers) for n in LOOKUP[item_class]]
            message = b"".join(struct.pack(">I", len(part)) + part for part in parts)
            terms.append(self.term(class_code, "pair", message))
        return sorted([*terms, *self.custom_terms(class_code, custom)])

    def filing(self, row, attributes, custom):
        """The terms that an item is filed under."""
        class_code = row["class"]
        item_class = CLASSES[class_code]
        numbers = NUMBERS[item_class] | ALL_NUMBERS
        terms = {self.listing(row)}
        terms.add(struct.unpack(">q", row["uuid"][:8])[0])
        for name in FILED[item_class]:
            if name in attributes:
                terms.add(self.term(class_code, name, canonical(attributes[name], name in numbers)))
        if LOOKUP[item_class]:
            every = {n: v for n, v in (ALL_KEY | PRIMARY_KEY[item_class]).items() if v is not None} | attributes
            parts = [canonical(every[n], n in numbers) for n in LOOKUP[item_class]]
            message = b"".join(struct.pack(">I", len(part)) + part for part in parts)
            terms.add(self.term(class_code, "pair", message))
        return terms | set(self.custom_terms(class_code, custom))


def read_seal_header(header, class_key, factors):
    """What a value is sealed under beside its class key, and the wrapping key if the factors are known."""
    check(header[0] == 2, "version of a value's seal")
    bits, position = header[1], 2
    check(bits & 5 and not bits & ~0x87 and bits & 6 != 2, "factors of a value's seal")
    known, material, sealed = True, class_key, {}
    if bits & 1:
        memory, passes, salt = struct.unpack_from(">II16s", header, position)
        position += 24
        sealed["password"] = {"memoryKiB": memory, "passes": passes, "salt": salt.hex()}
        password = factors["password"]
        known = known and password is not None
        if known:
            material += argon2id(password, salt, memory, passes)
    if bits & 4:
        stored = header[position : position + 16]
        position += 16
        sealed["enrolment"] = {"check": stored.hex(), "mixedIn": bool(bits & 2)}
        state = factors["enrolment"]
        if state is not None:
            expected = hmac.digest(class_key, b"swift-keychain/v2/enrolment-check" + state, "sha256")
            check(expected[:16] == stored, "the enrolment is another one")
        if bits & 2:
            known = known and state is not None
            if known:
                material += hmac.digest(class_key, b"swift-keychain/v2/enrolment-factor" + state, "sha256")
    check(position == len(header), "length of a value's seal")
    wrapping = None
    if known:
        wrapping = HKDF(hashes.SHA256(), 32, None, b"swift-keychain/v2/item-wrap" + header).derive(material)
        sealed["wrappingKey"] = wrapping.hex()
    return sealed, wrapping, not bits & 0x80


def read_filings(store, version):
    """The terms and groups that each row is filed under."""
    tables = {
        1: "SELECT term, NULL, item FROM term ORDER BY item",
        2: "SELECT term, grp, item FROM filing ORDER BY item",
        3: "SELECT term, grp, item FROM filing ORDER BY item",
    }
    check(version in tables, "version of the store")
    filings = {}
    for term, group, item in store.execute(tables[version]):
        filings.setdefault(item, set()).add((term, group))
    return filings


def read_changes(store, vault):
    """Checks the numbers of changes."""
    for table, column in (("item", "change"), ("former", "ended"), ("deletion", "change"), ("trail", "dropped")):
        (last,) = store.execute(f"SELECT max({column}) FROM {table}").fetchone()
        check(last is None or last <= vault["sequence"], f"a change of {table} is yet to come")
    for group, marks in store.execute("SELECT grp, count(*) FROM deletion GROUP BY grp"):
        trail = store.execute("SELECT marks FROM trail WHERE grp = ?", [group]).fetchone()
        check(trail is not None and trail["marks"] >= marks, "number of deletions")


def read_row(row, keybag, factors, filings=None):
    number = row["id"]
    protection = PROTECTION[row["pdmn"]]
    keys = keybag["keys"][protection]
    synchronizable, tombstone = row["flags"] & 1, row["flags"] >> 1
    check(tombstone <= 1, f"flags of row {number}")
    identity = bytes([row["class"], row["pdmn"]]) + struct.pack(">q", number) + row["uuid"]
    identity += struct.pack(">q", row["grp"])

    # A row from a store or a backup without versions has the number 0.
    version = row["version"] if "version" in row.keys() else 0
    context = b"attrs" + (b"\1" + identity if version == 0 else b"\2" + identity + struct.pack(">q", version))
    context += bytes([synchronizable, tombstone]) + row["pk"]
    context += struct.pack(">I", len(row["terms"]) // 8) + row["terms"] + row["seal"]
    metadata = AESGCM(keys["metadata"]).decrypt(row["meta"][:12], row["meta"][12:], context)
    flags, created, modified, group, attributes, custom, expiry, kept = decode_attributes(metadata)

    value, sealed = None, None
    if row["seal"]:
        header, seal = row["seal"][:-68], row["seal"][-68:]
        wrapping, has_value, value_identity = keys["class"], True, identity
        if header and header[0] == 3:
            # Sealed under a former class key, and its wrapped key once more under the present one.
            stored = row["seal"]
            class_key = keybag["former"][stored[1:17]][protection]
            header, seal = stored[25:-76], aes_key_unwrap(keys["class"], stored[-76:-28]) + stored[-28:]
            value_identity = identity[:-8] + stored[17:25]
            sealed, wrapping, has_value = read_seal_header(header, class_key, factors)
        elif header:
            sealed, wrapping, has_value = read_seal_header(header, keys["class"], factors)
        if wrapping:
            item_key = aes_key_unwrap(wrapping, seal[:40])
            context = b"value\1" + value_identity + bytes([flags is not None]) + struct.pack(">Q", flags or 0) + header
            value = AESGCM(item_key).decrypt(seal[40:52], row["data"] + seal[52:], context)
            check(has_value or not value, f"value of row {number}")
            value = value if has_value else None

    digests = Digests.of_row(keybag["keys"], protection, version)
    check(row["grp"] == digests.group(group), f"group digest of row {number}")
    primary_keys = [digests.primary_key(row["class"], group, synchronizable, attributes)]
    if tombstone:
        # It has the digests of the item that it was.
        was = Digests(keybag["keys"], True)
        primary_keys.append(was.primary_key(row["class"], group, synchronizable, attributes))
    check(row["pk"] in primary_keys, f"primary key digest of row {number}")
    if not tombstone:
        stored = list(struct.unpack(f">{len(row['terms']) // 8}q", row["terms"]))
        check(stored == digests.terms(row["class"], attributes, custom), f"terms of row {number}")
    if filings is not None:
        found = filings.pop(number, set())
        check({group for _, group in found} in ({row["grp"]}, {None}), f"groups of the filings of row {number}")
        terms = {term for term, _ in found}
        if tombstone:
            check(struct.unpack(">q", row["uuid"][:8])[0] in terms, f"filings of row {number}")
        else:
            check(terms == digests.filing(row, attributes, custom), f"filings of row {number}")
    item = {
        "class": CLASSES[row["class"]],
        "identifier": str(uuid.UUID(bytes=row["uuid"])).upper(),
        "group": group,
        "protection": protection,
        "accessControlFlags": flags,
        "synchronizable": bool(synchronizable),
        "tombstone": bool(tombstone),
        "created": created,
        "modified": modified,
        "attributes": {name: printable(value) for name, value in attributes.items()},
        "value": None if value is None else value.hex(),
    }
    if custom:
        item["custom"] = custom
    if expiry is not None:
        item["expires"] = expiry
    if kept is not None:
        item["kept"] = kept
    if version:
        item["version"] = version
    if sealed:
        item["sealed"] = sealed
    return item


def read_recovery_record(data, key):
    """The keybag's identifier and the class keys in a recovery record."""
    check(data[:10] == b"SKRECOVR\0\1" and len(data) == 59 + 41 * data[58] + 32, "not a recovery record of version 1")
    salt, body = data[26:58], data[:-32]
    mac_key = derive(key, salt, "swift-keychain/v1/recovery/record")
    check(hmac.digest(mac_key, body, "sha256") == data[-32:], "MAC of the recovery record")
    keys = {}
    for start in range(59, len(body), 41):
        name = PROTECTION[body[start]]
        wrapping = derive(key, salt, f"swift-keychain/v1/recovery/class-key/{name}")
        class_key = aes_key_unwrap(wrapping, body[start + 1 : start + 41])
        keys[name] = {"class": class_key, "metadata": derive(class_key, None, "swift-keychain/v1/metadata")}
    return data[10:26], keys


def read_backup(data, password):
    check(data[:8] == b"SKBACKUP" and data[8:10] in (b"\0\1", b"\0\2"), "not a backup of version 1 or 2")
    check(data[10] == 1, "not a backup under a password")
    identifier, _, salt, argon_salt, memory, passes, count = struct.unpack(">16sQ32s16sIII", data[11:95])
    head, sealed = data[: 95 + count], data[95 + count :]
    owner, keys = read_recovery_record(head[95:], argon2id(password, argon_salt, memory, passes))
    check(owner == identifier, "the backup and its recovery record are of different keybags")
    context = b"swift-keychain/v1/backup" + hashlib.sha256(head).digest()
    key = HKDF(hashes.SHA256(), 32, salt, context).derive(keys["dk"]["class"])
    size = 65536 + 16
    chunks = [sealed[start : start + size] for start in range(0, len(sealed), size)]
    text = b"".join(
        AESGCM(key).decrypt(struct.pack(">3xQB", index, index == len(chunks) - 1), chunk, None)
        for index, chunk in enumerate(chunks)
    )
    keybag = {"identifier": identifier, "keys": keys}
    items, former, position = [], [], 0
    if data[9] == 2 and text[0] == 4:
        position = 5 + struct.unpack_from(">I", text, 1)[0]
        keybag["former"] = read_former_keys(text[5:position], keybag)
    while text[position] in ((1,) if data[9] == 1 else (1, 2, 3)):
        kind = text[position]
        fields = struct.unpack(">qBBB16sq16sIIII", text[position + 1 : position + 68])
        position += 68
        row = dict(zip(["id", "class", "pdmn", "flags", "uuid", "grp", "pk"], fields))
        if data[9] == 2:
            (row["version"],) = struct.unpack_from(">q", text, position)
            position += 8
        sizes = dict(zip(["terms", "meta", "seal", "data"], [8 * fields[10], *fields[7:10]]))
        for name, length in sizes.items():
            row[name] = text[position : position + length]
            position += length
        item = read_row(row, keybag, {"password": None, "enrolment": None})
        if kind == 1:
            items.append(item)
        else:
            former.append(item | {"deleted": kind == 3})
    check(text[position:] == b"\0" + struct.pack(">Q", len(items) + len(former)), "the end of the backup")
    return {"keybag": str(uuid.UUID(bytes=identifier)).upper(), "items": items} | ({"former": former} if former else {})


def printable(value):
    if isinstance(value, str):
        return {"string": value}
    if isinstance(value, bytes):
        return {"data": value.hex()}
    if isinstance(value, Date):
        return {"date": float(value)}
    if isinstance(value, Real):
        return {"real": float(value)}
    return {"number": value}


def read_audit_anchor(data, keybag, anchor_key):
    """The identifier of the anchor, and for each log the last record's number and link and the next record's key."""
    check(len(data) == 214 and data[:10] == b"SKANCHOR\0\1", "not an anchor of version 1")
    check(data[10:26] == uuid.UUID(keybag).bytes, "the anchor is of another keybag")
    sealing_key = hmac.digest(anchor_key, b"anchor", "sha256")
    ends = AESGCM(sealing_key).decrypt(data[42:54], data[54:], data[:42])
    return data[26:42], {
        name: struct.unpack(">Q32s32s", ends[start : start + 72]) for name, start in (("audit", 0), ("audit-looks", 72))
    }


def read_audit(folder, keybag, key, anchor_key=None):
    """The records of both audit logs in their order, every one of them checked."""
    logs = {}
    anchor = None
    if (folder / "audit.anchor").exists():
        check(anchor_key is not None, "the log is anchored: --anchor-key or --passcode is needed")
        anchor = read_audit_anchor((folder / "audit.anchor").read_bytes(), keybag, anchor_key)
    for name in ("audit", "audit-looks"):
        exists = (folder / f"{name}.head").exists()
        check(exists or anchor is None, f"{name}.head is missing")
        logs[name] = read_audit_log(folder, name, keybag, key, anchor) if exists else []
    changes, looks = logs["audit"], logs["audit-looks"]
    for tellers, told, name in ((changes, looks, "audit-looks"), (looks, changes, "audit")):
        last = told[-1]["seq"] if told else 0
        check(all(record.get("other", 0) <= last for record in tellers), f"what is told of {name}.log")
    for record in looks:
        record["log"] = "looks"

    records = []
    while changes and looks:
        change, look = changes[0], looks[0]
        if change.get("other", 0) >= look["seq"]:
            look_is_first = True
        elif look.get("other", 0) >= change["seq"]:
            look_is_first = False
        else:
            look_is_first = look.get("until", look["time"]) < change.get("until", change["time"])
        records.append((looks if look_is_first else changes).pop(0))
    return records + changes + looks


def read_audit_head(folder, log, keybag, key):
    """The slot of a head that counts. Takes no slots that a crash left."""
    heads = []
    head = (folder / f"{log}.head").read_bytes()
    check(len(head) in (512, 1024), f"length of {log}.head")
    size = len(head) // 2
    for number, slot in enumerate((head[:size], head[size:])):
        fields = json.loads(slot)
        text = json.dumps(fields, separators=(",", ":")).encode()
        check(slot == text.ljust(size - 1) + b"\n", f"form of a slot of {log}.head")
        check(fields["key"] == keybag, f"keybag of {log}.head")
        version = fields.pop("v", 1)
        check((version == 3) == (size == 512) and version in (1, 2, 3), f"version of {log}.head")
        message = {1: b"head", 2: b"head2", 3: b"head3" + bytes([number])}[version]
        check(version != 3 or fields.pop("slot") == number, f"number of a slot of {log}.head")
        message += struct.pack(">QQ", fields["seq"], fields["size"]) + bytes.fromhex(fields["link"])
        message += bytes.fromhex(fields.get("anchor", "") + fields.get("next", ""))
        check(hmac.digest(key, message, "sha256").hex() == fields.pop("tag"), f"tag of {log}.head")
        heads.append(fields)
    if version == 3:
        check(heads[0] == heads[1], f"the two slots of {log}.head")
    else:
        check(version == 1 or heads[0]["seq"] != heads[1]["seq"], f"the two slots of {log}.head")
    return max(heads, key=lambda fields: fields["seq"])


def read_audit_log(folder, log, keybag, key, anchor):
    """The records of one audit log."""

    def tag(message):
        return hmac.digest(key, message, "sha256")

    head = read_audit_head(folder, log, keybag, key)
    anchored, anchored_link, chain_key = anchor[1][log] if anchor else (None, None, None)
    chain_number = anchored + 1 if anchor else None

    records, link, current = [], None, None
    names = [f"{log}.log.{number}" for number in range(4, 0, -1)] + [f"{log}.log"]
    for path in (folder / name for name in names if (folder / name).exists()):
        lines = path.read_bytes().split(b"\n")
        check(lines.pop() == b"", f"the end of {path.name}")
        for number, line in enumerate(lines):
            fields = json.loads(line)
            place = f"{path.name}, record {fields['seq']}"
            if fields["event"] == "began":
                previous = bytes.fromhex(fields["previous"])
                check(link in (None, previous), f"what {place} continues")
                link, current = previous, fields["key"]
            check(number > 0 or fields["event"] == "began", f"the beginning of {path.name}")
            record, end = line[:-148], line[-148:]
            link = hashlib.sha256(link + record).digest()
            check(end[:82] == b',"link":"' + link.hex().encode() + b'","tag":"', f"link of {place}")
            if anchor and fields["seq"] > anchored:
                while chain_number < fields["seq"]:
                    chain_key, chain_number = hmac.digest(chain_key, b"next", "sha256"), chain_number + 1
                code = hmac.digest(chain_key, b"record" + link, "sha256")
                check(end[82:] == code.hex().encode() + b'"}', f"tag of {place}")
            elif anchor:
                check(fields["seq"] < anchored or link == anchored_link, f"the anchored record in {place}")
            # The key of records from before an erase is gone.
            elif current == keybag:
                check(end[82:] == tag(b"record" + link).hex().encode() + b'"}', f"tag of {place}")
            check(not records or fields["seq"] == records[-1]["seq"] + 1, f"number of {place}")
            records.append({name: value for name, value in fields.items() if name not in ("link", "tag")})
    last = records[-1]["seq"] if records else 0
    check(last == head["seq"] and (link or bytes(32)).hex() == head["link"], f"the end of {log}.log")
    if anchor:
        check(last >= anchored, f"the anchored record of {log}.log")
        while chain_number <= last:
            chain_key, chain_number = hmac.digest(chain_key, b"next", "sha256"), chain_number + 1
        check(head.get("anchor") == anchor[0].hex(), f"the anchor of {log}.head")
        wrapping = hmac.digest(key, b"swift-keychain/v2/audit/head" + anchor[0], "sha256")
        check(aes_key_unwrap(wrapping, bytes.fromhex(head["next"])) == chain_key, f"the key in {log}.head")
    check((folder / f"{log}.log").stat().st_size == head["size"], f"length of {log}.log")
    return records


def main(arguments):
    parser = argparse.ArgumentParser(description="Print what is in a vault folder as JSON.")
    parser.add_argument("--keys", action="store_true", help="also print every derived key")
    parser.add_argument("--passcode", type=Path, help="the file that holds the passcode, byte for byte")
    parser.add_argument("--application-password", type=Path, help="the file that holds the items' password")
    parser.add_argument("--enrolment", type=Path, help="the file that holds the state of the enrolment")
    parser.add_argument("--file-key", action="append", default=[], metavar="CLASS:FILE:WRAPPED")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--backup-password", type=Path, help="read a backup; the file that holds its password")
    parser.add_argument("--audit-key", metavar="KEYBAG:KEY", help="read an audit log alone")
    parser.add_argument("--anchor-key", metavar="KEY", help="with --audit-key, the key of its anchor")
    options = parser.parse_args(arguments)
    if options.audit_key:
        name, key = options.audit_key.split(":")
        anchor_key = options.anchor_key and bytes.fromhex(options.anchor_key)
        json.dump({"audit": read_audit(options.folder, name, bytes.fromhex(key), anchor_key)}, sys.stdout, indent=1)
        return print()
    if options.backup_password:
        backup = read_backup(options.folder.read_bytes(), options.backup_password.read_bytes())
        json.dump(backup, sys.stdout, indent=1, ensure_ascii=False)
        return print()
    folder, with_keys = options.folder, options.keys
    secret = read_device_secret((folder / "device-secret").read_bytes())
    keybag = read_keybag(
        (folder / "keybag").read_bytes(), secret, options.passcode and options.passcode.read_bytes())
    keybag["former"] = former_keys(folder, keybag)
    store, _ = open_store(folder, keybag)
    store.row_factory = sqlite3.Row
    check(store.execute("PRAGMA application_id").fetchone()[0] == 0x534B4954, "application identifier")
    version = store.execute("PRAGMA user_version").fetchone()[0]
    filings = read_filings(store, version)
    vault = store.execute("SELECT * FROM vault").fetchone()
    check(vault["owner" if version >= 3 else "keybag"] == keybag["identifier"], "another keybag's store")
    factors = {
        "password": options.application_password and options.application_password.read_bytes(),
        "enrolment": options.enrolment and options.enrolment.read_bytes(),
    }
    rows = store.execute("SELECT * FROM item ORDER BY id")
    result = {
        "keybag": str(uuid.UUID(bytes=keybag["identifier"])).upper(),
        "items": [read_row(row, keybag, factors, filings) for row in rows],
    }
    check(not filings, "filings of rows that are not there")
    if version >= 3:
        read_changes(store, vault)
        former = [
            read_row(row, keybag, factors) | {"deleted": bool(row["deleted"])}
            for row in store.execute("SELECT * FROM former ORDER BY id, version")
        ]
        if former:
            result["former"] = former
    if (folder / "attempts").exists():
        attempts = read_attempts((folder / "attempts").read_bytes(), secret, keybag["salt"])
        result["failures"] = attempts["failures"]
    if (folder / "file-agreement-key").exists():
        read_file_agreement_key((folder / "file-agreement-key").read_bytes(), keybag)
    if options.file_key:
        wrapped_keys = [text.split(":") for text in options.file_key]
        result["fileKeys"] = [
            open_file_key(keybag, int(number), bytes.fromhex(file), bytes.fromhex(wrapped)).hex()
            for number, file, wrapped in wrapped_keys
        ]
    audit_key = derive(keybag["keys"]["dk"]["class"], None, "swift-keychain/v1/audit")
    if (folder / "audit.head").exists() or (folder / "audit-looks.head").exists():
        device_key = keybag["keys"].get("cku", {}).get("class")
        context = b"swift-keychain/v2/audit/anchor" + keybag["identifier"]
        anchor_key = device_key and HKDF(hashes.SHA256(), 32, None, context).derive(device_key)
        result["audit"] = read_audit(folder, result["keybag"], audit_key, anchor_key)
    if with_keys:
        result["keys"] = {
            "keybagMAC": keybag["mac"].hex(),
            "index": keybag["index"].hex(),
            "classes": {name: {k: v.hex() for k, v in keys.items()} for name, keys in keybag["keys"].items()},
        }
        if "audit" in result:
            result["keys"]["audit"] = audit_key.hex()
    json.dump(result, sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main(sys.argv[1:])
