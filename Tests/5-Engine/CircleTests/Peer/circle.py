#!/usr/bin/env python3
"""Makes and reads what travels in a circle, from the description in Documentation/Specify/Formats/Circle.md alone.

    circle.py vectors        prints the published vectors
    circle.py read           reads JSON from the first argument after it and prints what it means

Bytes are hexadecimal.
"""

import hashlib
import hmac
import json
import struct
import sys

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, mlkem, utils, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

LABEL = b"swift-keychain/circle/v1/"
CURVE = ec.SECP256R1()
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


class Refused(Exception):
    pass


def sha256(data):
    return hashlib.sha256(data).digest()


def derive(secret, purpose, salt=b""):
    return HKDF(hashes.SHA256(), 32, salt, LABEL + purpose.encode()).derive(secret)


def short(data):
    return struct.pack(">H", len(data)) + data


def private(secret):
    return ec.derive_private_key(int.from_bytes(secret, "big"), CURVE)


def compressed(key):
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)


def uncompressed(key):
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def sign(key, purpose, message):
    r, s = utils.decode_dss_signature(key.sign(LABEL + purpose.encode() + message, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def verify(public, signature, purpose, message):
    key = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, public)
    encoded = utils.encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
    try:
        key.verify(encoded, LABEL + purpose.encode() + message, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise Refused("signature")


def opened(key, nonce, sealed, binding):
    try:
        return AESGCM(key).decrypt(nonce, sealed, binding)
    except InvalidTag:
        raise Refused("seal")


class Reader:
    def __init__(self, data):
        self.data, self.place = data, 0

    def take(self, count):
        if self.place + count > len(self.data):
            raise Refused("ends early")
        self.place += count
        return self.data[self.place - count:self.place]

    def number(self, size):
        return int.from_bytes(self.take(size), "big")

    def short(self):
        return self.take(self.number(2))

    def head(self, magic):
        if self.take(len(magic)) != magic or self.number(1) != 1:
            raise Refused("form")

    def rest(self, less=0):
        return self.take(len(self.data) - self.place - less)

    def finish(self):
        if self.place != len(self.data):
            raise Refused("more bytes")


# X-Wing (draft-connolly-cfrg-xwing-kem) and HPKE in base mode (RFC 9180).


class XWing:
    def __init__(self, seed):
        expanded = hashlib.shake_256(seed).digest(96)
        self.kem = mlkem.MLKEM768PrivateKey.from_seed_bytes(expanded[:64])
        self.curve = x25519.X25519PrivateKey.from_private_bytes(expanded[64:])

    def public(self):
        return self.kem.public_key().public_bytes_raw() + self.curve.public_key().public_bytes_raw()

    def decapsulate(self, capsule):
        secret = self.kem.decapsulate(capsule[:1088])
        point = capsule[1088:]
        shared = self.curve.exchange(x25519.X25519PublicKey.from_public_bytes(point))
        return combined(secret, shared, point, self.curve.public_key().public_bytes_raw())


def combined(secret, shared, point, public):
    return hashlib.sha3_256(secret + shared + point + public + b"\\.//^\\").digest()


def encapsulate(public):
    secret, capsule = mlkem.MLKEM768PublicKey.from_public_bytes(public[:1184]).encapsulate()
    ephemeral = x25519.X25519PrivateKey.generate()
    point = ephemeral.public_key().public_bytes_raw()
    shared = ephemeral.exchange(x25519.X25519PublicKey.from_public_bytes(public[1184:]))
    return combined(secret, shared, point, public[1184:]), capsule + point


def labeled_extract(suite, salt, label, material):
    return hmac.new(salt or bytes(32), b"HPKE-v1" + suite + label + material, hashlib.sha256).digest()


def labeled_expand(suite, key, label, info, length):
    text, block, count = b"", b"", 1
    info = struct.pack(">H", length) + b"HPKE-v1" + suite + label + info
    while len(text) < length:
        block = hmac.new(key, block + info + bytes([count]), hashlib.sha256).digest()
        text, count = text + block, count + 1
    return text[:length]


def schedule(kem, shared, info):
    suite = b"HPKE" + struct.pack(">HHH", kem, 1, 2)
    context = b"\0" + labeled_extract(suite, b"", b"psk_id_hash", b"") + labeled_extract(suite, b"", b"info_hash", info)
    secret = labeled_extract(suite, shared, b"secret", b"")
    return labeled_expand(suite, secret, b"key", context, 32), labeled_expand(suite, secret, b"base_nonce", context, 12)


P256_KEM, XWING_KEM = 0x0010, 0x647A


def dhkem_secret(shared, encapsulated, recipient):
    suite = b"KEM" + struct.pack(">H", P256_KEM)
    key = labeled_extract(suite, b"", b"eae_prk", shared)
    return labeled_expand(suite, key, b"shared_secret", encapsulated + recipient, 32)


def seal_for(agreement, hybrid, info, text):
    recipient = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, agreement)
    ephemeral = ec.generate_private_key(CURVE)
    point = uncompressed(ephemeral.public_key())
    shared = dhkem_secret(ephemeral.exchange(ec.ECDH(), recipient), point, uncompressed(recipient))
    key, nonce = schedule(P256_KEM, shared, info)
    inner = point + AESGCM(key).encrypt(nonce, text, b"")
    shared, capsule = encapsulate(hybrid)
    key, nonce = schedule(XWING_KEM, shared, info)
    return capsule + AESGCM(key).encrypt(nonce, inner, b"")


def open_for(agreement, hybrid, info, sealed):
    key, nonce = schedule(XWING_KEM, hybrid.decapsulate(sealed[:1120]), info)
    inner = opened(key, nonce, sealed[1120:], b"")
    point = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, inner[:65])
    shared = dhkem_secret(agreement.exchange(ec.ECDH(), point), inner[:65], uncompressed(agreement.public_key()))
    key, nonce = schedule(P256_KEM, shared, info)
    return opened(key, nonce, inner[65:], b"")


