"""A program that makes keys of every kind by the PKCS #11 module, in the vault and in its session, and uses them. What AES
and HMAC make is compared with the module `cryptography`.

    pkcs11_keys.py LIBRARY secrets | pairs | imports | lengths | postquantum | leftovers
"""
import hashlib, hmac, os, sys
from ctypes import POINTER, Structure, addressof, byref, c_char_p, c_ulong, c_void_p, create_string_buffer

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, keywrap, padding, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding as asymmetric, rsa, utils
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF

from pkcs11_peer import *

TOKEN, PRIVATE, LABEL, VALUE, KEY_TYPE, ID, SENSITIVE = 1, 2, 3, 0x11, 0x100, 0x102, 0x103
ENCRYPT, SIGN, LENGTH, EXTRACTABLE, MODULUS_BITS, PARAMETERS, POINT = 0x104, 0x108, 0x161, 0x162, 0x121, 0x180, 0x181
AES, GENERIC, RSA, EC, EDWARDS, ML_KEM, ML_DSA = 0x1F, 0x10, 0, 3, 0x40, 0x49, 0x4A
GCM, CBC, CBC_PAD, WRAP, WRAP_PADDED, SHA256_HMAC = 0x1087, 0x1082, 0x1085, 0x2109, 0x210B, 0x251
YES, NO = b"\1", b"\0"
P256 = bytes.fromhex("06082a8648ce3d030107")
P521 = bytes.fromhex("06052b81040023")
READ_ONLY, FUNCTION, DAMAGED, LENGTH_RANGE, UNEXTRACTABLE, SENSITIVE_VALUE = 0xB5, 0x68, 0x40, 0x41, 0x6A, 0x11


class GCMParameters(Structure):
    _fields_ = [("iv", c_char_p), ("iv_length", c_ulong), ("iv_bits", c_ulong), ("associated", c_char_p),
                ("associated_length", c_ulong), ("tag_bits", c_ulong)]


class Context(Structure):
    _fields_ = [("hedge", c_ulong), ("context", c_char_p), ("length", c_ulong)]


def mechanism(kind, parameter=None):
    if parameter is None: return Mechanism(kind, None, 0)
    held = create_string_buffer(parameter, len(parameter)) if isinstance(parameter, bytes) else parameter
    made = Mechanism(kind, addressof(held), len(parameter) if isinstance(parameter, bytes) else sizeof(held))
    made.held = held
    return made


def sizeof(structure): return len(bytes(structure))


def gcm(iv, associated, bits=128):
    return mechanism(GCM, GCMParameters(iv, len(iv), 8 * len(iv), associated, len(associated), bits))


def run(name, session, how, key, data, code=OK):
    """Init and the function itself, with the room that the function asks for."""
    expect(OK, name + "Init", session, byref(how), key)
    size = c_ulong()
    got = call(name, session, data, len(data), None, byref(size))
    if got == OK:
        room = create_string_buffer(max(size.value, 1))
        got = call(name, session, data, len(data), room, byref(size))
    assert got == code, f"C_{name}: {got:#x} and not {code:#x}"
    return room.raw[:size.value] if got == OK else None


def in_parts(name, session, how, key, data, step):
    expect(OK, name + "Init", session, byref(how), key)
    made = b""
    for start in range(0, len(data), step):
        part = data[start:start + step]
        room, size = create_string_buffer(len(part) + 16), c_ulong(len(part) + 16)
        expect(OK, name + "Update", session, part, len(part), room, byref(size))
        if name != "Sign": made += room.raw[:size.value]
    size = c_ulong(len(data) + 64)
    room = create_string_buffer(size.value)
    expect(OK, name + "Final", session, room, byref(size))
    return made + room.raw[:size.value]


def create(session, *pairs):
    made = c_ulong()
    expect(OK, "CreateObject", session, attributes(*pairs), len(pairs), byref(made))
    return made.value


def generate(session, kind, *pairs):
    made = c_ulong()
    expect(OK, "GenerateKey", session, byref(mechanism(kind)), attributes(*pairs), len(pairs), byref(made))
    return made.value


