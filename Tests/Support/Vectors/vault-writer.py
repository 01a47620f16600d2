#!/usr/bin/env python3
"""Writes a vault folder without any of the Swift code.

A second implementation of the writing of what Documentation/Specify/Formats specifies: device secret, keybag,
record of attempts, and item rows with their filings. It makes a vault in a new folder, or adds items to a vault with a software
enclave and replaces those with the same primary key. The vault must not be open anywhere else.

    vault-writer.py [--passcode FILE] ITEMS FOLDER

ITEMS is a JSON file with a list of items in the form in which format-vectors.py prints them. 'attributes' is needed;
'class' is otherwise 'genp', 'group' empty, 'protection' 'ak', and what else is missing is not there. FILE holds the
passcode, byte for byte: that of the vault, or the one that a new vault gets, with Argon2id on 1 MiB.
"""

import argparse
import hashlib
import hmac
import importlib.util
import json
import os
import sqlite3
import struct
import sys
import uuid
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.keywrap import aes_key_wrap

# The reader's keys and digests, which no Swift code shares either.
spec = importlib.util.spec_from_file_location("reader", Path(__file__).with_name("format-vectors.py"))
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)

PROTECTION = {name: code for code, name in reader.PROTECTION.items()}
CLASSES = {name: code for code, name in reader.CLASSES.items()}

STATEMENTS = [
    """CREATE TABLE vault (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    owner BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    cleared INTEGER NOT NULL,
    keep INTEGER NOT NULL
)""",
    """CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    class INTEGER NOT NULL,
    pk BLOB NOT NULL UNIQUE,
    uuid BLOB NOT NULL,
    grp INTEGER NOT NULL,
    pdmn INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    version INTEGER NOT NULL,
    change INTEGER NOT NULL,
    terms BLOB NOT NULL,
    meta BLOB NOT NULL,
    seal BLOB NOT NULL,
    data BLOB NOT NULL
)""",
    "CREATE INDEX item_change ON item (grp, change)",
    "CREATE INDEX item_old ON item (id) WHERE version = 0",
    """CREATE TABLE filing (
    grp INTEGER NOT NULL,
    term INTEGER NOT NULL,
    item INTEGER NOT NULL,
    PRIMARY KEY (grp, term, item)
) WITHOUT ROWID""",
    """CREATE TABLE former (
    id INTEGER NOT NULL,
    class INTEGER NOT NULL,
    pk BLOB NOT NULL,
    uuid BLOB NOT NULL,
    grp INTEGER NOT NULL,
    pdmn INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    version INTEGER NOT NULL,
    change INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    terms BLOB NOT NULL,
    meta BLOB NOT NULL,
    seal BLOB NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (id, version)
)""",
    "CREATE INDEX former_group ON former (grp, deleted, id)",
    "CREATE INDEX former_key ON former (pk, ended, version)",
    """CREATE TABLE deletion (
    grp INTEGER NOT NULL,
    change INTEGER NOT NULL,
    uuid BLOB NOT NULL,
    class INTEGER NOT NULL,
    PRIMARY KEY (grp, change, uuid)
) WITHOUT ROWID""",
    """CREATE TABLE trail (
    grp INTEGER PRIMARY KEY,
    marks INTEGER NOT NULL,
    dropped INTEGER NOT NULL
)""",
]


