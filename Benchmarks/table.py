#!/usr/bin/env python3
"""Makes the page of results from the lines of one run.

table.py RESULTS SIZE...

A line is a name, a median and a best, separated by tabs; a name that comes several times counts with the
median of its medians.
"""
import datetime
import os
import platform
import statistics
import sys


def read(path):
    medians, bests = {}, {}
    for line in open(path):
        name, median, *best = line.split("\t")
        medians.setdefault(name, []).append(float(median))
        bests.setdefault(name, []).append(float(best[0]) if best else float(median))
    return {name: (statistics.median(medians[name]), min(bests[name])) for name in medians}


def time(microseconds):
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3g} s"
    if microseconds >= 1000:
        return f"{microseconds / 1000:.3g} ms"
    return f"{microseconds:.3g} µs"


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


class Table:
    def __init__(self, results):
        self.results = results

    def heading(self, title, ours, other):
        print(f"\n## {title}\n\n| | {ours} | {other} | ratio | best | target | |")
        print("|---|---|---|---|---|---|---|")

    def row(self, label, ours, other, target=None, faster=False):
        """A comparison; with `faster` the ratio says how many times faster we are."""
        if ours not in self.results or other not in self.results:
            return
        (our_median, our_best), (other_median, other_best) = self.results[ours], self.results[other]
        ratio, best = our_median / other_median, our_best / other_best
        if faster:
            ratio, best = 1 / ratio, 1 / best
        verdict = ""
        goal = "–"
        if target is not None:
            goal = f"≥ {target:.3g}×" if faster else f"≤ {target:.3g}×"
            verdict = "met" if (ratio >= target if faster else ratio <= target) else "**missed**"
        print(
            f"| {label} | {time(our_median)} | {time(other_median)} | {ratio:.3g}× | {best:.3g}× | {goal} | {verdict} |")


def daemon(results):
    print("\n## Through the daemon, 100 items\n\n![Lookups a second by the number of clients](Charts/daemon.svg)\n\n| clients | | p50 | p99 | a second |\n|---|---|---|---|---|")
    clients_at_once = (1, 2, 4, 8, 16, 64)
    for clients in clients_at_once:
        for kind, label in (("lookup", "lookup with value"), ("floor", "floor: 256 bytes there and back")):
            p50, p99, rate = (results[f"daemon.{kind}.{clients}.{what}"][0] for what in ("p50", "p99", "rate"))
            print(f"| {clients} | {label} | {time(p50)} | {time(p99)} | {rate:,.0f} |")
    one, eight = (results[f"daemon.lookup.{clients}.rate"][0] for clients in (1, 8))
    tail = results["daemon.lookup.8.p99"][0]
    print("\n| clients | gnome-keyring, lookups a second |\n|---|---|")
    for clients in clients_at_once:
        print(f"| {clients} | {results[f'gnome.clients.{clients}'][0]:,.0f} |")
    print(
        f"\nEight clients: {eight:,.0f} lookups a second, target ≥ 60,000: "
        + ("met" if eight >= 60_000 else "**missed**") + f"; {eight / one:.2f} times one client's, target ≥ 1.9: "
        + ("met" if eight >= 1.9 * one else "**missed**") + f"; p99 {time(tail)}, target ≤ 1 ms: "
        + ("met" if tail <= 1000 else "**missed**"))
    lookup = results["daemon.lookup.1.p50"][0]
    over = lookup - results["daemon.floor.1.p50"][0]
    times = results["gnome.lookup.100"][0] / lookup
    print(
        f"\nOver the floor: {over:.0f} µs; target ≤ 60 µs: " + ("met" if over <= 60 else "**missed**")
        + f". Faster than gnome-keyring: {times:.1f}×; target ≥ 10×: " + ("met" if times >= 10 else "**missed**"))