def generate_pair(session, kind, public, private):
    halves = c_ulong(), c_ulong()
    expect(OK, "GenerateKeyPair", session, byref(mechanism(kind)), attributes(*public), len(public),
           attributes(*private), len(private), byref(halves[0]), byref(halves[1]))
    return halves[0].value, halves[1].value


def attribute(session, key, kind, code=OK):
    room = create_string_buffer(16384)
    asked = (Attribute * 1)(Attribute(kind, addressof(room), 16384))
    expect(code, "GetAttributeValue", session, key, asked, 1)
    return room.raw[:asked[0].length] if code == OK else None


def aes(session, key, secret):
    iv, nonce, text = os.urandom(16), os.urandom(12), os.urandom(100)
    sealed = run("Encrypt", session, gcm(nonce, b"head"), key, text)
    assert sealed == AESGCM(secret).encrypt(nonce, text, b"head")
    assert run("Decrypt", session, gcm(nonce, b"head"), key, sealed) == text
    run("Decrypt", session, gcm(nonce, b"other"), key, sealed, DAMAGED)
    assert in_parts("Encrypt", session, gcm(nonce, b"head"), key, text, 7) == sealed
    assert len(run("Encrypt", session, gcm(nonce, b"", 96), key, text)) == 112
    long_nonce = os.urandom(60)
    assert run("Decrypt", session, gcm(long_nonce, b""), key, run("Encrypt", session, gcm(long_nonce, b""), key, b"")) == b""
    padder = padding.PKCS7(128).padder()
    encryptor = Cipher(algorithms.AES(secret), modes.CBC(iv)).encryptor()
    padded = encryptor.update(padder.update(text) + padder.finalize()) + encryptor.finalize()
    for step in [1, 16, 33, 1000]:
        assert in_parts("Encrypt", session, mechanism(CBC_PAD, iv), key, text, step) == padded
        assert in_parts("Decrypt", session, mechanism(CBC_PAD, iv), key, padded, step) == text
    assert run("Encrypt", session, mechanism(CBC_PAD, iv), key, text) == padded
    assert run("Decrypt", session, mechanism(CBC_PAD, iv), key, padded) == text
    assert run("Decrypt", session, mechanism(CBC, iv), key, run("Encrypt", session, mechanism(CBC, iv), key, text[:96])) == text[:96]
    run("Encrypt", session, mechanism(CBC, iv), key, text, 0x21)
    run("Decrypt", session, mechanism(CBC_PAD, iv), key, text, LENGTH_RANGE)
    other = os.urandom(32)
    assert run("Encrypt", session, mechanism(WRAP), key, other) == keywrap.aes_key_wrap(secret, other)
    assert run("Decrypt", session, mechanism(WRAP), key, keywrap.aes_key_wrap(secret, other)) == other
    assert run("Encrypt", session, mechanism(WRAP_PADDED), key, other[:21]) == keywrap.aes_key_wrap_with_padding(secret, other[:21])
    assert run("Decrypt", session, mechanism(WRAP_PADDED), key, keywrap.aes_key_wrap_with_padding(secret, other[:21])) == other[:21]
    run("Decrypt", session, mechanism(WRAP), key, os.urandom(40), DAMAGED)


def code_of(session, key, secret):
    data = os.urandom(5000)
    for kind, name in [(0x221, "sha1"), (0x256, "sha224"), (SHA256_HMAC, "sha256"), (0x261, "sha384"), (0x271, "sha512")]:
        code = run("Sign", session, mechanism(kind), key, data)
        assert code == hmac.new(secret, data, name).digest(), name
        assert in_parts("Sign", session, mechanism(kind), key, data, 999) == code
        for given, outcome in [(code, OK), (bytes(len(code)), INVALID)]:
            expect(OK, "VerifyInit", session, byref(mechanism(kind)), key)
            expect(outcome, "Verify", session, data, len(data), given, len(given))


