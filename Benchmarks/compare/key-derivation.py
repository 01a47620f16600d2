"""OpenSSL's PBKDF2 with the rounds of SQLCipher's versions 4 and 3, in microseconds of processor time.

  key-derivation.py ROUNDS
"""

import hashlib
import statistics
import sys
import time

for version, digest, rounds in ((4, "sha512", 256_000), (3, "sha1", 64_000)):
    times = []
    for _ in range(int(sys.argv[1])):
        start = time.process_time()
        # The key, and the key of the pages' HMAC from it.
        key = hashlib.pbkdf2_hmac(digest, b"a passphrase of some length", b"\x01" * 16, rounds, 32)
        hashlib.pbkdf2_hmac(digest, key, b"\x3b" * 16, 2, 32)
        times.append((time.process_time() - start) * 1e6)
    print(f"database.derivation.openssl.{version}\t{statistics.median(times):f}\t{min(times):f}")