def load(results):
    print("\n## While another program asks for everything\n")
    print(
        "One client of a program with items of its own, and one hostile program with one group and no right, on one\n"
        "daemon. Target: the 99th percentile at most 10 times that without the attack, no failed call. The last row is no\n"
        "attack: its threads ask the daemon nothing, and talk to each other as often as those of `looks` may ask.\n")
    print("| attack | call | p50 without | p50 with | p99 without | p99 with | longest with | failed |\n|" + "---|" * 8)
    for name in results:
        if name.startswith("load.") and name.endswith(".failed"):
            place = name.removesuffix(".failed")
            p50, p99, busy50, busy99, longest, failed = (
                results[f"{place}.{what}"][0]
                for what in ("p50", "p99", "busy-p50", "busy-p99", "busy-longest", "failed"))
            times = f"{time(p50)} | {time(busy50)} | {time(p99)} | {time(busy99)} ({busy99 / p99:.1f}×) | {time(longest)}"
            _, attack, call = place.split(".")
            print(f"| {attack} | {call} | {times} | {failed:.0f} |")
    growth = results["load.memory"][0] / 1024
    verdict = "met" if growth <= 256 else "**missed**"
    print(f"\nThe daemon took {growth:.0f} MiB more than at rest; target ≤ 256 MiB: {verdict}")


def foreign(results):
    held, free, u, z, p = (results[f"foreign.{name}"][0] for name in ("held", "free", "u", "z", "p"))
    print("\n## What a program can measure of other groups\n")
    print(
        "Lookups through the daemon in a program's own group, by turns for a service that 60 items of another group have\n"
        "and for one that no item has. A two-sided Mann-Whitney test; without a difference, p is below 0.01 in one of a\n"
        "hundred runs.\n")
    print("| p50, held by others | p50, free | U | z | p |\n|---|---|---|---|---|")
    print(f"| {time(held)} | {time(free)} | {u:,.0f} | {z:.2f} | {p:.3f} |")


def passcode(table, sizes):
    memory, passes = table.results["unlock.memory"]
    table.heading(f"Unlocking, {memory / 1024:.0f} MiB and {passes:.0f} passes", "ours", "bare Argon2id")
    table.row("unlock", "unlock.vault", "unlock.argon2id")
    print("\n## Changing the passcode, at the least cost of a derivation\n\n| items | time |\n|---|---|")
    for size in sizes:
        print(f"| {size:,} | {time(table.results[f'passcode.change.{size}'][0])} |")


def circle(results):
    print("\n## Items that travel in a circle, with values of 32 bytes\n")
    print("| items | made for the others, a second | taken in by a new member, a second | target | | bytes each "
          "| one change, to the other vault |\n|" + "---|" * 7)
    for size in 1000, 10000:
        made, taken = (results[f"circle.{name}.{size}"][0] for name in ("hand-on", "take-in"))
        print(f"| {size:,} | {1e6 / made:,.0f} | {1e6 / taken:,.0f} | ≥ 5,000 | {verdict(taken <= 200)} "
              f"| {results[f'circle.bytes.{size}'][0]:.0f} | {time(results[f'circle.change.{size}'][0])} |")
    print("\nWhat carries the objects is left out. Signatures are checked on a second core where there is one.")


