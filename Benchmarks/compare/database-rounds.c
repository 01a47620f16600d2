// Rounds of inserts and selects through SQLite's C interface, the functions of which come from the library that is named.
//
//     database-rounds NAME LIBRARY FILE ROWS CACHE-KIB [KEY]
//
// As a program it measures plain SQLite and SQLCipher, each in a process of its own: both libraries have the same symbols. As a
// shared object it is loaded by VaultBenchmark, which measures the encrypting VFS with the same rounds. An empty LIBRARY stands
// for the functions that the program uses itself; see sqlcipher-library.sh.
//
// A line is `database.NAME.KIND.ROWS.CACHE`, the median and the best in microseconds of processor time for each row.
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct database database;
typedef struct statement statement;

static struct {
    int (*open)(const char *, database **, int, const char *);
    int (*close)(database *);
    int (*exec)(database *, const char *, void *, void *, void *);
    const char *(*message)(database *);
    int (*prepare)(database *, const char *, int, statement **, void *);
    int (*step)(statement *);
    int (*reset)(statement *);
    int (*finalize)(statement *);
    int (*bind_number)(statement *, int, int64_t);
    int (*bind_text)(statement *, int, const char *, int, void *);
    int (*bind_blob)(statement *, int, const void *, int, void *);
    int64_t (*number)(statement *, int);
    const void *(*blob)(statement *, int);
    int (*bytes)(statement *, int);
} sqlite;

static void *function(void *library, const char *name) {
    void *address = dlsym(library, name);
    if (!address) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return address;
}

static void *sleeping(void *nothing) {
    pause();
    return nothing;
}

// A second thread, as every Swift program has one: the C library's locks and memory cost less in programs of one.
static void start_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, 0, sleeping, 0) != 0) exit(71);
}

