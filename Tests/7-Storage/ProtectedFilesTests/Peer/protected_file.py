#!/usr/bin/env python3
"""Protected files without any of the Swift code, from Documentation/Specify/Formats/ProtectedFiles.md alone.

    protected_file.py read KEY FILE DATA                     writes the data of a file
    protected_file.py write KEY WRAPPED ID CLASS DATA FILE   makes a file of data
    protected_file.py vector FILE                            makes the published vector
    protected_file.py read-password PASSWORD FILE DATA       the same for files under a password
    protected_file.py write-password PASSWORD WAY A B C ID DATA FILE
    protected_file.py vector-password WAY FILE

KEY is the file's key, WRAPPED the key as the header holds it, ID the identifier; all in hexadecimal. PASSWORD is text, WAY
is 1, 2 or 3 and A, B and C its parameters. Whatever does not verify ends the program.
"""

import os
import struct
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap, aes_key_wrap

BLOCK, CHUNK, FANOUT, ENTRY = 4096, 65536, 128, 28
TABLE, SEAL = 480, 4068


class Keys:
    def __init__(self, key, identifier):
        def derive(purpose):
            info = b"swift-keychain/v1/file/" + purpose
            return AESGCM(HKDF(hashes.SHA256(), 32, identifier, info).derive(key))

        self.identifier = identifier
        self.data, self.index = derive(b"data"), derive(b"index")
        self.header, self.journal = derive(b"header"), derive(b"journal")

    def chunk_binding(self, number, length):
        return b"chunk" + self.identifier + struct.pack(">QI", number, length)

    def index_binding(self, level, number, block):
        return b"index" + self.identifier + struct.pack(">BQ", level, number) + block


def chunk_start(i):
    g = i // FANOUT
    blocks = g
    if g >= 1:
        blocks += 1 + g // FANOUT
    if g >= FANOUT:
        blocks += 1 + g // FANOUT**2
    if g >= FANOUT**2:
        blocks += 1 + g // FANOUT**3
    return BLOCK + CHUNK * i + BLOCK * blocks


def index_start(level, number):
    """Right before block 128·n of the level below, or block 1 if n is 0; level 0 are the chunks."""
    below = FANOUT * number if number else 1
    return (chunk_start(below) if level == 1 else index_start(level - 1, below)) - BLOCK


