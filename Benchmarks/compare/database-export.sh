#!/bin/bash
# Encrypts a plain database of random rows: in its place by ProtectedDatabaseFile.encrypt, and by sqlcipher_export in SQLCipher's
# shell. Both leave the rows in another file, in the order of the plain one.
#
#   database-export.sh FOLDER VAULT-BENCHMARK MEGABYTES ROUNDS
#
# FOLDER is to be on a file system in memory. A line is a name and the time that passes, in microseconds.
set -euo pipefail
folder=$1 bench=$2 megabytes=$3 rounds=$4

# A row of 470 bytes and its index take an eighth of a page.
sqlite3 "$folder/export.db" >&2 <<EOF
PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE item (id INTEGER PRIMARY KEY, account TEXT NOT NULL, value BLOB NOT NULL);
CREATE INDEX item_account ON item (account);
WITH RECURSIVE counter(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < $megabytes * 2048)
INSERT INTO item SELECT n, 'user-' || n, randomblob(440) FROM counter;
EOF
key=$(openssl rand -hex 32)
# Memory that a virtual machine gets for the first time costs more than both sides' work: have all of it once before.
warm() {
    dd if=/dev/zero of="$folder/warm" bs=1M count=$((megabytes * 4)) status=none
    rm "$folder/warm"
}
for ((round = 0; round < rounds; round++)); do
    warm
    "$bench" conversion "$folder" "$folder/export.db"
    warm
    start=${EPOCHREALTIME/./}
    sqlcipher "$folder/export.db" >&2 <<EOF
ATTACH DATABASE '$folder/export-cipher.db' AS cipher KEY "x'$key'";
PRAGMA cipher.cipher_page_size = 4096;
SELECT sqlcipher_export('cipher');
DETACH DATABASE cipher;
EOF
    printf 'database.encrypt.sqlcipher\t%d\n' $((${EPOCHREALTIME/./} - start))
    [ "$(head -c 6 "$folder/export-cipher.db")" != SQLite ] || { echo 'sqlcipher_export wrote plain text' >&2; exit 1; }
    rm "$folder/export-cipher.db"
done
rm "$folder/export.db"