def write(path, data):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def make_vault(folder, passcode):
    """Makes an empty vault: the keybag last, which makes it complete."""
    folder.mkdir(mode=0o700)
    secret, salt, identifier = os.urandom(32), os.urandom(32), os.urandom(16)
    head = b"SKDEVICE\0\1" + secret
    write(folder / "device-secret", head + hashlib.sha256(head).digest()[:8])
    tangle, passcode_fields = b"", b""
    if passcode is not None:
        memory, passes, passcode_salt = 1024, 1, os.urandom(16)
        tangle = reader.argon2id(passcode, passcode_salt, memory, passes)
        passcode_fields = struct.pack(">16sIIB", passcode_salt, memory, passes, 0)
        attempts = b"SKTRIES\0\0\2" + bytes(28)
        key = reader.derive(secret, bytes(32), "swift-keychain/v2/attempts")
        write(folder / "attempts", attempts + hmac.digest(key, attempts, "sha256"))
    # Without a passcode, the class that needs one has no key.
    names = [name for _, name in sorted(reader.PROTECTION.items()) if passcode is not None or name != "akpu"]
    keybag = b"SKKEYBAG\0\5" + bytes([1, passcode is not None]) + identifier + bytes(16) + salt + bytes([len(names)])
    for name in names:
        material = secret if name in ("dk", "dku") else secret + tangle
        wrapping = reader.derive(material, salt, f"swift-keychain/v1/class-key/{name}")
        keybag += bytes([PROTECTION[name]]) + aes_key_wrap(wrapping, os.urandom(32))
    # No binding, no counter, nothing sealed to one, and the number of the last change.
    keybag += passcode_fields + bytes(2 + 12 + 2 + 8)
    mac = hmac.digest(reader.derive(secret, salt, "swift-keychain/v1/keybag"), keybag, "sha256")
    keybag += mac
    write_store(folder, reader.read_keybag(keybag, secret, passcode), new_store(identifier), None)
    write(folder / "keybag", keybag)


def new_store(keybag):
    store = sqlite3.connect(":memory:", isolation_level=None)
    # The first page of an empty database that leaves 48 bytes of each page to the seal.
    store.execute("PRAGMA page_size = 4096")
    store.execute("PRAGMA user_version = 2")
    page = bytearray(store.serialize())
    page[20], page[105:107] = 48, struct.pack(">H", 4096 - 48)
    store.deserialize(bytes(page))
    store.execute("BEGIN")
    for statement in STATEMENTS:
        store.execute(statement)
    store.execute("INSERT INTO vault VALUES (1, ?, 0, 0, 0)", [keybag])
    store.execute(f"PRAGMA application_id = {0x534B4954}")
    store.execute("PRAGMA user_version = 3")
    store.execute("COMMIT")
    return store


def write_store(folder, keybag, store, file):
    """Writes the item store; 'file' is what the reader says of the file that was there."""
    plain = store.serialize()
    plain = plain[:18] + b"\2\2" + plain[20:]
    identifier, sequence = (os.urandom(10), 1) if file is None else (file[0], file[1]["sequence"] + 1)
    path = reader.store_path(folder, keybag)

    def create(path):
        return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")

    reader.pages.seal_database(reader.store_key(keybag), path, plain, identifier, sequence, create)


def value_of(printed):
    """An attribute from the form in which the reader prints it."""
    ((kind, value),) = printed.items()
    return {"string": str, "data": bytes.fromhex, "number": int, "real": reader.Real, "date": reader.Date}[kind](value)


def encoded(value):
    """The type and the bytes of an attribute."""
    if isinstance(value, str):
        return 1, value.encode()
    if isinstance(value, bytes):
        return 2, value
    if isinstance(value, reader.Date):
        return 5, struct.pack(">d", value)
    if isinstance(value, reader.Real):
        return 4, struct.pack(">d", value)
    return 3, struct.pack(">q", value)


def encode_attributes(item, attributes):
    """The inside of sealed metadata."""
    custom, expiry, flags = item.get("custom", {}), item.get("expires"), item.get("accessControlFlags")
    kept = item.get("kept")
    version = 3 if kept is not None else 2 if custom or expiry is not None else 1
    created = item.get("created", 0)
    group = item.get("group", "").encode()
    data = struct.pack(">BBQdd", version, flags is not None, flags or 0, created, item.get("modified", created))
    data += struct.pack(">H", len(group)) + group + struct.pack(">H", len(attributes))
    for name, value in sorted(attributes.items()):
        kind, content = encoded(value)
        data += struct.pack(">4sBI", name.encode(), kind, len(content)) + content
    if version >= 2:
        data += b"\0" if expiry is None else struct.pack(">Bd", 1, expiry)
        data += struct.pack(">H", len(custom))
        for name, value in sorted(custom.items(), key=lambda pair: pair[0].encode()):
            name, value = name.encode(), value.encode()
            data += struct.pack(">B", len(name)) + name + struct.pack(">H", len(value)) + value
    if version == 3:
        data += struct.pack(">H", kept)
    return data