def etcd(results):
    sizes = sorted({int(name.rsplit(".", 1)[1]) for name in results if name.startswith("etcd.each.p50.")})
    if not sizes:
        return
    print("\n## A circle through etcd, one node on the same machine\n")
    print("| machines | a change at each other one, p50 | target | | p99 | target | | at the last one, p50 |\n|" + "---|" * 8)
    for size in sizes:
        p50, p99 = (results[f"etcd.each.p{percent}.{size}"][0] for percent in (50, 99))
        # The targets are for eight.
        first, second = (verdict(p50 <= 5e4), verdict(p99 <= 5e5)) if size <= 8 else ("", "")
        print(f"| {size} | {time(p50)} | {'≤ 50 ms' if first else '–'} | {first} | {time(p99)} "
              f"| {'≤ 500 ms' if second else '–'} | {second} "
              f"| {time(results[f'etcd.last.p50.{size}'][0])} |")
    print("\nAll vaults are in one process, on disk, and each change is flushed in each of them.\n")
    counters = sorted(int(name.rsplit(".", 1)[1]) for name in results if name.startswith("etcd.increment."))
    if counters:
        print("| machines | increments of one counter that etcd decides, a second |\n|" + "---|" * 2)
        for size in counters:
            print(f"| {size} | {1e6 / results[f'etcd.increment.{size}'][0]:,.0f} |")
        print()
    print("| items | to etcd, a second | to a new machine, a second | target | | 10,000 changes to one that was away | target | |\n|"
          + "---|" * 8)
    for name in sorted(name for name in results if name.startswith("etcd.take-in.")):
        size = int(name.rsplit(".", 1)[1])
        changed = min(size, 10_000)
        taken, away = results[name][0], results[f"etcd.catch-up.{changed}"][0] * changed
        print(f"| {size:,} | {1e6 / results[f'etcd.hand-on.{size}'][0]:,.0f} | {1e6 / taken:,.0f} | ≥ 5,000 "
              f"| {verdict(taken <= 200)} | {time(away)} | ≤ 5 s | {verdict(away <= 5e6)} |")


def rate(microseconds):
    """Of a GiB."""
    return f"{1.073741824e6 / microseconds:.2f} GB/s"


def verdict(is_met):
    return "met" if is_met else "**missed**"


