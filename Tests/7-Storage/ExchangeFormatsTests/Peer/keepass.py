#!/usr/bin/env python3
"""Writes and reads databases of KeePass.

    keepass.py write FILE PASSWORD VERSION CIPHER KDF INNER COMPRESSION [KEY-FILE [CHANGE]]
    keepass.py create FILE PASSWORD      makes a database with pykeepass
    keepass.py read FILE PASSWORD        prints what pykeepass finds, as JSON

The first is a writer of its own, after the description of the format at keepass.info/help/kb/kdbx.html, because no
program makes all of its kinds. CHANGE is `bomb`, `entities`, `rounds=N`, `memory=N`, `passes=N`, `lanes=N` or
`xml=FILE`. The others are pykeepass alone.
"""
import base64
import datetime
import gzip
import hashlib
import hmac
import json
import os
import re
import struct
import sys
from xml.sax.saxutils import escape

IDS = {
    "aes": "31c1f2e6bf714350be5805216afc5aff", "chacha20": "d6038a2b8b6f4cb5a524339a31dbb59a",
    "twofish": "ad68f29f576f4bb9a36ad47af965346c", "aes-kdf": "c9d9f39a628a4460bf740d08c18a4fea",
    "argon2d": "ef636ddf8c29444b91f7a9a403e30a0c", "argon2id": "9e298b1956db4773b23dfc3ec6f0a1e6",
}
FILES = [b"a file\n", bytes(range(256)) * 40, b"-----BEGIN OPENSSH PRIVATE KEY-----\nbm9uZQ==\n-----END OPENSSH PRIVATE KEY-----\n"]
AGENT = """<?xml version="1.0" encoding="UTF-16"?><EntrySettings><AllowUseOfSshKey>true</AllowUseOfSshKey>
<Location><SelectedType>attachment</SelectedType><AttachmentName>id_ed25519</AttachmentName></Location>
</EntrySettings>""".encode("utf-16")
FILES.append(AGENT)


def when(text, version):
    moment = datetime.datetime.fromisoformat(text)
    if version == 3:
        return text + "Z"
    return base64.b64encode(struct.pack("<q", int((moment - datetime.datetime(1, 1, 1)).total_seconds()))).decode()


