"""What the Secret Service says, as others read it: sessions with Python's cryptography, introspection with Python's XML.

secret_service.py vectors                                      makes Fixtures/sessions.json
secret_service.py public PRIVATE                               a program's public key, without zeros in front
secret_service.py open PRIVATE PUBLIC PARAMETERS BYTES         a secret that the service has encrypted for this program
secret_service.py introspection                                what the interfaces of an XML text have, one a line
"""
import hashlib, json, sys
import xml.etree.ElementTree

# RFC 2409, 6.2.
PRIME = int(
    'FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD'
    'EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED'
    'EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF', 16)


def private(number):
    from cryptography.hazmat.primitives.asymmetric import dh
    parameters = dh.DHParameterNumbers(PRIME, 2)
    return dh.DHPrivateNumbers(number, dh.DHPublicNumbers(pow(2, number, PRIME), parameters)).private_key()


def public(number):
    return private(number).public_key().public_numbers().y


def shared(number, other):
    from cryptography.hazmat.primitives.asymmetric import dh
    peer = dh.DHPublicNumbers(other, dh.DHParameterNumbers(PRIME, 2)).public_key()
    return private(number).exchange(peer).rjust(128, b'\0')


def key(number, other):
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    return HKDF(algorithm=SHA256(), length=16, salt=None, info=b'').derive(shared(number, other))


def cipher(key, vector):
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    return Cipher(algorithms.AES(key), modes.CBC(vector))


def close(key, vector, secret):
    from cryptography.hazmat.primitives.padding import PKCS7
    padder, encryptor = PKCS7(128).padder(), cipher(key, vector).encryptor()
    return encryptor.update(padder.update(secret) + padder.finalize()) + encryptor.finalize()


def open_(key, vector, data):
    from cryptography.hazmat.primitives.padding import PKCS7
    unpadder, decryptor = PKCS7(128).unpadder(), cipher(key, vector).decryptor()
    return unpadder.update(decryptor.update(data) + decryptor.finalize()) + unpadder.finalize()


def shortest(number):
    return '%x' % number if len('%x' % number) % 2 == 0 else '0%x' % number


def vectors():
    def numbers(name):
        count = 0
        while True:
            text = b''.join(hashlib.sha512(b'%s %d %d' % (name, count, half)).digest() for half in range(2))
            yield int.from_bytes(text, 'big') % PRIME
            count += 1

    own = next(numbers(b'service'))
    theirs = numbers(b'program')
    first = next(theirs)
    # Leading zeros count: of the key that a program sends, and of the number that both agree on.
    short = next(number for number in theirs if len(shortest(public(number))) < 256)
    zero = next(number for number in theirs if shared(number, public(own))[0] == 0)
    made = []
    for what, number, secret in [
            ('any', first, b'swordfish'), ('a public key of 127 bytes', short, b''),
            ('a shared number that begins with a zero', zero, bytes(range(16)))]:
        agreed = key(number, public(own))
        assert agreed == key(own, public(number))
        vector = hashlib.sha256(what.encode()).digest()[:16]
        made.append({
            'what': what, 'own': '%0256x' % own, 'ownPublic': '%0256x' % public(own),
            'publicKey': shortest(public(number)), 'key': agreed.hex(), 'parameters': vector.hex(),
            'bytes': close(agreed, vector, secret).hex(), 'secret': secret.hex()})
    print(json.dumps(made, indent=1))


def introspection(text):
    for interface in xml.etree.ElementTree.fromstring(text):
        if interface.tag == 'node':
            print('node', interface.attrib['name'])
            continue
        for member in interface:
            print(interface.attrib['name'], member.tag, *(
                '%s=%s' % pair for element in [member, *member] for pair in sorted(element.attrib.items())))


if sys.argv[1] == 'vectors':
    vectors()
elif sys.argv[1] == 'public':
    print(shortest(public(int(sys.argv[2], 16))))
elif sys.argv[1] == 'open':
    agreed = key(int(sys.argv[2], 16), int(sys.argv[3], 16))
    print(open_(agreed, bytes.fromhex(sys.argv[4]), bytes.fromhex(sys.argv[5])).hex())
else:
    introspection(sys.argv[2])
