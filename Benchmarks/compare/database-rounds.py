"""Runs the rounds of database-rounds.c with the SQLCipher that is inside PyPI's sqlcipher3.

  database-rounds.py NAME PACKAGES ROUNDS.SO FILE ROWS CACHE-KIB [KEY]

Without a key the database is plain. The wheel's module exports SQLite's functions, and needs Python's: this process has
both. The processor time is that of the whole process, in which nothing else runs meanwhile.
"""

import ctypes
import glob
import sys
import threading

# A second thread, as in the other programs.
threading.Thread(target=threading.Event().wait, daemon=True).start()
name, packages, rounds, path, rows, cache, *key = sys.argv[1:]
module = glob.glob(packages + "/sqlcipher3/_sqlite3*.so")[0]
function = ctypes.CDLL(rounds).database_rounds
function.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_long] * 2 + [ctypes.c_char_p]
sys.exit(function(name.encode(), module.encode(), path.encode(), int(rows), int(cache), key[0].encode() if key else None))
