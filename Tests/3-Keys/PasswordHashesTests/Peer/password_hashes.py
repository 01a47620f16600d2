"""Hashes of passwords by argon2-cffi, bcrypt and passlib.

    password_hashes.py make SCHEME PASSWORD-HEX [PARAMETERS...]   prints a hash
    password_hashes.py check PASSWORD-HEX HASH                    prints yes or no
"""

import sys

import argon2
import bcrypt
from passlib.hash import django_pbkdf2_sha256, pbkdf2_sha1, pbkdf2_sha256, pbkdf2_sha512, scrypt


def make(scheme, password, parameters):
    if scheme in ("argon2id", "argon2i"):
        memory, passes, lanes = map(int, parameters)
        kind = argon2.Type.ID if scheme == "argon2id" else argon2.Type.I
        return argon2.PasswordHasher(time_cost=passes, memory_cost=memory, parallelism=lanes, type=kind).hash(password)
    if scheme == "bcrypt":
        return bcrypt.hashpw(password, bcrypt.gensalt(int(parameters[0]))).decode()
    if scheme == "scrypt":
        rounds, lanes, block = map(int, parameters if len(parameters) == 3 else parameters + ["8"])
        return scrypt.using(rounds=rounds, block_size=block, parallelism=lanes).hash(password)
    families = {
        "pbkdf2-sha1": pbkdf2_sha1, "pbkdf2-sha256": pbkdf2_sha256, "pbkdf2-sha512": pbkdf2_sha512,
        "django": django_pbkdf2_sha256,
    }
    return families[scheme].using(rounds=int(parameters[0])).hash(password)


def check(password, text):
    try:
        return argon2.PasswordHasher().verify(text, password)
    except argon2.exceptions.VerifyMismatchError:
        return False


if sys.argv[1] == "make":
    print(make(sys.argv[2], bytes.fromhex(sys.argv[3]), sys.argv[4:]))
else:
    print("yes" if check(bytes.fromhex(sys.argv[2]), sys.argv[3]) else "no")