# Keys of members.


class Member:
    """A member whose private keys are known: for vectors, and for what the tests make."""

    def __init__(self, signing, pairs):
        self.signing = private(signing)
        self.pairs = {kind: (private(agreement), XWing(seed)) for kind, (agreement, seed) in pairs.items()}

    def public(self):
        return compressed(self.signing) + b"".join(
            compressed(self.pairs[kind][0]) + self.pairs[kind][1].public() for kind in (1, 2))


def recovery(secret, circle):
    """The keys of the recovery key of a circle."""
    def number(purpose):
        for count in range(256):
            value = derive(secret, "recovery/" + purpose, circle + bytes([count]))
            if 0 < int.from_bytes(value, "big") < ORDER:
                return value
        raise Refused("no key")
    return Member(number("signing"), {
        kind: (number(f"agreement/{kind}"), derive(secret, f"recovery/hybrid/{kind}", circle)) for kind in (1, 2)})


def delivery(circle, member, kind, keys, view, generation, key):
    place = 33 + (kind - 1) * 1249
    info = LABEL + b"view-key" + circle + struct.pack(">IB", member, kind)
    sealed = seal_for(keys[place:place + 33], keys[place + 33:place + 1249], info, view + struct.pack(">I", generation) + key)
    return b"SKDELIVR\x01" + circle + struct.pack(">IB", member, kind) + sealed


def read_delivery(data, member):
    reader = Reader(data)
    reader.head(b"SKDELIVR")
    circle, number, kind = reader.take(16), reader.number(4), reader.number(1)
    info = LABEL + b"view-key" + circle + struct.pack(">IB", number, kind)
    text = open_for(*member.pairs[kind], info, reader.take(1269))
    reader.finish()
    return {"circle": circle.hex(), "member": number, "class": kind, "view": text[:16].hex(),
            "generation": int.from_bytes(text[16:20], "big"), "key": text[20:].hex()}


# Records.


def certificate(circle, member, serial, begin, end, writer, signing):
    message = b"SKWRITER\x01" + circle + struct.pack(">IHQQ", member, serial, begin, end) + compressed(writer)
    return message + sign(signing, "writer", message)


