"""Reads and writes SQLCipher files with PyPI's sqlcipher3, which carries a SQLCipher of its own.

  sqlcipher_peer.py version
  sqlcipher_peer.py write FILE FORMAT    the key comes on standard input, in hexadecimal
  sqlcipher_peer.py read FILE FORMAT     prints count and sum of the rows, and what the integrity check says
"""

import sys

sys.path.insert(0, sys.argv[1])
from sqlcipher3 import dbapi2  # noqa: E402

action = sys.argv[2]
if action == "version":
    print(dbapi2.connect(":memory:").execute("PRAGMA cipher_version").fetchone()[0])
    sys.exit()

path, form = sys.argv[3:5]
database = dbapi2.connect(path)
database.execute("PRAGMA key = \"x'%s'\"" % sys.stdin.read().strip())
database.execute("PRAGMA cipher_compatibility = %d" % int(form))
database.execute("PRAGMA cipher_page_size = 4096")
if action == "write":
    database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
    database.executemany("INSERT INTO t VALUES (?, ?)", [(i, "row %d" % i) for i in range(1000)])
    database.commit()
count, total = database.execute("SELECT count(*), sum(id) FROM t").fetchone()
print(count, total, database.execute("PRAGMA integrity_check").fetchone()[0])
