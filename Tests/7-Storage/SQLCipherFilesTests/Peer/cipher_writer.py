"""Writes to a SQLCipher file with PyPI's sqlcipher3 as DatabaseWorker does with this library, or checks the file.

  cipher_writer.py PACKAGES write FILE JOURNAL TASK ROUNDS NUMBER
  cipher_writer.py PACKAGES check FILE

`write` prints the number of each row that is committed, and `done`. `check` prints what both integrity checks say, and
the workers with their last row and their number of rows.
"""

import sys

packages, action, path = sys.argv[1:4]
sys.path.insert(0, packages)
from sqlcipher3 import dbapi2  # noqa: E402

database = dbapi2.connect(path, isolation_level=None, timeout=120)
database.execute("PRAGMA key = \"x'" + "07" * 32 + "'\"")
if action == "check":
    print(*(row[0] for row in database.execute("PRAGMA integrity_check")))
    print(*(row[0] for row in database.execute("PRAGMA cipher_integrity_check")))
    for row in database.execute("SELECT worker, max(round), count(*) FROM kept GROUP BY worker"):
        print(*row)
    sys.exit()

journal, task, rounds, number = sys.argv[4], sys.argv[5], int(sys.argv[6]), int(sys.argv[7])
database.execute(f"PRAGMA journal_mode = {journal}")
if task == "spill":
    database.execute("PRAGMA cache_size = 10")
    database.execute("PRAGMA cache_spill = 10")
for row in range(rounds):
    database.execute("BEGIN IMMEDIATE")
    database.execute("INSERT INTO kept VALUES (?, ?, ?)", (number, row, f"canary {number} {row}"))
    for part in range(60 if task == "spill" else 3):
        size = 500 + (row * 37 + part * 911) % 3000
        database.execute("INSERT INTO passing(worker, round, bytes) VALUES (?, ?, zeroblob(?))", (number, row, size))
    if row % 3 == 2:
        database.execute("DELETE FROM passing WHERE worker = ? AND round < ?", (number, row - 1))
    database.execute("COMMIT")
    print(row, flush=True)
database.close()
print("done", flush=True)