def secrets():
    session = open_session()
    for token in [YES, NO]:
        for size in [16, 24, 32]:
            secret = os.urandom(size)
            aes(session, create(session, (0, number(4)), (KEY_TYPE, number(AES)), (VALUE, secret), (TOKEN, token)), secret)
        for secret in [b"k", os.urandom(64), os.urandom(1024)]:
            code_of(session, create(session, (0, number(4)), (KEY_TYPE, number(GENERIC)), (VALUE, secret), (TOKEN, token)), secret)
    # One that the vault makes: its value stays there, whoever asks.
    made = generate(session, 0x1080, (TOKEN, YES), (LENGTH, number(32)), (LABEL, b"files"), (ID, b"\7\7"))
    assert attribute(session, made, LABEL) == b"files" and attribute(session, made, ID) == b"\7\7"
    attribute(session, made, VALUE, SENSITIVE_VALUE)
    sealed = run("Encrypt", session, gcm(b"n" * 12, b""), made, b"text")
    assert run("Decrypt", session, gcm(b"n" * 12, b""), find(session, 4, b"files"), sealed) == b"text"
    # A session may read its own if its maker wants that, and use it for what its maker wants.
    own = generate(session, 0x1080, (LENGTH, number(16)), (TOKEN, NO), (SENSITIVE, NO), (EXTRACTABLE, YES), (ENCRYPT, NO))
    secret = attribute(session, own, VALUE)
    assert len(secret) == 16
    expect(FUNCTION, "EncryptInit", session, byref(gcm(b"n" * 12, b"")), own)
    kept = generate(session, 0x1080, (LENGTH, number(16)), (TOKEN, NO), (SENSITIVE, YES), (EXTRACTABLE, NO))
    attribute(session, kept, VALUE, SENSITIVE_VALUE)
    # It goes out under another key, and comes in again; what may not leave does not.
    size = c_ulong(64)
    wrapped = create_string_buffer(64)
    expect(OK, "WrapKey", session, byref(mechanism(WRAP)), made, own, wrapped, byref(size))
    expect(UNEXTRACTABLE, "WrapKey", session, byref(mechanism(WRAP)), made, kept, wrapped, byref(c_ulong(64)))
    expect(UNEXTRACTABLE, "WrapKey", session, byref(mechanism(WRAP)), own, made, wrapped, byref(c_ulong(64)))
    template, again = attributes((0, number(4)), (KEY_TYPE, number(AES)), (TOKEN, NO), (SENSITIVE, NO)), c_ulong()
    expect(OK, "UnwrapKey", session, byref(mechanism(WRAP)), made, wrapped, size.value, template, 4, byref(again))
    assert attribute(session, again.value, VALUE) == secret
    expect(0x110, "UnwrapKey", session, byref(mechanism(WRAP)), made, bytes(24), 24, template, 4, byref(again))
    # Its value can be hashed, and that of the vault's cannot.
    for key, code in [(own, OK), (made, 0x67)]:
        expect(OK, "DigestInit", session, byref(mechanism(SHA256)))
        expect(code, "DigestKey", session, key)
        if code != OK: continue
        room, size = create_string_buffer(32), c_ulong(32)
        expect(OK, "DigestFinal", session, room, byref(size))
        assert room.raw == hashlib.sha256(secret).digest()
    # After the length for the whole, there are no parts.
    expect(OK, "EncryptInit", session, byref(mechanism(CBC_PAD, bytes(16))), made)
    expect(OK, "Encrypt", session, b"text", 4, None, byref(size))
    expect(ACTIVE, "EncryptUpdate", session, b"text", 4, None, byref(size))
    # A session's keys end with it, and are nobody else's.
    other = open_session(4)
    expect(OK, "DestroyObject", session, own)
    expect(READ_ONLY, "DestroyObject", other, made)
    expect(READ_ONLY, "GenerateKey", other, byref(mechanism(0x1080)), attributes((TOKEN, YES), (LENGTH, number(16))), 2, byref(again))
    expect(OK, "CloseSession", session)
    expect(OBJECT, "GetObjectSize", other, kept, byref(size))
    expect(OK, "DestroyObject", open_session(), made)
    for length, code in [(0, 0x62), (15, 0x62), (2000, 0x62)]:
        expect(code, "GenerateKey", other, byref(mechanism(0x1080)), attributes((LENGTH, number(length))), 1, byref(again))


