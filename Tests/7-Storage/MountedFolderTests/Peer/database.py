#!/usr/bin/env python3
"""Works on an SQLite database in WAL mode.

    database.py FILE setup | write NAME COUNT | check AT-LEAST
"""
import sqlite3
import sys

file, command = sys.argv[1:3]
base = sqlite3.connect(file, timeout=300, isolation_level=None)
if command == "setup":
    mode, = base.execute("PRAGMA journal_mode=WAL").fetchone()
    assert mode == "wal", mode
    base.execute("CREATE TABLE entry (id INTEGER PRIMARY KEY, writer TEXT, number INTEGER, data BLOB, UNIQUE (writer, number))")
elif command == "write":
    # The mount may go in the midst of it.
    sys.excepthook = lambda kind, error, trace: print(f"{kind.__name__}: {error}")
    # A transaction that is reported outlives whatever follows.
    base.execute("PRAGMA synchronous=FULL")
    for number in range(int(sys.argv[4])):
        base.execute("BEGIN IMMEDIATE")
        base.execute(
            "INSERT INTO entry (writer, number, data) VALUES (?, ?, randomblob(?))",
            (sys.argv[3], number, 10 + number * 37 % 9000))
        base.execute("UPDATE entry SET data = randomblob(500) WHERE id = abs(random()) % (SELECT max(id) FROM entry) + 1")
        base.execute("COMMIT")
        print(number, flush=True)
elif command == "check":
    result = base.execute("PRAGMA integrity_check").fetchall()
    assert result == [("ok",)], result
    count, = base.execute("SELECT count(*) FROM entry").fetchone()
    assert count >= int(sys.argv[3]), (count, sys.argv[3])
    # Each writer's entries are there without gaps.
    for writer, count, last in base.execute("SELECT writer, count(*), max(number) FROM entry GROUP BY writer"):
        assert count == last + 1, (writer, count, last)