class Document:
    """XML whose protected values are one stream, in their order."""

    def __init__(self, version, stream):
        self.version, self.stream, self.values = version, stream, []

    def sealed(self, value):
        """Returns what stands for a value until all of them are in their order."""
        self.values.append(value)
        return f"\0{len(self.values) - 1}\0"

    def finished(self, text):
        seal = lambda match: base64.b64encode(self.stream(self.values[int(match.group(1))])).decode()
        return re.sub("\0([0-9]+)\0", seal, text).encode()

    def times(self, created, modified, expires=None):
        return (f"<Times><CreationTime>{when(created, self.version)}</CreationTime><LastModificationTime>"
                f"{when(modified, self.version)}</LastModificationTime><ExpiryTime>"
                f"{when(expires or created, self.version)}</ExpiryTime><Expires>{bool(expires)}</Expires></Times>")

    def string(self, key, value, protected=False):
        if protected:
            sealed = self.sealed(value.encode())
            return f'<String><Key>{escape(key)}</Key><Value Protected="True">{sealed}</Value></String>'
        return f"<String><Key>{escape(key)}</Key><Value>{escape(value)}</Value></String>"

    def entry(self, number, strings, inside=""):
        identifier = base64.b64encode(bytes([number]) * 16).decode()
        body = "".join(self.string(*each) for each in strings)
        return f"<Entry><UUID>{identifier}</UUID>{body}{inside}</Entry>"

    def file(self, name, number):
        return f'<Binary><Key>{name}</Key><Value Ref="{number}"/></Binary>'

    def group(self, number, name, inside):
        identifier = base64.b64encode(bytes([number]) * 16).decode()
        return f"<Group><UUID>{identifier}</UUID><Name>{escape(name)}</Name>{inside}</Group>"

    def make(self, header_hash):
        binaries = ""
        if self.version == 3:
            for number, data in enumerate(FILES):
                if number == 0:
                    # A protected file, as KeePass 2 writes it.
                    value, attribute = self.sealed(data), ' Protected="True"'
                else:
                    value, attribute = base64.b64encode(gzip.compress(data)).decode(), ' Compressed="True"'
                binaries += f'<Binary ID="{number}"{attribute}>{value}</Binary>'
            binaries = f"<HeaderHash>{header_hash}</HeaderHash><Binaries>{binaries}</Binaries>"
        bin_id = base64.b64encode(bytes([90]) * 16).decode()
        first = self.times("2020-01-02T03:04:05", "2023-03-01T10:00:00", "2030-01-01T00:00:00")
        login = [("Title", "Exämple <&>"), ("UserName", "alice"), ("Password", "néw & \u0001 <x>", True),
                 ("URL", "https://example.com/login?a=1&b=2"), ("Notes", "line 1\nline 2"),
                 ("KP2A_URL_1", "https://b.example"), ("KP2A_URL", "https://a.example"), ("pin", "1234", True),
                 ("team", "red"), ("otp", "otpauth://totp/Ex:alice?secret=JBSWY3DPEHPK3PXP&issuer=Ex", True)]
        former = "".join(
            self.entry(1, [("Title", "Old"), ("Password", password, True)], self.times("2020-01-02T03:04:05", date))
            for password, date in [("old1", "2020-01-02T03:04:05"), ("old1", "2020-06-01T00:00:00"),
                                   ("old2", "2021-01-01T10:00:00")])
        former = f"<History>{former}</History>"
        entries = self.entry(1, login, f"<Tags>code;Favorite</Tags>{first}{self.file('a.txt', 0)}"
                                       f"{self.file('b.bin', 1)}{former}")
        passkey = base64.b64encode(b"no real key, but bytes").decode()
        inner = self.entry(2, [("Title", "Note"), ("UserName", ""), ("Password", "", True), ("Notes", "only text")])
        inner += self.entry(3, [("Title", "Reference"), ("UserName", "bob"),
                                ("Password", "{REF:P@I:" + "01" * 16 + "}", True)])
        inner += self.entry(4, [("Title", "Passkey"), ("UserName", "carl"), ("Password", "", True),
                                ("KPEX_PASSKEY_USERNAME", "carl"), ("KPEX_PASSKEY_CREDENTIAL_ID", "AQID", True),
                                ("KPEX_PASSKEY_RELYING_PARTY", "example.org"), ("KPEX_PASSKEY_USER_HANDLE", "BAUG", True),
                                ("KPEX_PASSKEY_PRIVATE_KEY_PEM",
                                 f"-----BEGIN PRIVATE KEY-----\n{passkey}\n-----END PRIVATE KEY-----", True)])
        inner += self.entry(5, [("Title", "Server"), ("UserName", "root"), ("Password", "", True)],
                            self.file("id_ed25519", 2) + self.file("KeeAgent.settings", 3))
        codes = {
            6: ("KeePass 2", [("TimeOtp-Secret-Base32", "JBSWY3DPEHPK3PXP", True), ("TimeOtp-Length", "8"),
                              ("TimeOtp-Period", "60"), ("TimeOtp-Algorithm", "HMAC-SHA-256")]),
            7: ("Counter", [("HmacOtp-Secret-Hex", "48656c6c6f21deadbeef", True), ("HmacOtp-Counter", "7")]),
            8: ("KeeOtp", [("otp", "key=JBSWY3DPEHPK3PXP&step=60&size=8", True)]),
            9: ("Tray", [("TOTP Seed", "JBSWY3DPEHPK3PXP", True), ("TOTP Settings", "30;7")]),
            10: ("Steam", [("TOTP Seed", "JBSWY3DPEHPK3PXP", True), ("TOTP Settings", "30;S")]),
            11: ("Broken", [("otp", "otpauth://totp/x?secret=!!", True)]),
        }
        for number, (title, strings) in codes.items():
            inner += self.entry(number, [("Title", title), ("UserName", "u"), ("Password", "p", True)] + strings)
        bin_entries = self.entry(12, [("Title", "Thrown away"), ("Password", "x", True)])
        groups = (entries + self.group(50, "Work", self.group(51, "Ops & Co", inner))
                  + self.group(90, "Recycle Bin", self.group(91, "Sub", bin_entries)))
        return self.finished('<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<KeePassFile><Meta><Generator>peer</Generator>'
                             f"<RecycleBinEnabled>True</RecycleBinEnabled><RecycleBinUUID>{bin_id}</RecycleBinUUID>{binaries}</Meta>"
                             f"<Root>{self.group(40, 'Root', groups)}</Root></KeePassFile>")