def pairs():
    session = open_session()
    digest = hashlib.sha256(b"data").digest()
    public, private = generate_pair(session, 0x1040, [(PARAMETERS, P256), (TOKEN, NO)], [(TOKEN, NO), (LABEL, b"mine")])
    verify(session, public, digest, sign(session, private, digest))
    point = attribute(session, public, POINT)[2:]
    oracle = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    signature = run("Sign", session, mechanism(ECDSA_SHA256), private, b"data")
    oracle.verify(utils.encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")),
                  b"data", ec.ECDSA(hashes.SHA256()))
    # Two keys agree, of which one is the session's and one the vault's.
    _, stored = generate_pair(session, 0x1040, [(PARAMETERS, P256), (TOKEN, YES), (LABEL, b"stored")], [(TOKEN, YES), (ID, b"\1\2")])
    assert attribute(session, stored, ID) == attribute(session, find(session, 2, b"stored"), ID) == b"\1\2"
    secrets = []
    for own, peer in [(private, attribute(session, find(session, 2, b"stored"), POINT)), (stored, point)]:
        parameters = create_string_buffer(number(1) + number(0) + number(0) + number(len(peer)) + number(0), 40)
        held = create_string_buffer(peer, len(peer))
        c_void_p.from_address(addressof(parameters) + 32).value = addressof(held)
        made = c_ulong()
        template = attributes((0, number(4)), (KEY_TYPE, number(GENERIC)), (SENSITIVE, NO), (EXTRACTABLE, YES))
        expect(OK, "DeriveKey", session, byref(Mechanism(0x1050, addressof(parameters), 40)), own, template, 4, byref(made))
        secrets.append(attribute(session, made.value, VALUE))
    assert secrets[0] == secrets[1] and len(secrets[0]) == 32
    # The same with a derivation (X9.63).
    info = create_string_buffer(b"info", 4)
    for code, function in [(2, hashes.SHA1()), (5, hashes.SHA224()), (6, hashes.SHA256()), (7, hashes.SHA384()), (8, hashes.SHA512())]:
        parameters = create_string_buffer(number(code) + number(4) + number(addressof(info)) + number(len(peer)) + number(addressof(held)), 40)
        template = attributes((0, number(4)), (KEY_TYPE, number(GENERIC)), (SENSITIVE, NO), (EXTRACTABLE, YES), (LENGTH, number(100)))
        expect(OK, "DeriveKey", session, byref(Mechanism(0x1050, addressof(parameters), 40)), stored, template, 5, byref(made))
        assert attribute(session, made.value, VALUE) == X963KDF(function, 100, b"info").derive(secrets[0])
    public, private = generate_pair(session, 0, [(MODULUS_BITS, number(2048)), (TOKEN, NO)], [(TOKEN, NO)])
    for kind in [1, 3, 0x40, 0x42]:
        signature = run("Sign", session, mechanism(kind), private, b"data")
        expect(OK, "VerifyInit", session, byref(mechanism(kind)), public)
        expect(OK, "Verify", session, b"data", 4, signature, len(signature))
    pss = mechanism(0x43, number(0x250) + number(2) + number(32))
    signature = run("Sign", session, pss, private, b"data")
    expect(OK, "VerifyInit", session, byref(pss), public)
    expect(OK, "Verify", session, b"data", 4, signature, len(signature))
    for how in [mechanism(1), mechanism(9, number(0x250) + number(2) + number(1) + number(0) + number(0))]:
        assert run("Decrypt", session, how, private, run("Encrypt", session, how, public, b"text")) == b"text"
    public, private = generate_pair(session, 0x1055, [(TOKEN, NO)], [(TOKEN, NO)])
    signature = run("Sign", session, mechanism(0x1057), private, b"data")
    ed25519.Ed25519PublicKey.from_public_bytes(attribute(session, public, POINT)[2:]).verify(signature, b"data")
    # A private key does not say what it is made of, whatever its maker wants.
    for token in [NO, YES]:
        _, private = generate_pair(session, 0x1040, [(PARAMETERS, P256), (TOKEN, token)],
                                   [(TOKEN, token), (EXTRACTABLE, YES), (SENSITIVE, NO)])
        assert attribute(session, private, EXTRACTABLE) == NO and attribute(session, private, SENSITIVE) == YES
        attribute(session, private, VALUE, SENSITIVE_VALUE)
        expect(UNEXTRACTABLE, "WrapKey", session, byref(mechanism(WRAP)), generate(session, 0x1080, (LENGTH, number(16))), private,
               create_string_buffer(99), byref(c_ulong(99)))