def put(store, keybag, item, change):
    """Adds an item, or puts it in the place of the one with its primary key. Keeps no former versions."""
    protection = item.get("protection", "ak")
    digests = reader.Digests.of_row(keybag["keys"], protection, 1)
    class_code = CLASSES[item.get("class", "genp")]
    attributes = {name: value_of(value) for name, value in item["attributes"].items()}
    custom, group, synchronizable = item.get("custom", {}), item.get("group", ""), item.get("synchronizable", False)
    primary_key = digests.primary_key(class_code, group, synchronizable, attributes)
    other = reader.Digests(keybag["keys"], not digests.is_closed)
    keys = [primary_key, other.primary_key(class_code, group, synchronizable, attributes)]
    present = store.execute("SELECT id, uuid, version FROM item WHERE pk IN (?, ?)", keys).fetchone()
    version = max(present[2], 1) + 1 if present else 1
    if present:
        store.execute("DELETE FROM filing WHERE item = ?", [present[0]])
        store.execute("DELETE FROM item WHERE id = ?", [present[0]])
    numbers = "SELECT id FROM item UNION ALL SELECT id FROM former"
    number, identifier = present[:2] if present else (
        store.execute(f"SELECT coalesce(max(id), 0) + 1 FROM ({numbers})").fetchone()[0], uuid.uuid4().bytes)

    keys, code = keybag["keys"][protection], PROTECTION[protection]
    digest = digests.group(group)
    identity = bytes([class_code, code]) + struct.pack(">q", number) + identifier + struct.pack(">q", digest)
    seal, data = b"", b""
    if item.get("value") is not None:
        item_key, nonce, flags = os.urandom(32), os.urandom(12), item.get("accessControlFlags")
        context = b"value\1" + identity + bytes([flags is not None]) + struct.pack(">Q", flags or 0)
        sealed = AESGCM(item_key).encrypt(nonce, bytes.fromhex(item["value"]), context)
        seal, data = aes_key_wrap(keys["class"], item_key) + nonce + sealed[-16:], sealed[:-16]
    terms = digests.terms(class_code, attributes, custom)
    packed = struct.pack(f">{len(terms)}q", *terms)
    context = b"attrs\2" + identity + struct.pack(">q", version) + bytes([synchronizable, 0]) + primary_key
    context += struct.pack(">I", len(terms)) + packed + seal
    nonce = os.urandom(12)
    meta = nonce + AESGCM(keys["metadata"]).encrypt(nonce, encode_attributes(item, attributes), context)
    row = {"class": class_code, "grp": digest, "uuid": identifier}
    store.execute(
        "INSERT INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [number, class_code, primary_key, identifier, digest, code, int(synchronizable), version, change, packed, meta,
         seal, data])
    for term in digests.filing(row, attributes, custom):
        store.execute("INSERT INTO filing VALUES (?, ?, ?)", [digest, term, number])


def main(arguments):
    parser = argparse.ArgumentParser(description="Write items into a vault folder.")
    parser.add_argument("--passcode", type=Path, help="the file that holds the passcode, byte for byte")
    parser.add_argument("items", type=Path, help="a JSON file with the items")
    parser.add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    folder, passcode = options.folder, options.passcode and options.passcode.read_bytes()
    if not folder.exists():
        make_vault(folder, passcode)
    secret = reader.read_device_secret((folder / "device-secret").read_bytes())
    keybag = reader.read_keybag((folder / "keybag").read_bytes(), secret, passcode)
    store, file = reader.open_store(folder, keybag)
    reader.check(file, "a plain store of the format before; open the vault with `keychain` first")
    reader.check(store.execute("PRAGMA user_version").fetchone()[0] == 3, "version of the store")
    store.execute("PRAGMA secure_delete = ON")
    store.execute("BEGIN IMMEDIATE")
    store.execute("UPDATE vault SET sequence = sequence + 1")
    (change,) = store.execute("SELECT sequence FROM vault").fetchone()
    for item in json.loads(options.items.read_text()):
        put(store, keybag, item, change)
    store.execute("COMMIT")
    write_store(folder, keybag, store, file)


if __name__ == "__main__":
    main(sys.argv[1:])