def key_file_part(path):
    data = open(path, "rb").read()
    if len(data) == 32:
        return data
    if len(data) == 64:
        try:
            return bytes.fromhex(data.decode())
        except ValueError:
            pass
    if b"<KeyFile>" in data:
        value = re.search(rb"<Data[^>]*>([^<]*)</Data>", data).group(1)
        return bytes.fromhex(b"".join(value.split()).decode()) if b"2.0" in data else base64.b64decode(value)
    return hashlib.sha256(data).digest()


def write(path, password, version, cipher, kdf, inner, compression, key_file="", change=""):
    from Cryptodome.Cipher import AES, ChaCha20, Salsa20
    version, (change, _, amount) = int(version), change.partition("=")
    seed, transform_seed, vector = os.urandom(32), os.urandom(32), os.urandom(16 if cipher == "aes" else 12)
    inner_key, beginning = os.urandom(64 if inner == "chacha20" else 32), os.urandom(32)
    rounds = int(amount) if change == "rounds" else 6001
    memory = int(amount) if change == "memory" else 1 << 20
    passes = int(amount) if change == "passes" else 2
    lanes = int(amount) if change == "lanes" else 3
    parts = hashlib.sha256(password.encode()).digest() if password else b""
    composite = hashlib.sha256(parts + (key_file_part(key_file) if key_file else b"")).digest()
    if change in ("rounds", "memory", "passes", "lanes"):
        transformed = b"\0" * 32
    elif kdf == "aes-kdf":
        engine, transformed = AES.new(transform_seed, AES.MODE_ECB), composite
        for _ in range(rounds):
            transformed = engine.encrypt(transformed)
        transformed = hashlib.sha256(transformed).digest()
    else:
        from argon2.low_level import Type, hash_secret_raw
        kinds = {"argon2d": (Type.D, 0x13), "argon2id": (Type.ID, 0x13), "argon2d-10": (Type.D, 0x10)}
        kind, number = kinds[kdf]
        transformed = hash_secret_raw(composite, transform_seed, passes, memory // 1024, lanes, 32, kind, number)
    master = hashlib.sha256(seed + transformed).digest()
    header = bytes.fromhex("03d9a29a67fb4bb5") + struct.pack("<HH", 1 if version == 3 else 0, version)

    def field(number, value):
        return struct.pack("<B" + ("H" if version == 3 else "I"), number, len(value)) + value

    header += field(2, bytes.fromhex(IDS[cipher])) + field(3, struct.pack("<I", int(compression)))
    header += field(4, seed) + field(7, vector)
    inner_number = struct.pack("<I", {"salsa20": 2, "chacha20": 3}[inner])
    if version == 3:
        header += field(5, transform_seed) + field(6, struct.pack("<Q", rounds))
        header += field(8, inner_key) + field(9, beginning) + field(10, inner_number)
    else:
        def item(kind, name, value):
            return struct.pack("<BI", kind, len(name)) + name + struct.pack("<I", len(value)) + value
        number = IDS[kdf.split("-10")[0]]
        parameters = struct.pack("<H", 0x100) + item(0x42, b"$UUID", bytes.fromhex(number))
        parameters += item(0x42, b"S", transform_seed)
        if kdf == "aes-kdf":
            parameters += item(0x05, b"R", struct.pack("<Q", rounds))
        else:
            parameters += item(0x04, b"P", struct.pack("<I", lanes)) + item(0x05, b"M", struct.pack("<Q", memory))
            parameters += item(0x05, b"I", struct.pack("<Q", passes))
            parameters += item(0x04, b"V", struct.pack("<I", 0x10 if kdf.endswith("-10") else 0x13))
        header += field(11, parameters + b"\0")
    header += field(0, b"\r\n\r\n")
    if inner == "salsa20":
        nonce = bytes.fromhex("e830094b97205d2a")
        stream = Salsa20.new(key=hashlib.sha256(inner_key).digest(), nonce=nonce).encrypt
    else:
        digest = hashlib.sha512(inner_key).digest()
        stream = ChaCha20.new(key=digest[:32], nonce=digest[32:44]).encrypt
    xml = Document(version, stream).make(base64.b64encode(hashlib.sha256(header).digest()).decode())
    if change == "entities":
        xml = xml.replace(b"?>\n", b'?>\n<!DOCTYPE KeePassFile [<!ENTITY a "b">]>\n', 1)
    if change == "xml":
        xml = open(amount, "rb").read()
    if version == 4:
        plain = struct.pack("<BI", 1, 4) + inner_number + struct.pack("<BI", 2, len(inner_key)) + inner_key
        for data in FILES:
            plain += struct.pack("<BI", 3, len(data) + 1) + b"\1" + data
        plain += struct.pack("<BI", 0, 0) + xml
    else:
        plain = xml
    if change == "bomb":
        plain += b" " * (600 << 20)
    if int(compression):
        plain = gzip.compress(plain, 6)
    if version == 3:
        blocks = struct.pack("<I", 0) + hashlib.sha256(plain).digest() + struct.pack("<I", len(plain)) + plain
        plain = beginning + blocks + struct.pack("<I", 1) + b"\0" * 32 + struct.pack("<I", 0)
    if cipher == "aes":
        padding = 16 - len(plain) % 16
        sealed = AES.new(master, AES.MODE_CBC, vector).encrypt(plain + bytes([padding]) * padding)
    else:
        sealed = ChaCha20.new(key=master, nonce=vector).encrypt(plain)
    if version == 4:
        base = hashlib.sha512(seed + transformed + b"\1").digest()

        def code(number, data):
            key = hashlib.sha512(struct.pack("<Q", number) + base).digest()
            return hmac.new(key, data, "sha256").digest()

        head = hashlib.sha256(header).digest() + code(0xFFFFFFFFFFFFFFFF, header)
        body, number = b"", 0
        for start in list(range(0, len(sealed), 4096)) + [None]:
            block = b"" if start is None else sealed[start:start + 4096]
            length = struct.pack("<I", len(block))
            body += code(number, struct.pack("<Q", number) + length + block) + length + block
            number += 1
        sealed = head + body
    with open(path, "wb") as file:
        file.write(header + sealed)


def create(path, password):
    from pykeepass import create_database
    database = create_database(path, password=password)
    group = database.add_group(database.add_group(database.root_group, "Work"), "Ops")
    entry = database.add_entry(group, "Site", "dora", "one", url="https://site.example/x", notes="n\nm", tags=["a", "b"],
                               expiry_time=datetime.datetime(2031, 1, 1, tzinfo=datetime.timezone.utc),
                               otp="otpauth://totp/Site:dora?secret=JBSWY3DPEHPK3PXP&issuer=Site")
    entry.save_history()
    entry.password = "two"
    entry.set_custom_property("plain", "value")
    entry.add_attachment(database.add_binary(bytes(range(256)), compressed=True, protected=True), "all.bin")
    database.save()


def read(path, password):
    from pykeepass import PyKeePass
    database = PyKeePass(path, password=password)
    entries = []
    for entry in database.entries:
        entries.append({
            "title": entry.title or "", "username": entry.username or "", "password": entry.password or "",
            "url": entry.url or "", "notes": entry.notes or "", "folder": "/".join(entry.group.path or []),
            "tags": entry.tags or [], "custom": entry.custom_properties, "uuid": str(entry.uuid),
            "protected": sorted(
                each.find("Key").text for each in entry._element.findall("String")
                if each.find("Value").get("Protected") == "True"),
            "files": {each.filename: hashlib.sha256(each.data).hexdigest() for each in entry.attachments},
            "history": [each.password for each in entry.history], "expires": bool(entry.expires),
            "modified": int(entry.mtime.timestamp()) if entry.mtime else 0,
        })
    print(json.dumps({"version": list(database.version), "entries": entries}))


{"write": write, "create": create, "read": read}[sys.argv[1]](*sys.argv[2:])