static void load(const char *name) {
    void *library = dlopen(*name ? name : NULL, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    sqlite.open = function(library, "sqlite3_open_v2");
    sqlite.close = function(library, "sqlite3_close");
    sqlite.exec = function(library, "sqlite3_exec");
    sqlite.message = function(library, "sqlite3_errmsg");
    sqlite.prepare = function(library, "sqlite3_prepare_v2");
    sqlite.step = function(library, "sqlite3_step");
    sqlite.reset = function(library, "sqlite3_reset");
    sqlite.finalize = function(library, "sqlite3_finalize");
    sqlite.bind_number = function(library, "sqlite3_bind_int64");
    sqlite.bind_text = function(library, "sqlite3_bind_text");
    sqlite.bind_blob = function(library, "sqlite3_bind_blob");
    sqlite.number = function(library, "sqlite3_column_int64");
    sqlite.blob = function(library, "sqlite3_column_blob");
    sqlite.bytes = function(library, "sqlite3_column_bytes");
}

enum { OK = 0, ROW = 100, DONE = 101, READWRITE_CREATE_URI = 2 | 4 | 64 };

static void check(database *db, int code, int expected) {
    if (code == expected) return;
    fprintf(stderr, "SQLite: %s (%d)\n", sqlite.message(db), code);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

// SplitMix64.
static uint64_t state;
static uint64_t random_number(void) {
    uint64_t mixed = state += 0x9E3779B97F4A7C15;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31);
}

static void execute(database *db, const char *sql) { check(db, sqlite.exec(db, sql, 0, 0, 0), OK); }

static statement *prepare(database *db, const char *sql) {
    statement *made = 0;
    check(db, sqlite.prepare(db, sql, -1, &made, 0), OK);
    return made;
}

static void bind_name(statement *prepared, int64_t row) {
    char service[32], account[40];
    sqlite.bind_text(prepared, 1, service, snprintf(service, sizeof service, "com.example.%d", (int)(row % 50)), (void *)-1);
    sqlite.bind_text(
        prepared, 2, account, snprintf(account, sizeof account, "user-%lld@example.com", (long long)row), (void *)-1);
}

static void insert(database *db, statement *prepared, int64_t row) {
    uint64_t value[12];
    for (int place = 0; place < 12; place++) value[place] = random_number();
    bind_name(prepared, row);
    sqlite.bind_blob(prepared, 3, value, sizeof value, (void *)-1);
    check(db, sqlite.step(prepared), DONE);
    sqlite.reset(prepared);
}

static int ascending(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static struct {
    const char *name;
    long rows, cache;
} run;

static void report(const char *kind, double *times, int count, double operations) {
    qsort(times, count, sizeof *times, ascending);
    printf("database.%s.%s.%ld.%ld\t%f\t%f\n", run.name, kind, run.rows, run.cache, times[count / 2] / operations,
        times[0] / operations);
}

static statement *prepared_to_insert(database *db) {
    return prepare(db, "INSERT INTO item (service, account, value) VALUES (?, ?, ?)");
}

static void measure_inserts(database *db) {
    double start = now();
    execute(db, "BEGIN");
    statement *prepared = prepared_to_insert(db);
    for (long row = 1; row <= run.rows; row++) insert(db, prepared, row);
    execute(db, "COMMIT");
    double bulk = now() - start;
    report("insert", &bulk, 1, run.rows);

    enum { rounds = 5, count = 1000 };
    double times[rounds];
    for (int round = 0; round < rounds; round++) {
        start = now();
        for (int number = 0; number < count; number++) insert(db, prepared, run.rows + 1 + round * count + number);
        times[round] = now() - start;
    }
    report("autocommit", times, rounds, count);
    sqlite.finalize(prepared);
}

static void measure_selects(database *db) {
    enum { rounds = 5, count = 50000, ranges = 500, length = 1000 };
    double times[rounds];
    uint64_t sum = 0;
    statement *by_row = prepare(db, "SELECT value FROM item WHERE id = ?");
    statement *by_name = prepare(db, "SELECT value FROM item WHERE service = ? AND account = ?");
    statement *scan = prepare(db, "SELECT id, value FROM item WHERE id >= ? ORDER BY id LIMIT ?");
    for (int round = -1; round < rounds; round++) {
        double start = now();
        for (int number = 0; number < count; number++) {
            sqlite.bind_number(by_row, 1, 1 + random_number() % run.rows);
            check(db, sqlite.step(by_row), ROW);
            sum += *(const uint8_t *)sqlite.blob(by_row, 0);
            sqlite.reset(by_row);
        }
        if (round >= 0) times[round] = now() - start;
    }
    report("rowid", times, rounds, count);
    for (int round = -1; round < rounds; round++) {
        double start = now();
        for (int number = 0; number < count; number++) {
            bind_name(by_name, 1 + random_number() % run.rows);
            check(db, sqlite.step(by_name), ROW);
            sum += *(const uint8_t *)sqlite.blob(by_name, 0);
            sqlite.reset(by_name);
        }
        if (round >= 0) times[round] = now() - start;
    }
    report("index", times, rounds, count);
    for (int round = -1; round < rounds; round++) {
        double start = now();
        for (int number = 0; number < ranges; number++) {
            sqlite.bind_number(scan, 1, 1 + random_number() % (run.rows - length));
            sqlite.bind_number(scan, 2, length);
            while (sqlite.step(scan) == ROW) sum += *(const uint8_t *)sqlite.blob(scan, 1) + sqlite.bytes(scan, 1);
            sqlite.reset(scan);
        }
        if (round >= 0) times[round] = now() - start;
    }
    report("range", times, rounds, (double)ranges * length);
    if (sum == 0) exit(1);
    sqlite.finalize(by_row);
    sqlite.finalize(by_name);
    sqlite.finalize(scan);
}

// Makes the database `file`, which must not exist. With a `key`, of 64 hexadecimal digits, by SQLCipher.
int database_rounds(const char *name, const char *library, const char *file, long rows, long cache, const char *key) {
    state = 1;
    run.name = name, run.rows = rows, run.cache = cache;
    load(library);
    start_thread();
    database *db = 0;
    check(db, sqlite.open(file, &db, READWRITE_CREATE_URI, 0), OK);
    char text[160];
    if (key) {
        snprintf(text, sizeof text, "PRAGMA key = \"x'%s'\"; PRAGMA cipher_page_size = 4096", key);
        execute(db, text);
        statement *version = 0;
        if (sqlite.prepare(db, "PRAGMA cipher_version", -1, &version, 0) != OK || sqlite.step(version) != ROW) {
            fprintf(stderr, "%s is no SQLCipher\n", library);
            exit(1);
        }
        sqlite.finalize(version);
    }
    // 0 for the cache that SQLite has by default, whose size differs between the two.
    if (cache) {
        snprintf(text, sizeof text, "PRAGMA cache_size = -%ld", cache);
        execute(db, text);
    }
    execute(db, "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY");
    execute(db,
        "CREATE TABLE item (id INTEGER PRIMARY KEY, service TEXT NOT NULL, account TEXT NOT NULL, value BLOB NOT NULL);"
        "CREATE INDEX item_name ON item (service, account)");
    measure_inserts(db);
    measure_selects(db);
    check(db, sqlite.close(db), OK);
    return 0;
}

#ifdef PROGRAM
int main(int count, char **words) {
    if (count < 6) {
        fprintf(stderr, "usage: %s NAME LIBRARY FILE ROWS CACHE-KIB [KEY]\n", words[0]);
        return 64;
    }
    return database_rounds(words[1], words[2], words[3], atol(words[4]), atol(words[5]), count > 6 ? words[6] : 0);
}
#endif