def files(table):
    results = table.results
    if "files.read.engine" not in results:
        return
    print("\n## A protected file of 1 GiB in memory, by processor time of this process\n\n| | rate | at best | target | |\n|---|---|---|---|---|")
    for label, name, target in [
        ("read from beginning to end, one core", "files.read.engine", 3), ("a plain file with `pread`", "files.read.plain", None),
        ("opening as many chunks in memory with swift-crypto", "files.read.cipher", None),
        ("write", "files.write.engine", None), ("a plain file with `write`", "files.write.plain", None),
    ]:
        median, best = results[name]
        goal = "" if target is None else verdict(1073.741824 / (median / 1e3) >= target)
        print(f"| {label} | {rate(median)} | {rate(best)} | {'–' if target is None else f'≥ {target} GB/s'} | {goal} |")
    table.heading("Reading 4 KiB anywhere in it, by processor time", "ours", "`pread` of 4 KiB and opening one chunk in memory")
    table.row("random reads", "files.random.engine", "files.random.floor", 3)
    change = results["files.class"][0]
    print(f"\nOpening it and changing its class: {time(change)}; target ≤ 5 ms: {verdict(change <= 5000)}. The whole command\n"
          f"`keychain file set-class`: {time(results['files.set-class.all'][0])}.")
    for cores, label in [("one", "on one core"), ("all", "on all cores")]:
        table.heading(f"1 GiB in memory, whole programs {label}", "`keychain file`", "the other")
        for label, ours, other, target in [
            ("read to /dev/null: `cat`, `age -d` with an X25519 key", "cat", "age-cat", 3),
            ("the same, `openssl enc -d -aes-256-ctr`, which authenticates nothing", "cat", "openssl-cat", None),
            ("the same, `cat` from gocryptfs", "cat", "gocryptfs-cat", None),
            ("`protect` in place, `age -r`", "protect", "age-encrypt", 1.2),
            ("the same, `openssl enc -aes-256-ctr`", "protect", "openssl-encrypt", None),
            ("the same, `cp` into gocryptfs", "protect", "gocryptfs-write", None),
            ("the same, plain `cp`", "protect", "cp", None),
            ("`unprotect` in place, `age -d` into a file", "unprotect", "age-decrypt", 1.5),
            ("the same, `openssl enc -d`", "unprotect", "openssl-decrypt", None),
            ("the same, `cp` out of gocryptfs", "unprotect", "gocryptfs-copy", None),
            ("the same, plain `cp`", "unprotect", "cp", None),
        ]:
            table.row(label, f"files.{ours}.{cores}", f"files.{other}.{cores}", target, faster=True)
    table.heading("1 GiB in memory, through a mounted folder", "`keychain mount`", "gocryptfs")
    for label, name in [("`cp` into it", "write"), ("`cat` to /dev/null", "cat"), ("`cp` out of it", "copy")]:
        table.row(label, f"files.mount-{name}.all", f"files.gocryptfs-{name}.all", 0.8, faster=True)
    print("\nBefore each program, as much memory was filled and freed as it fills: a virtual machine gives free memory back to "
          "the\nmachine below, and getting it again would be counted for whoever comes next. What is read to /dev/null was read "
          "once\nbefore, so that the kernel's first touch of its pages is counted for nobody.\n`protect` and `unprotect` also wait until the file is on the disk, which takes no time in memory. "
          "`age` has a thread\nof its own for the garbage collector; the file system of gocryptfs runs beside the program that "
          "uses it.")
    for cores, label in [("one", "on one core"), ("all", "on all cores")]:
        table.heading(f"10,000 files of up to 16 KiB {label}", "`keychain file`", "the other")
        for label, ours, other in [
            ("`protect`, `cp -r`", "small-protect", "small-cp"),
            ("`protect`, `cp -r` into gocryptfs", "small-protect", "small-gocryptfs-write"),
            ("`unprotect`, `cp -r`", "small-unprotect", "small-cp"),
            ("`unprotect`, `cp -r` out of gocryptfs", "small-unprotect", "small-gocryptfs-read"),
            ("`verify`, `cp -r` out of gocryptfs", "small-verify", "small-gocryptfs-read"),
        ]:
            table.row(label, f"files.{ours}.{cores}", f"files.{other}.{cores}", faster=True)
    table.heading("The same through a mounted folder", "`keychain mount`", "gocryptfs")
    for label, name in [("`cp -r` into it", "write"), ("`cp -r` out of it", "read")]:
        table.row(label, f"files.small-mount-{name}.all", f"files.small-gocryptfs-{name}.all", faster=True)
    print("\n## Memory for files of two sizes\n\n| | 64 MiB | 1 GiB | target | |\n|---|---|---|---|---|")
    for name in ("cat", "protect"):
        smaller, larger = results[f"files.memory.{name}-smaller"][0], results[f"files.memory.{name}"][0]
        print(f"| `{name}` | {smaller / 1024:.1f} MiB | {larger / 1024:.1f} MiB | ≤ 32 MiB | {verdict(larger <= 32 * 1024)} |")