def levels(chunks):
    """The number of blocks of each level, from level 1 to the topmost."""
    counts, count = [], max(chunks, 1)
    while not counts or count > 1:
        count = -(-count // FANOUT)
        counts.append(count)
    return counts


def file_size(length):
    if length == 0:
        return BLOCK
    last = (length - 1) // CHUNK
    return chunk_start(last) + length - last * CHUNK


class Reader:
    def __init__(self, file, key):
        self.file = file
        header = self.at(0, BLOCK)
        assert header[:8] == b"SKPFILE\0", "not a protected file"
        assert header[8:10] == b"\0\1" and header[11] == 0, "another version"
        self.keys = Keys(key, header[12:28])
        self.patches = {}
        header = self.journal(header)
        self.keys.header.decrypt(header[SEAL:SEAL + 12], header[SEAL + 12:], header[:SEAL])
        self.header = header
        self.length = struct.unpack(">Q", header[158:166])[0]
        self.chunks = -(-self.length // CHUNK)
        self.levels = levels(self.chunks)
        self.known = {}
        assert os.fstat(file.fileno()).st_size >= file_size(self.length), "cut short"

    def at(self, offset, count):
        self.file.seek(offset)
        return self.file.read(count)

    def journal(self, header):
        """The header that counts; parts from a journal go into `patches`."""
        size = os.fstat(self.file.fileno()).st_size
        if size <= 2 * BLOCK + 92:
            return header
        trailer = self.at(size - 92, 92)
        start, count = struct.unpack(">QI", trailer[8:20])
        if trailer[:8] != b"SKPJRNL\0" or start >= size or size - start > 2 << 20:
            return header
        record = self.at(start, size - start)
        try:
            self.keys.journal.decrypt(record[-28:-16], record[-16:], record[:-28])
        except InvalidTag:
            return header
        try:
            self.keys.header.decrypt(header[SEAL:SEAL + 12], header[SEAL + 12:], header[:SEAL])
            if header[SEAL:] not in (trailer[36:64], record[SEAL:BLOCK]):
                return header
        except InvalidTag:
            pass
        place, table = BLOCK, len(record) - 92 - 12 * count
        for row in range(count):
            offset, length = struct.unpack(">QI", record[table + 12 * row:table + 12 * row + 12])
            self.patches[offset] = record[place:place + length]
            place += length
        return record[:BLOCK]

    def part(self, offset, count):
        data = self.patches[offset] if offset in self.patches else self.at(offset, count)
        assert len(data) == count
        return data

    def entries(self, level, number):
        """The entries in an index block, or in the header's table."""
        if (level, number) == (1, 0):
            return self.header[TABLE:TABLE + FANOUT * ENTRY]
        if (level, number) not in self.known:
            if level == len(self.levels):
                entry = self.header[182:210]
            else:
                above, slot = self.entries(level + 1, number // FANOUT), number % FANOUT
                entry = above[slot * ENTRY:(slot + 1) * ENTRY]
            block = bytes(BLOCK)
            if entry != bytes(ENTRY):
                block = self.part(index_start(level, number), BLOCK)
                self.keys.index.decrypt(entry[:12], entry[12:], self.keys.index_binding(level, number, block))
            self.known[level, number] = block
        return self.known[level, number]

    def chunk(self, i):
        entry = self.entries(1, i // FANOUT)[i % FANOUT * ENTRY:][:ENTRY]
        length = min(CHUNK, self.length - i * CHUNK)
        if entry == bytes(ENTRY):
            return bytes(length)
        sealed = self.part(chunk_start(i), length)
        return self.keys.data.decrypt(entry[:12], sealed + entry[12:], self.keys.chunk_binding(i, length))


def write(file, key, wrapped, identifier, file_class, data, nonce=lambda: os.urandom(12)):
    """Makes a whole file; chunks of zeros are written like others."""
    keys = Keys(key, identifier)
    seals = 1

    def at(offset, contents):
        file.seek(offset)
        file.write(contents)

    def seal(aead, plaintext, binding):
        nonlocal seals
        seals += 1
        n = nonce()
        sealed = aead.encrypt(n, plaintext, binding)
        return sealed[:-16], n + sealed[-16:]

    def seal_block(level, number, entries):
        block = b"".join(entries[number * FANOUT:(number + 1) * FANOUT]).ljust(BLOCK, b"\0")
        at(index_start(level, number), block)
        return seal(keys.index, b"", keys.index_binding(level, number, block))[1]

    chunks = []
    for i in range(-(-len(data) // CHUNK)):
        chunk = data[i * CHUNK:(i + 1) * CHUNK]
        sealed, entry = seal(keys.data, chunk, keys.chunk_binding(i, len(chunk)))
        at(chunk_start(i), sealed)
        chunks.append(entry)
    counts = levels(len(chunks))
    entries = [bytes(ENTRY)] + [seal_block(1, n, chunks) for n in range(1, counts[0])]
    for level, count in enumerate(counts[1:], 2):
        entries = [seal_block(level, n, entries) for n in range(count)]

    header = b"SKPFILE\0" + struct.pack(">HBB", 1, file_class, 0) + identifier + struct.pack(">H", len(wrapped))
    header += wrapped.ljust(128, b"\0") + struct.pack(">QQQ", len(data), 0, seals) + entries[0]
    header = (header.ljust(TABLE, b"\0") + b"".join(chunks[:FANOUT])).ljust(SEAL, b"\0")
    at(0, header + seal(keys.header, b"", header)[1])


def argon2id(password, salt, memory, passes, lanes):
    try:
        from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
    except ImportError:
        from argon2.low_level import Type, hash_secret_raw
        return hash_secret_raw(password, salt, passes, memory, lanes, 32, Type.ID)
    return Argon2id(salt=salt, length=32, iterations=passes, lanes=lanes, memory_cost=memory).derive(password)


def stretch(password, way, parameters, salt):
    match way:
        case 1:
            return argon2id(password, salt, *parameters)
        case 2:
            log_n, r, p = parameters
            return Scrypt(salt, 32, 1 << log_n, r, p).derive(password)
        case 3:
            assert parameters[1:] == (0, 0)
            return PBKDF2HMAC(hashes.SHA256(), 32, salt, parameters[0]).derive(password)
    sys.exit("an unknown way")


def password_wrapping_key(password, form, identifier):
    assert form[0] == 1 and len(form) == 30
    stretched = stretch(password, form[1], struct.unpack(">3I", form[2:14]), form[14:])
    return HKDF(hashes.SHA256(), 32, identifier, b"swift-keychain/v1/file-key/password" + form).derive(stretched)


def password_key(password, header):
    assert header[10] == 5 and header[28:30] == b"\0\x46", "not under a password"
    form, wrapped = header[30:60], header[60:100]
    return aes_key_unwrap(password_wrapping_key(password, form, header[12:28]), wrapped)


def password_wrapped(password, way, parameters, salt, identifier, key):
    form = struct.pack(">BB3I", 1, way, *parameters) + salt
    return form + aes_key_wrap(password_wrapping_key(password, form, identifier), key)


def counter():
    """Nonces 1, 2, 3 …"""
    count = 0

    def nonce():
        nonlocal count
        count += 1
        return count.to_bytes(12, "big")

    return nonce


VECTOR_PARAMETERS = {1: (65536, 3, 1), 2: (14, 8, 1), 3: (600000, 0, 0)}


def vector_password(way, file):
    """A key of bytes 00 to 1f, the identifier 40 to 4f, the salt 80 to 8f, nonces 1, 2, 3 …"""
    key, identifier, salt = bytes(range(32)), bytes(range(0x40, 0x50)), bytes(range(0x80, 0x90))
    password = "correct horse battery staple".encode()
    wrapped = password_wrapped(password, way, VECTOR_PARAMETERS[way], salt, identifier, key)
    form = wrapped[:30]
    print("stretched", stretch(password, way, VECTOR_PARAMETERS[way], salt).hex())
    print("wrapping key", password_wrapping_key(password, form, identifier).hex())
    print("wrapped key", wrapped.hex())
    write(file, key, wrapped, identifier, 5, b"Data of a protected file.", counter())


def vector(file):
    """A key of bytes 00 to 1f, the identifier 40 to 4f, 40 bytes aa as wrapped key, nonces 1, 2, 3 …"""
    data = b"Data of a protected file."
    write(file, bytes(range(32)), b"\xaa" * 40, bytes(range(0x40, 0x50)), 1, data, counter())


def main(arguments):
    match arguments:
        case ["read", key, path, out]:
            with open(path, "rb") as file, open(out, "wb") as data:
                reader = Reader(file, bytes.fromhex(key))
                for i in range(reader.chunks):
                    data.write(reader.chunk(i))
        case ["write", key, wrapped, identifier, file_class, path, out]:
            key, wrapped, identifier = map(bytes.fromhex, (key, wrapped, identifier))
            with open(path, "rb") as data, open(out, "wb") as file:
                write(file, key, wrapped, identifier, int(file_class), data.read())
        case ["vector", out]:
            with open(out, "wb") as file:
                vector(file)
        case ["read-password", password, path, out]:
            with open(path, "rb") as file, open(out, "wb") as data:
                reader = Reader(file, password_key(password.encode(), file.read(BLOCK)))
                for i in range(reader.chunks):
                    data.write(reader.chunk(i))
        case ["write-password", password, way, a, b, c, identifier, path, out]:
            identifier, key = bytes.fromhex(identifier), os.urandom(32)
            wrapped = password_wrapped(
                password.encode(), int(way), (int(a), int(b), int(c)), os.urandom(16), identifier, key)
            with open(path, "rb") as data, open(out, "wb") as file:
                write(file, key, wrapped, identifier, 5, data.read())
        case ["vector-password", way, out]:
            with open(out, "wb") as file:
                vector_password(int(way), file)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