def read_certificate(data, public):
    reader = Reader(data)
    reader.head(b"SKWRITER")
    result = {"circle": reader.take(16).hex(), "member": reader.number(4), "serial": reader.number(2),
              "from": reader.number(8), "until": reader.number(8), "key": reader.take(33).hex()}
    verify(public, reader.take(64), "writer", data[:80])
    reader.finish()
    return result


def padded_size(size):
    if size <= 4096:
        return (size + 127) // 128 * 128
    exponent = size.bit_length() - 1
    mask = (1 << (exponent - exponent.bit_length())) - 1
    return (size + mask) & ~mask


def body(ancestors, subject):
    text = bytes([len(ancestors)])
    for member, time in sorted(ancestors.items()):
        text += struct.pack(">IQ", member, time)
    text += subject
    text = struct.pack(">I", len(text)) + text
    return text + bytes(padded_size(len(text)) - len(text))


def record(kind, generation, time, author, circle, view, name, key, salt, text, member, serial, writer):
    head = b"SKIR\x01" + bytes([kind]) + struct.pack(">IQIIH", generation, time, author, member, serial) + salt
    binding = LABEL + b"record" + circle + view + name + head
    sealed = AESGCM(derive(derive(key, "view/records"), "record", salt)).encrypt(bytes(12), text, binding)
    return head + sealed + sign(writer, "record-signature", binding + sha256(sealed))


def read_record(data, circle, view, name, key, public):
    reader = Reader(data)
    head = data[:44]
    if reader.take(4) != b"SKIR" or reader.number(1) != 1:
        raise Refused("form")
    kind, generation, time, author = reader.number(1), reader.number(4), reader.number(8), reader.number(4)
    sealer, serial, salt = reader.number(4), reader.number(2), reader.take(16)
    sealed, signature = reader.rest(64), reader.take(64)
    binding = LABEL + b"record" + circle + view + name + head
    verify(public, signature, "record-signature", binding + sha256(sealed))
    text = opened(derive(derive(key, "view/records"), "record", salt), bytes(12), sealed, binding)
    inner = Reader(text)
    length = inner.number(4)
    if len(text) != padded_size(length + 4):
        raise Refused("padding")
    ancestors = {}
    for _ in range(inner.number(1)):
        member = inner.number(4)
        ancestors[str(member)] = inner.number(8)
    subject = inner.take(length + 4 - inner.place)
    if any(inner.rest()):
        raise Refused("padding")
    return {"kind": kind, "generation": generation, "time": time, "author": author, "sealer": sealer, "serial": serial,
            "ancestors": ancestors, "subject": subject.hex()}


def item_name(key, primary):
    return hmac.new(derive(key, "view/names"), primary, hashlib.sha256).digest()[:16]


# The log, views and requests.


def entry(kind, circle, number, previous, time, signer, text, signing):
    message = b"SKCIRCLE\x01" + bytes([kind]) + circle + struct.pack(">I", number) + previous
    message += struct.pack(">QI", time, signer) + short(text)
    return message + sign(signing, "entry", message)


def read_log(entries):
    """Reads a log and checks digests and signatures; who may sign what is the members' business."""
    keys, previous, result, saved = {}, bytes(32), [], None
    for index, data in enumerate(entries):
        reader = Reader(data)
        reader.head(b"SKCIRCLE")
        kind, circle, number, before = reader.number(1), reader.take(16), reader.number(4), reader.take(32)
        time, signer, text = reader.number(8), reader.number(4), Reader(reader.short())
        if number != index or before != previous:
            raise Refused("order")
        if kind == 1:
            keys[1] = text.take(2531)
            value = {"name": text.short().hex(), "commitment": text.take(32).hex(), "formats": text.number(4)}
        elif kind == 2:
            value = {"invitation": text.take(16).hex(), "count": text.number(2), "deadline": text.number(8),
                     "rights": text.number(1), "flags": text.number(1), "key": text.take(33).hex(),
                     "requests": text.short().hex(), "terms": text.short().hex()}
        elif kind == 3:
            member, rights, invitation, public = text.number(4), text.number(1), text.take(16), text.take(2531)
            proof, name, attestation = text.take(64), text.short(), text.take(32)
            offer = next(value for value in result if value.get("invitation") == invitation.hex() and value["kind"] == 2)
            verify(bytes.fromhex(offer["key"]), proof, "join", circle + invitation + sha256(public))
            keys[member] = public
            value = {"member": member, "rights": rights, "name": name.hex(), "formats": text.number(4)}
        elif kind == 4:
            value = {"member": text.number(4)}
        elif kind == 5:
            value = {}
        elif kind == 6:
            value = {"ended": text.take(16).hex()}
        elif kind == 7:
            value = {"formats": text.number(4), "version": text.short().decode()}
        elif kind == 9:
            member = text.number(4)
            keys[member] = text.take(2531)
            value = {"member": member, "name": text.short().hex(), "formats": text.number(4)}
        elif kind == 10:
            saved = text.take(2531)
            value = {"recovery": sha256(saved).hex()}
        else:
            raise Refused("type")
        text.finish()
        if (kind == 9) != (signer == 0):
            raise Refused("signer")
        verify((saved if kind == 9 else keys[signer])[:33], reader.take(64), "entry", data[:-64])
        reader.finish()
        previous = sha256(data)
        result.append({"kind": kind, "time": time, "signer": signer, **value})
    return {"pin": sha256(entries[0]).hex(), "head": previous.hex(), "entries": result}