def databases(table):
    kinds = [
        ("insert", "insert in one transaction", 1.15), ("autocommit", "insert in a transaction each", None),
        ("rowid", "select by rowid", 1.15), ("index", "select by an index of two columns", 1.15),
        ("range", "row of a scan over 1,000", 1.15),
    ]
    for count in (100000, 1000000):
        for cache, label in ((0, "SQLite's default cache"), (65536, "a cache of 64 MiB")):
            if f"database.keychain.insert.{count}.{cache}" not in table.results:
                continue
            for other, name in (("plain", "plain SQLite"), ("sqlcipher", "SQLCipher")):
                table.heading(f"Encrypted database, {count:,} rows, {label}, by processor time", "ours", name)
                for kind, what, target in kinds:
                    # Faster than SQLCipher on every line.
                    table.row(what, f"database.keychain.{kind}.{count}.{cache}", f"database.{other}.{kind}.{count}.{cache}",
                        target if other == "plain" else 1, faster=other == "sqlcipher")
    for count in (100000, 1000000):
        if f"database.keychain.insert.{count}.8192" not in table.results:
            continue
        table.heading(
            f"Encrypted database as ProtectedDatabase opens it, {count:,} rows, by processor time",
            "ours, a cache of 8 MiB", "plain SQLite, its default cache of 2 MB")
        for kind, what, target in kinds:
            table.row(what, f"database.keychain.{kind}.{count}.8192", f"database.plain.{kind}.{count}.0", target)
    for count in (100000, 1000000):
        if f"database.cipher.insert.{count}.8000" not in table.results:
            continue
        table.heading(
            f"SQLCipher file of version 4, {count:,} rows, a cache of 8 MB, by processor time", "ours", "SQLCipher 4")
        for kind, what, _ in kinds:
            table.row(what, f"database.cipher.{kind}.{count}.8000", f"database.sqlcipher4.{kind}.{count}.8000", 1,
                faster=True)
    table.heading("Key of a SQLCipher file from a passphrase, by processor time", "ours", "OpenSSL")
    for version in (4, 3):
        table.row(f"version {version}", f"database.derivation.keychain.{version}",
            f"database.derivation.openssl.{version}", 1.1)
    table.heading("Encrypting a plain database in its place", "`ProtectedDatabaseFile.encrypt`", "`sqlcipher_export`")
    table.row("the whole database", "database.encrypt.keychain", "database.encrypt.sqlcipher", 2, faster=True)
    print("""
The three run the same rounds through the same C interface, with write-ahead logs, `synchronous=NORMAL` and pages of 4096 bytes
in memory; SQLCipher, Debian's, has a raw key, which needs no derivation. Each makes its database anew. SQLite is another version
in SQLCipher's library, 3.15. All run with a second thread, which
sleeps: the C library's locks and memory cost less in programs of one, and no program in Swift is one.

A page that is not in SQLite's cache costs one system call on both sides, and ours opens it with AES-256-GCM besides: that alone is
half of the difference in selects of one row. Mapped memory would save the call, but a file that is cut would end the program.

SQLCipher 4 is the one in PyPI's `sqlcipher3`. Its module exports SQLite's functions, and both sides use them: our VFS is registered
in that library (`compare/sqlcipher-library.sh`), so version and build of SQLite are the same. Memory is written to once before each
encryption, so that neither side measures memory that a virtual machine gets for the first time.""")
    for count in (100000, 1000000):
        if f"database.plain4.insert.{count}.8000" in table.results:
            theirs, ours = (
                table.results[f"database.{name}"][0]
                for name in (f"plain4.insert.{count}.8000", f"plain.insert.{count}.0"))
            print(
                f"\nThe versions of SQLite alone, without encryption: an insert of {count:,} in one transaction takes "
                f"{time(theirs)} in that of SQLCipher 4, and {time(ours)} in the system's.")


def fields(table):
    table.heading("Sealed fields, each by its processor time", "`FieldSealing`", "swift-crypto's ChaChaPoly alone")
    for count in (32, 1024):
        for kind, label in (("seal", "seal"), ("open", "open")):
            # At 60 % of the rate.
            table.row(f"{label} {count:,} bytes", f"fields.{count}.{kind}", f"fields.{count}.{kind}.bare", 1 / 0.6)
            table.row(f"the same with AES-GCM", f"fields.aes.{count}.{kind}", f"fields.aes.{count}.{kind}.bare")
    rates = [
        f"{1e6 / table.results[f'fields.32.{kind}'][0]:,.0f} {kind}ed" for kind in ("seal", "open")
        if f"fields.32.{kind}" in table.results
    ]
    print(f"\nA second, of 32 bytes: {', '.join(rates)}.")


def passwords(table):
    names = [
        ("sha256", "SHA-256 over password, account and one salt"), ("bcrypt", "bcrypt, cost 10"),
        ("argon2id", "Argon2id, 64 MiB, 3 passes"),
    ]
    print("\n## One try at a password, on one core, by processor time\n")
    print("| hash | time | tries a second |\n|---|---|---|")
    for name, label in names:
        taken = table.results[f"password.{name}"][0]
        print(f"| {label} | {time(taken)} | {1e6 / taken:,.0f} |")
    print("\nGraphics cards try the first some thousand times as fast; of the last each try takes its memory, too.")


