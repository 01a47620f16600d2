#!/usr/bin/env python3
"""Pages and page indexes of encrypted databases without any of the Swift code, from
Documentation/Specify/Formats/Databases.md alone.

    database-pages.py seal KEY ID P PLACE EPOCH NONCE EXTRA PAGE SEALED   seals a page
    database-pages.py open KEY ID P PLACE SEALED PAGE                     opens one and prints its version and extra
    database-pages.py read KEY ID INDEX                                   prints what is in force, as JSON
    database-pages.py write KEY ID GROUPS INDEX                           makes an index of groups of batches in JSON
    database-pages.py vector                                              prints the published vector

KEY, ID, EPOCH and NONCE are in hexadecimal. PLACE is LABEL:PAGE:FRAME:COMMIT:TIME, LABEL being main, wal or journal. PAGE and
SEALED are files. Whatever does not verify ends the program.
"""

import json
import os
import struct
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PLAIN = b"SQLite format 3\0"
LABELS = {"main": b"kcdbmain", "wal": b"kcdbwal\0", "journal": b"kcdbjrnl"}
STATE = ("sequence", "pages", "frames", "salts", "former")


def derive(key, identifier, purpose):
    return HKDF(hashes.SHA256(), 32, identifier, b"swift-keychain/v1/database/" + purpose).derive(key)


class Pages:
    def __init__(self, key, identifier, size, place):
        self.key, self.identifier, self.size = key, identifier, size
        label, *numbers = place.split(":")
        self.page, frame, commit, time = map(int, numbers)
        self.binding = struct.pack(
            ">8s10sBBIIIQ", LABELS[label], identifier, size.bit_length() - 1, 0, self.page, frame, commit, time)
        self.clear = b""
        if label == "main" and self.page == 1:
            self.clear = b"KCDB1" + bytes([size.bit_length() - 1]) + identifier

    def cipher(self, epoch):
        return AESGCM(derive(self.key, self.identifier, b"page" + epoch))

    def seal(self, page, extra, epoch, nonce):
        assert len(page) == self.size and page[-48:] == bytes(48)
        text = page[len(self.clear):-48] + struct.pack(">Q", extra)
        sealed = self.cipher(epoch).encrypt(nonce, text, self.binding)
        return self.clear + sealed[:-16] + epoch + nonce + sealed[-16:]

    def open(self, sealed):
        assert len(sealed) == self.size and sealed.startswith(self.clear)
        epoch, nonce, tag = sealed[-40:-28], sealed[-28:-16], sealed[-16:]
        text = self.cipher(epoch).decrypt(nonce, sealed[len(self.clear):-40] + tag, self.binding)
        start = PLAIN if self.clear else b""
        return start + text[:-8] + bytes(48), struct.unpack(">Q", tag[:8])[0], struct.unpack(">Q", text[-8:])[0]


def index_binding(identifier, count, previous):
    return b"kcdbindx" + identifier + bytes(2) + struct.pack(">I", count) + previous


def read_index(key, identifier, path):
    data = open(path, "rb").read()
    assert data[:20] == b"KCPAGES1" + identifier + bytes(2), "no index of this database"
    cipher = AESGCM(derive(key, identifier, b"index" + data[20:32]))
    place, previous, state, versions, waiting, end = 32, bytes(16), None, {}, [], 32
    while place < len(data):
        rest = data[place:]
        if len(rest) < 8 or not any(rest):
            break
        count, inverted = struct.unpack(">II", rest[:8])
        assert count ^ inverted == 0xFFFFFFFF and count <= 65536, "damaged"
        size = 72 + 12 * count
        if size > len(rest):
            break
        batch = rest[:size]
        try:
            contents = cipher.decrypt(batch[8:20], batch[20:], index_binding(identifier, count, previous))
        except InvalidTag:
            assert size == len(rest), "damaged"
            break
        previous, place = batch[-16:], place + size
        numbers, flags = struct.unpack(">QIIQQ", contents[:32]), struct.unpack(">I", contents[32:36])[0]
        assert flags in (0, 1)
        waiting += [struct.unpack(">IQ", contents[at:at + 12]) for at in range(36, len(contents), 12)]
        if flags & 1:
            continue
        state = dict(zip(STATE, numbers))
        versions.update(waiting)
        versions = {page: version for page, version in versions.items() if page <= state["pages"]}
        waiting, end = [], place
    assert state, "nothing in it"
    return {**state, "versions": sorted(versions.items()), "end": end}