def sealed_name(circle_key, circle, text, nonce):
    return nonce + AESGCM(derive(circle_key, "names")).encrypt(nonce, text, LABEL + b"name" + circle)


def open_name(circle_key, circle, sealed):
    return opened(derive(circle_key, "names"), sealed[:12], sealed[12:], LABEL + b"name" + circle)


def view_entry(circle, view, generation, number, signer, text, key, nonce, signing):
    head = b"SKVIEWEN\x01" + circle + view + struct.pack(">III", generation, number, signer)
    sealed = nonce + AESGCM(derive(key, "view/entries")).encrypt(nonce, text, LABEL + b"view-entry" + head)
    return head + sealed + sign(signing, "view-entry-signature", head + sha256(sealed))


def read_view_entry(data, key, public):
    reader = Reader(data)
    reader.head(b"SKVIEWEN")
    result = {"circle": reader.take(16).hex(), "view": reader.take(16).hex(), "generation": reader.number(4),
              "number": reader.number(4), "signer": reader.number(4)}
    head, sealed = data[:53], reader.rest(64)
    verify(public, reader.take(64), "view-entry-signature", head + sha256(sealed))
    text = Reader(opened(derive(key, "view/entries"), sealed[:12], sealed[12:], LABEL + b"view-entry" + head))
    result |= {"previous": text.take(32).hex(), "time": text.number(8), "whileUnlocked": text.take(32).hex(),
               "afterFirstUnlock": text.take(32).hex(), "recovery": text.take(32).hex(), "closed": text.number(1), "name": text.short().decode(),
               "holders": [text.number(4) for _ in range(text.number(4))]}
    text.finish()
    if result["afterFirstUnlock"] != derive(key, "view/commitment").hex():
        raise Refused("commitment")
    return result


def head(circle, member, sequence, text, circle_key, nonce, signing):
    prefix = b"SKCRHEAD\x01" + circle + struct.pack(">IQ", member, sequence)
    sealed = nonce + AESGCM(derive(circle_key, "heads")).encrypt(nonce, text, LABEL + b"head" + prefix)
    return prefix + sealed + sign(signing, "head-signature", prefix + sha256(sealed))


def read_head(data, circle_key, public):
    reader = Reader(data)
    reader.head(b"SKCRHEAD")
    result = {"circle": reader.take(16).hex(), "member": reader.number(4), "sequence": reader.number(8)}
    prefix, sealed = data[:37], reader.rest(64)
    verify(public, reader.take(64), "head-signature", prefix + sha256(sealed))
    text = Reader(opened(derive(circle_key, "heads"), sealed[:12], sealed[12:], LABEL + b"head" + prefix))
    result |= {"time": text.number(8), "entry": text.number(4), "digest": text.take(32).hex(),
               "carrier": text.short().decode(), "statement": text.short().hex()}
    text.finish()
    return result


def terms(groups, attesters):
    parts = [struct.pack(">H", len(groups))] + [short(group) for group in groups]
    return b"".join(parts + [struct.pack(">H", len(attesters))] + [short(attester) for attester in attesters])