def main():
    table = Table(read(sys.argv[1]))
    sizes = [int(size) for size in sys.argv[2:]]
    largest = max(sizes)
    print(
        f"""# Results

Command: `make bench` (`Benchmarks/run.sh`), {datetime.date.today()}, {processor()}, {os.cpu_count()} cores,
Linux {platform.release()}, load {os.getloadavg()[0]:.1f} at the end.

Both sides of a ratio are measured in the same run and take turns; a time is the median of all rounds, and
'best' compares the fastest round of each side. Finding and listing count processor time on warm caches;
changes, peers and whole processes count the time that passes. An item has a service, an account, a label
and a value of 32 bytes.

The *floor* is the least such an operation can cost: one prepared SQLite statement for the row, whose key is
known beforehand, on the same file with the same settings, and for reading the AEAD operations that open
it, with the keys at hand; the result is thrown away. A change's floor seals nothing and files the row under
no search terms; it is one transaction with `synchronous=FULL`.

![Bars: how many times as fast as each other program, by task](Charts/peers.svg)

![Time to find an item, by the number of items](Charts/items.svg)

![Time to select a row of an encrypted database, by the number of rows](Charts/databases.svg)""")
    table.heading("Finding one item with its value by service and account", "ours", "floor")
    for size in sizes:
        table.row(f"engine, {size:,} items", f"find.engine.{size}", f"find.floor.{size}", 1.5)
    for size in sizes:
        table.row(f"`SecItemCopyMatching`, {size:,} items", f"find.secitem.{size}", f"find.floor.{size}", 3)

    table.heading("The same among more items", f"{largest:,} items", "1,000 items")
    table.row("`SecItemCopyMatching`", f"find.secitem.{largest}", "find.secitem.1000", 1.5)
    table.row("engine alone", f"find.engine.{largest}", "find.engine.1000")
    table.row("floor", f"find.floor.{largest}", "find.floor.1000")
    print(
        "\nThe target is that of the function programs call. Each part grows by the same time, in which SQLite "
        "reads two\nmore pages, so that what has the smaller constant part has the larger ratio.")

    table.heading("One durable change", "ours", "floor: one SQLite statement")
    for kind in ["add", "update"]:
        for size in [1000, 100000]:
            table.row(f"{kind}, {size:,} items", f"{kind}.engine.{size}", f"{kind}.floor.{size}")

    table.heading("Listing everything, per item", "ours", "floor")
    for size in [1000, 100000]:
        table.row(f"attributes, {size:,} items", f"list.engine.{size}", f"list.floor.{size}")
        table.row(f"with values, {size:,} items", f"list-values.engine.{size}", f"list-values.floor.{size}")

    table.heading("Keys on P-256 in this process", "`SecKey`", "swift-crypto alone")
    table.row("signature of a message", "keys.sign.seckey", "keys.sign.swift-crypto", 1.3)
    table.row("verification", "keys.verify.seckey", "keys.verify.swift-crypto", 1.3)
    # The peer's key arrives as bytes, and the secret is kept in locked memory.
    table.row("shared secret", "keys.exchange.seckey", "keys.exchange.swift-crypto")
    table.heading("The same against `openssl speed`", "`SecKey`", "OpenSSL")
    for name, label in [("sign", "signature"), ("verify", "verification")]:
        table.row(label, f"keys.{name}.seckey", f"keys.{name}.openssl")

    table.heading("P-256 in a TPM (swtpm)", "`SecKey`", "tpm2-tss alone")
    table.row("signature of a digest", "tpm.sign.seckey", "tpm.sign.tss", 1.1)
    table.row("shared secret", "tpm.exchange.seckey", "tpm.exchange.tss", 1.1)
    table.row("signature, key kept loaded there", "tpm.sign.seckey", "tpm.sign.tss-kept")
    table.row("shared secret, key kept loaded there", "tpm.exchange.seckey", "tpm.exchange.tss-kept")
    table.row("signature, plain password there", "tpm.sign.seckey", "tpm.sign.tss-password")
    table.row("shared secret, plain password there", "tpm.exchange.seckey", "tpm.exchange.tss-password")
    print("""
For each operation both sides load the key, use it and flush it, in a session that is agreed on with the storage key
and keeps the authorization and the shared secret from whoever listens on the bus. Ours also checks the key's record and
derives the authorization; its times contain taking turns with other programs at the TPM. tpm2-tss's sessions make a
context of its cryptographic library for every hash, which is most of its time; ours has a session of its own. Below is
tpm2-tss with a key that stays loaded, and with the authorization and the secret in the clear.""")

    table.heading("Logging in with ssh over loopback, a P-256 key", "`keychain ssh-agent`", "OpenSSH's `ssh-agent`")
    table.row("key in the keychain", "process.ssh-keychain", "process.ssh-openssh")
    table.row("key in the TPM (swtpm)", "process.ssh-tpm", "process.ssh-openssh")

    print("\n## Memory to list 100,000 items\n\n| | peak | for each item | target | |\n|---|---|---|---|---|")
    for label, name in [("attributes", "memory.peak.100000"), ("with values", "memory-values.peak.100000")]:
        peak, growth = table.results[name]
        verdict = "met" if peak <= 60 * 1024 else "**missed**"
        print(f"| {label} | {peak / 1024:.0f} MiB | {growth * 1024 / 100000:.0f} bytes | ≤ 60 MiB | {verdict} |")

    table.heading("Apple's functions against libsecret and gnome-keyring", "ours", "gnome-keyring")
    for size, target in [(100, 20), (10000, 100)]:
        table.row(f"look up, {size:,} items", f"secitem.find.{size}", f"gnome.lookup.{size}", target, faster=True)
    for size, target in [(100, None), (10000, 100)]:
        table.row(f"store, {size:,} items", f"secitem.store.{size}", f"gnome.store.{size}", target, faster=True)
    table.heading("The Secret Service through libsecret, keychaind against gnome-keyring", "ours", "gnome-keyring")
    for size, lookup, store in (100, 10, None), (10_000, 100, 50):
        table.row(f"look up, {size:,} items", f"served.lookup.{size}", f"gnome.lookup.{size}", lookup, faster=True)
        table.row(f"store, {size:,} items", f"served.store.{size}", f"gnome.store.{size}", store, faster=True)
    print("\nlibsecret itself takes about 250 µs of each lookup, two calls and their answers; the daemon's part is about 200 µs.")

    files(table)
    databases(table)
    fields(table)
    passwords(table)
    daemon(table.results)
    load(table.results)
    foreign(table.results)
    passcode(table, sizes)
    circle(table.results)
    etcd(table.results)

    keychain, _ = table.results["process.keychain"]
    table.heading("Whole processes", "`keychain get`", "the other")
    for label, name in [
        ("`secret-tool lookup`", "secret-tool"), ("`pass show`", "pass"), ("`keyring get`", "python-keyring"),
        ("`echo`", "echo"),
    ]:
        table.row(label, "process.keychain", f"process.{name}", faster=True)
    best = table.results["process.keychain"][1]
    print(
        f"\n`keychain get`: {time(keychain)}, at best {time(best)}, processor time "
        f"{time(table.results['processor.keychain'][0])}; target ≤ 2.5 ms: "
        + ("met" if keychain <= 2500 else "**missed**"))
    git, best = table.results["process.git"]
    print(
        f"\n`git-credential-keychain get`: {time(git)}, at best {time(best)}; target ≤ 3 ms: "
        + ("met" if git <= 3000 else "**missed**"))


if __name__ == "__main__":
    main()
