"""Makes and reads files with PyPI's sqlcipher3, which carries a SQLCipher of its own, and with plain SQLite.

  sqlcipher_peer.py PACKAGES make FILE VERSION SIZE KEY PLAIN SALT ROWS
  sqlcipher_peer.py PACKAGES read FILE VERSION SIZE KEY PLAIN SALT
  sqlcipher_peer.py PACKAGES plain FILE

KEY is an SQL string, PLAIN the size of the plaintext header, and SALT its salt in hexadecimal, or - for none. The last
two print the number of rows, their sum, and what the integrity checks say.
"""

import sqlite3
import sys

packages, action, path = sys.argv[1:4]
sys.path.insert(0, packages)
from sqlcipher3 import dbapi2  # noqa: E402

if action == "plain":
    database = sqlite3.connect(path)
else:
    version, size, key, plain, salt = sys.argv[4:9]
    database = dbapi2.connect(path)
    database.execute(f"PRAGMA key = {key}")
    database.execute(f"PRAGMA cipher_compatibility = {version}")
    database.execute(f"PRAGMA cipher_page_size = {size}")
    if plain != "0":
        database.execute(f"PRAGMA cipher_plaintext_header_size = {plain}")
        database.execute(f"PRAGMA cipher_salt = \"x'{salt}'\"")
if action == "make":
    database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
    database.executemany("INSERT INTO t VALUES (?, ?)", [(i, f"row {i}") for i in range(int(sys.argv[9]))])
    database.commit()
else:
    print(*database.execute("SELECT count(*), sum(id) FROM t").fetchone())
    print(*(row[0] for row in database.execute("PRAGMA integrity_check")))
    if action == "read":
        print(*(row[0] for row in database.execute("PRAGMA cipher_integrity_check")))
database.close()