def attestation_nonce(circle, invitation, keys):
    return sha256(LABEL + b"attestation" + circle + invitation + sha256(keys))


def invitation_key(secret, pin):
    for count in range(256):
        number = derive(secret, "invitation", pin + bytes([count]))
        if 0 < int.from_bytes(number, "big") < ORDER:
            return private(number)
    raise Refused("no key")


def request(secret, pin, circle, keys, name, formats, attestation, nonce):
    invitation = derive(secret, "invitation-name", pin)[:16]
    proof = sign(invitation_key(secret, pin), "join", circle + invitation + sha256(keys))
    head = b"SKJOINRQ\x01" + circle + invitation + proof
    text = keys + short(name) + struct.pack(">I", formats) + struct.pack(">I", len(attestation)) + attestation
    return head + nonce + AESGCM(derive(secret, "request", pin)).encrypt(nonce, text, LABEL + b"join-request" + head)


def read_request(data, secret, pin):
    reader = Reader(data)
    reader.head(b"SKJOINRQ")
    circle, invitation, proof = reader.take(16), reader.take(16), reader.take(64)
    head, sealed = data[:105], reader.rest()
    text = Reader(opened(derive(secret, "request", pin), sealed[:12], sealed[12:], LABEL + b"join-request" + head))
    keys, name, formats = text.take(2531), text.short(), text.number(4)
    attestation = text.take(text.number(4))
    text.finish()
    verify(compressed(invitation_key(secret, pin)), proof, "join", circle + invitation + sha256(keys))
    return {"circle": circle.hex(), "invitation": invitation.hex(), "keys": keys.hex(), "name": name.decode(),
            "formats": formats, "attestation": attestation.hex()}


# Vectors, from fixed keys. Signatures and capsules are random.


def fixed(text, count=32):
    return sha256(text.encode())[:count]


def member(name):
    return Member(fixed(name + "/signing"), {
        kind: (fixed(f"{name}/agreement/{kind}"), fixed(f"{name}/hybrid/{kind}")) for kind in (1, 2)})