def big(value): return value.to_bytes((value.bit_length() + 7) // 8, "big")


def imports():
    session = open_session()
    key = rsa.generate_private_key(65537, 2048)
    numbers = key.private_numbers()
    parts = [numbers.public_numbers.n, 65537, numbers.d, numbers.p, numbers.q, numbers.dmp1, numbers.dmq1, numbers.iqmp]
    kinds = [0x120, 0x122, 0x123, 0x124, 0x125, 0x126, 0x127, 0x128]
    template = [(kind, big(part)) for kind, part in zip(kinds, parts)]
    for token in [NO, YES]:
        made = create(session, (0, number(3)), (KEY_TYPE, number(RSA)), (TOKEN, token), (LABEL, b"in" if token == YES else b"own"),
                      (ID, b"rsa"), *template)
        key.public_key().verify(run("Sign", session, mechanism(0x40), made, b"data"), b"data", asymmetric.PKCS1v15(), hashes.SHA256())
        public = create(session, (0, number(2)), (KEY_TYPE, number(RSA)), (TOKEN, token), (ID, b"rsa"), *template[:2])
        sealed = run("Encrypt", session, mechanism(1), public, b"text")
        assert key.decrypt(sealed, asymmetric.PKCS1v15()) == b"text"
        assert run("Decrypt", session, mechanism(1), made, sealed) == b"text"
    # The pair is there once, and not to be had twice.
    assert attribute(session, find(session, 2, b"in"), ID) == b"rsa"
    call("CreateObject", session, attributes((0, number(3)), (KEY_TYPE, number(RSA)), (TOKEN, YES), *template), 11, byref(c_ulong()))
    find(session, 3, b"in")
    for curve, name, size in [(ec.SECP256R1(), P256, 32), (ec.SECP521R1(), P521, 66)]:
        key = ec.generate_private_key(curve)
        scalar = key.private_numbers().private_value.to_bytes(size, "big")
        for token in [NO, YES]:
            made = create(session, (0, number(3)), (KEY_TYPE, number(EC)), (TOKEN, token), (PARAMETERS, name), (VALUE, scalar))
            signature = run("Sign", session, mechanism(ECDSA_SHA256), made, b"data")
            halves = [int.from_bytes(half, "big") for half in (signature[:size], signature[size:])]
            key.public_key().verify(utils.encode_dss_signature(*halves), b"data", ec.ECDSA(hashes.SHA256()))
    # A public key alone verifies.
    key = ec.generate_private_key(ec.SECP256R1())
    point = key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    r, s = utils.decode_dss_signature(key.sign(b"data", ec.ECDSA(hashes.SHA256())))
    for token, given in [(NO, point), (YES, b"\4\x41" + point)]:
        made = create(session, (0, number(2)), (KEY_TYPE, number(EC)), (TOKEN, token), (PARAMETERS, P256), (POINT, given))
        expect(OK, "VerifyInit", session, byref(mechanism(ECDSA_SHA256)), made)
        expect(OK, "Verify", session, b"data", 4, r.to_bytes(32, "big") + s.to_bytes(32, "big"), 64)
    key = ed25519.Ed25519PrivateKey.generate()
    seed = key.private_bytes(serialization.Encoding.Raw, serialization.PrivateFormat.Raw, serialization.NoEncryption())
    for token in [NO, YES]:
        made = create(session, (0, number(3)), (KEY_TYPE, number(EDWARDS)), (TOKEN, token), (VALUE, seed))
        key.public_key().verify(run("Sign", session, mechanism(0x1057), made, b"data"), b"data")
    # What is no key is refused.
    bad = dict(template)
    for change in [{0x124: big(numbers.q)}, {0x120: bytes(256)}, {0x128: b""}, {0x123: b"\1"}]:
        wrong = list({**bad, **change}.items())
        for token in [NO, YES]:
            expect(0x13, "CreateObject", session, attributes((0, number(3)), (KEY_TYPE, number(RSA)), (TOKEN, token), *wrong),
                   len(wrong) + 3, byref(c_ulong()))
    for scalar in [b"", bytes(32), b"\xff" * 32, bytes(40)]:
        expect(0x13, "CreateObject", session, attributes((0, number(3)), (KEY_TYPE, number(EC)), (PARAMETERS, P256), (VALUE, scalar)),
               4, byref(c_ulong()))
    for point in [b"\4" + bytes(64), b"\4" * 65, b"", bytes(200)]:
        expect(0x13, "CreateObject", session, attributes((0, number(2)), (KEY_TYPE, number(EC)), (PARAMETERS, P256), (POINT, point)),
               4, byref(c_ulong()))


def postquantum():
    session = open_session()
    for parameters, signature_size in [(2, 3309), (3, 4627)]:
        label = b"dsa%d" % parameters
        public, private = generate_pair(session, 0x1C, [(0x61D, number(parameters)), (TOKEN, YES), (LABEL, label)], [(TOKEN, YES)])
        assert attribute(session, private, 0x61D) == number(parameters)
        for context in [b"", b"context"]:
            how = mechanism(0x1D, Context(0, context, len(context))) if context else mechanism(0x1D)
            signature = run("Sign", session, how, private, b"data")
            assert len(signature) == signature_size
            for data, code in [(b"data", OK), (b"date", INVALID)]:
                expect(OK, "VerifyInit", session, byref(how), public)
                expect(code, "Verify", session, data, 4, signature, len(signature))
            print(parameters, attribute(session, public, VALUE).hex(), context.hex() or "-", signature.hex())
        expect(0x71, "SignInit", session, byref(mechanism(0x1D, Context(2, None, 0))), private)
        find(session, 3, label)
    for parameters, size in [(2, 1088), (3, 1568)]:
        public, private = generate_pair(session, 0xF, [(0x61D, number(parameters)), (TOKEN, YES)], [(TOKEN, YES)])
        count, made = c_ulong(), c_ulong()
        template = attributes((0, number(4)), (KEY_TYPE, number(GENERIC)), (SENSITIVE, NO), (EXTRACTABLE, YES))
        expect(OK, "EncapsulateKey", session, byref(mechanism(0x17)), public, template, 4, None, byref(count), byref(made))
        assert count.value == size
        capsule = create_string_buffer(size)
        expect(OK, "EncapsulateKey", session, byref(mechanism(0x17)), public, template, 4, capsule, byref(count), byref(made))
        first = attribute(session, made.value, VALUE)
        expect(OK, "DecapsulateKey", session, byref(mechanism(0x17)), private, template, 4, capsule, size, byref(made))
        assert attribute(session, made.value, VALUE) == first and len(first) == 32
        expect(0x20, "DecapsulateKey", session, byref(mechanism(0x17)), private, template, 4, capsule, size - 1, byref(made))
    # No token has session keys of these kinds, and no other parameter sets.
    halves = c_ulong(), c_ulong()
    for kind, parameters, code in [(0x1C, 1, 0x13), (0xF, 1, 0x13), (0x1C, 9, 0x13)]:
        expect(code, "GenerateKeyPair", session, byref(mechanism(kind)), attributes((0x61D, number(parameters)), (TOKEN, YES)), 2,
               attributes((TOKEN, YES)), 1, byref(halves[0]), byref(halves[1]))


def lengths():
    """Lengths that no memory has are refused before memory is taken for them."""
    session = open_session()
    iv, room = os.urandom(16), create_string_buffer(64)
    mechanisms = [gcm(iv, b""), mechanism(CBC, iv), mechanism(CBC_PAD, iv), mechanism(WRAP), mechanism(WRAP_PADDED)]
    for stored in [YES, NO]:
        key = generate(session, 0x1080, (TOKEN, stored), (LENGTH, number(32)), (LABEL, b"lengths"))
        for count in [2**64 - 1, 2**63, 2**63 - 1, 2**63 - 16, 2**40]:
            for how in mechanisms:
                for name, code in [("Encrypt", 0x21), ("Decrypt", LENGTH_RANGE)]:
                    for place, size in [(None, 0), (room, 2**64 - 1)]:
                        expect(OK, name + "Init", session, byref(how), key)
                        expect(code, name, session, iv, count, place, byref(c_ulong(size)))
            expect(OK, "EncryptInit", session, byref(mechanism(CBC, iv)), key)
            expect(OK, "EncryptUpdate", session, iv, 5, room, byref(c_ulong(64)))
            assert call("EncryptUpdate", session, iv, count, None, byref(c_ulong())) in {ARGUMENTS, 0x21}
            assert call("UnwrapKey", session, byref(mechanism(WRAP)), key, iv, count, None, 0, byref(c_ulong())) in {ARGUMENTS, LENGTH_RANGE}
    _, private = generate_pair(session, 0x1055, [(TOKEN, YES)], [(TOKEN, YES), (LABEL, b"lengths")])
    for count in [2**64 - 1, 2**63 - 1, 2**40, 2**25 + 1]:
        expect(OK, "SignInit", session, byref(mechanism(0x1057)), private)
        expect(0x21, "Sign", session, iv, count, room, byref(c_ulong(64)))


def leftovers():
    """After the use of a key, its parts are nowhere in the memory of $DAEMON."""
    session = open_session()
    key = rsa.generate_private_key(65537, 2048)
    numbers = key.private_numbers()
    parts = [numbers.public_numbers.n, 65537, numbers.d, numbers.p, numbers.q, numbers.dmp1, numbers.dmq1, numbers.iqmp]
    held = create(session, (0, number(3)), (KEY_TYPE, number(RSA)), (TOKEN, YES), (LABEL, b"leftovers"),
                  *[(kind, big_endian(part)) for kind, part in zip([0x120, 0x122, 0x123, 0x124, 0x125, 0x126, 0x127, 0x128], parts)])
    for _ in range(20): assert len(run("Sign", session, mechanism(0x40), held, b"text")) == 256
    assert run("Decrypt", session, mechanism(1), held, key.public_key().encrypt(b"text", asymmetric.PKCS1v15())) == b"text"
    needles = {"socket": os.environ["KEYCHAIN_SOCKET"].encode()}
    needles |= {name: big_endian(getattr(numbers, name))[40:72] for name in ["d", "p", "q", "dmp1", "dmq1", "iqmp"]}
    found, process = set(), os.environ["DAEMON"]
    with open(f"/proc/{process}/maps") as regions, open(f"/proc/{process}/mem", "rb", 0) as file:
        for region in regions:
            places, rights = region.split()[:2]
            if rights[0] != "r" or "[v" in region: continue
            start, end = (int(place, 16) for place in places.split("-"))
            file.seek(start)
            try: held = file.read(end - start)
            except OSError: continue
            found |= {name for name, needle in needles.items() if needle in held}
    assert found == {"socket"}, found


def big_endian(value): return value.to_bytes((value.bit_length() + 7) // 8, "big")


expect(OK, "Initialize", None)
globals()[sys.argv[2]]()
expect(OK, "Finalize", None)