def encode_index(key, identifier, groups):
    salt, previous = os.urandom(12), bytes(16)
    cipher = AESGCM(derive(key, identifier, b"index" + salt))
    data = b"KCPAGES1" + identifier + bytes(2) + salt
    for group in groups:
        for number, entries in enumerate(group["batches"]):
            contents = struct.pack(">QIIQQ", *(group[name] for name in STATE))
            contents += struct.pack(">I", number + 1 < len(group["batches"]))
            contents += b"".join(struct.pack(">IQ", page, version) for page, version in entries)
            count, nonce = len(entries), os.urandom(12)
            sealed = cipher.encrypt(nonce, contents, index_binding(identifier, count, previous))
            data += struct.pack(">II", count, count ^ 0xFFFFFFFF) + nonce + sealed
            previous = sealed[-16:]
    return data


def open_database(key, path):
    """The whole of a closed database as a plain one, its identifier, and its page index."""
    data = open(path, "rb").read()
    assert data[:5] == b"KCDB1", "not an encrypted database"
    size, identifier = 1 << data[5], data[6:16]
    index = read_index(key, identifier, f"{path}-{identifier.hex()}.pages")
    versions, plain = dict(index["versions"]), b""
    assert len(data) >= size * index["pages"], "pages are missing"
    for page in range(1, index["pages"] + 1):
        sealed = data[(page - 1) * size:page * size]
        opened, version, _ = Pages(key, identifier, size, f"main:{page}:0:0:0").open(sealed)
        assert version == versions.get(page), f"page {page} is an older version"
        plain += opened
    return plain, identifier, index


def seal_database(key, path, plain, identifier, sequence, create):
    """Writes a database and its page index, for which the file must not be in use."""
    size, epoch = int.from_bytes(plain[16:18], "big"), os.urandom(12)
    sealed, entries = b"", []
    for page in range(1, len(plain) // size + 1):
        pages = Pages(key, identifier, size, f"main:{page}:0:0:0")
        contents = pages.seal(plain[(page - 1) * size:page * size], 0, epoch, os.urandom(12))
        entries.append((page, struct.unpack(">Q", contents[-16:-8])[0]))
        sealed += contents
    group = dict(zip(STATE, (sequence, len(entries), 0, 0, 0)), batches=[entries])
    with create(path) as file:
        file.write(sealed)
    with create(f"{path}-{identifier.hex()}.pages") as file:
        file.write(encode_index(key, identifier, [group]))


def vector():
    key, identifier = bytes(range(0x20)), bytes(range(0x40, 0x4A))
    epoch, nonce = bytes(range(0x50, 0x5C)), bytes(range(0x60, 0x6C))
    print("page key", derive(key, identifier, b"page" + epoch).hex())
    print("index key", derive(key, identifier, b"index" + epoch).hex())
    first = bytearray(512)
    first[:16], first[20] = PLAIN, 48
    for place, page, extra in (
        ("main:1:0:0:0", bytes(first), 0),
        ("wal:2:3:4:5", bytes(range(232)) * 2 + bytes(48), 0x0102030405060708),
        ("journal:2:0:0:6", bytes(range(232)) * 2 + bytes(48), 7),
    ):
        pages = Pages(key, identifier, 512, place)
        sealed = pages.seal(page, extra, epoch, nonce)
        print(place, sealed.hex())
        assert pages.open(sealed)[0] == page and pages.open(sealed)[2] == extra
    cipher = AESGCM(derive(key, identifier, b"index" + epoch))
    contents = struct.pack(">QIIQQIIQ", 1, 2, 0, 0, 0, 0, 2, 0x0102030405060708)
    sealed = cipher.encrypt(nonce, contents, index_binding(identifier, 1, bytes(16)))
    index = b"KCPAGES1" + identifier + bytes(2) + epoch + struct.pack(">II", 1, 0xFFFFFFFE) + nonce + sealed
    print("index", index.hex())


def main(command, *arguments):
    if command == "vector":
        return vector()
    key, identifier = bytes.fromhex(arguments[0]), bytes.fromhex(arguments[1])
    if command == "read":
        print(json.dumps(read_index(key, identifier, arguments[2])))
    elif command == "write":
        open(arguments[3], "wb").write(encode_index(key, identifier, json.load(open(arguments[2]))))
    else:
        pages = Pages(key, identifier, int(arguments[2]), arguments[3])
        source, target = arguments[-2:]
        page = open(source, "rb").read()
        if command == "seal":
            epoch, nonce = bytes.fromhex(arguments[4]), bytes.fromhex(arguments[5])
            page = pages.seal(page, int(arguments[6]), epoch, nonce)
        else:
            page, version, extra = pages.open(page)
            print(version, extra)
        open(target, "wb").write(page)


if __name__ == "__main__":
    main(*sys.argv[1:])