def vectors():
    circle, view, first, second = fixed("circle", 16), fixed("view", 16), member("first"), member("second")
    circle_key, unlocked, closed = fixed("circle key"), fixed("while unlocked"), fixed("after first unlock")
    time = 1_790_000_000_000 << 16
    create = first.public() + short(sealed_name(circle_key, circle, b"laptop", fixed("nonce 0", 12)))
    create += derive(circle_key, "commitment") + struct.pack(">I", 1)
    log = [entry(1, circle, 0, bytes(32), time, 1, create, first.signing)]
    pin, secret = sha256(log[0]), fixed("invitation", 16)
    invitation = derive(secret, "invitation-name", pin)[:16]
    offer = invitation + struct.pack(">HQBB", 2, time + (3600_000 << 16), 15, 0)
    offer += compressed(invitation_key(secret, pin))
    offer += short(sealed_name(circle_key, circle, derive(secret, "request", pin), fixed("nonce 1", 12)))
    promised = terms([b"com.example.shop"], [b"\0\x0b" + fixed("attester")])
    offer += short(sealed_name(circle_key, circle, promised, fixed("nonce 5", 12)))
    log.append(entry(2, circle, 1, sha256(log[0]), time + 1, 1, offer, first.signing))
    asked = request(secret, pin, circle, second.public(), b"server", 1, b"", fixed("nonce 2", 12))
    admission = struct.pack(">IB", 2, 15) + invitation + second.public() + asked[41:105]
    admission += short(sealed_name(circle_key, circle, b"server", fixed("nonce 3", 12))) + bytes(32) + struct.pack(">I", 1)
    log.append(entry(3, circle, 2, sha256(log[1]), time + 2, 1, admission, first.signing))
    log.append(entry(6, circle, 3, sha256(log[2]), time + 3, 2, invitation, second.signing))
    log.append(entry(4, circle, 4, sha256(log[3]), time + 4, 2, struct.pack(">I", 1), second.signing))
    said = struct.pack(">QI", time + 6, 4) + sha256(log[4]) + short(b"folder") + short(fixed("statement", 24))
    saved, third = recovery(fixed("recovery key"), circle), member("third")
    log.append(entry(10, circle, 5, sha256(log[4]), time + 5, 2, saved.public(), second.signing))
    log.append(entry(7, circle, 6, sha256(log[5]), time + 6, 2, struct.pack(">I", 1) + short(b"0.3.0"), second.signing))
    back = struct.pack(">I", 3) + third.public()
    back += short(sealed_name(circle_key, circle, b"again", fixed("nonce 6", 12))) + struct.pack(">I", 1)
    log.append(entry(9, circle, 7, sha256(log[6]), time + 7, 0, back, saved.signing))
    text = bytes(32) + struct.pack(">Q", time) + derive(unlocked, "view/commitment") + derive(closed, "view/commitment")
    text += sha256(saved.public()) + b"\0" + short(b"com.example.shop") + struct.pack(">III", 2, 1, 2)
    writer = private(fixed("writer"))
    name = item_name(closed, b"primary key")
    tombstone = bytes([1]) + fixed("item", 16) + struct.pack(">dd", 800_000_000, 807_776_000)
    tombstone += struct.pack(">I", 11) + b"primary key"
    return {
        "log": [part.hex() for part in log],
        "circleKey": circle_key.hex(),
        "members": {key: {"signing": fixed(key + "/signing").hex(), "pairs": {
            str(kind): [fixed(f"{key}/agreement/{kind}").hex(), fixed(f"{key}/hybrid/{kind}").hex()]
            for kind in (1, 2)}} for key in ("first", "second", "third")},
        "invitation": secret.hex(),
        "request": asked.hex(),
        "view": view.hex(),
        "keys": {"1": unlocked.hex(), "2": closed.hex()},
        "viewEntry": view_entry(circle, view, 0, 0, 1, text, closed, fixed("nonce 4", 12), first.signing).hex(),
        "deliveries": [
            delivery(circle, 2, kind, second.public(), view, 0, key).hex()
            for kind, key in ((1, unlocked), (2, closed))],
        "certificate": certificate(circle, 1, 7, time, time + (86_400_000 << 16), writer, first.signing).hex(),
        "head": head(circle, 2, 9, said, circle_key, fixed("nonce 5", 12), second.signing).hex(),
        "recoveryKey": fixed("recovery key").hex(),
        "recoveryDelivery": delivery(circle, 0, 2, saved.public(), view, 0, closed).hex(),
        "terms": promised.hex(),
        "nonce": attestation_nonce(circle, invitation, second.public()).hex(),
        "primaryKey": b"primary key".hex(),
        "name": name.hex(),
        "records": [
            record(kind, 0, time + 5, 1, circle, view, name, key, fixed(f"salt {kind}", 16),
                   body({2: time + 4}, subject), 1, 7, writer).hex()
            for kind, key, subject in ((0x02, closed, tombstone), (0x12, unlocked, tombstone))],
    }


def read(question):
    data = {key: bytes.fromhex(value) for key, value in question.items() if isinstance(value, str) and key != "what"}
    what = question["what"]
    if what == "log":
        return read_log([bytes.fromhex(part) for part in question["entries"]])
    if what == "record":
        return read_record(data["data"], data["circle"], data["view"], data["name"], data["key"], data["writer"])
    if what == "certificate":
        return read_certificate(data["data"], data["signing"])
    if what == "viewEntry":
        return read_view_entry(data["data"], data["key"], data["signing"])
    if what == "request":
        return read_request(data["data"], data["secret"], data["pin"])
    if what == "head":
        return read_head(data["data"], data["key"], data["signing"])
    if what == "name":
        return {"name": item_name(data["key"], data["primaryKey"]).hex()}
    if what == "delivery":
        pairs = {data["kind"][0]: (data["agreement"], data["hybrid"])}
        return read_delivery(data["data"], Member(fixed("nobody"), pairs))
    raise Refused("question")


def main():
    if sys.argv[1] == "vectors":
        print(json.dumps(vectors(), indent=1))
    else:
        try:
            print(json.dumps(read(json.loads(sys.argv[2]))))
        except Refused as refused:
            print(json.dumps({"refused": str(refused)}))


main()
