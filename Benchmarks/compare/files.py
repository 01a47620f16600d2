#!/usr/bin/python3
"""Times what programs do with files: `keychain file`, age, gocryptfs, openssl and cp, taking turns.

files.py KEYCHAIN FOLDER MEBIBYTES SMALL ROUNDS

FOLDER is to be on a file system in memory. A line is a name, the median and the best of the time that passes in
microseconds; of `files.memory.*`, the most memory that a process had, in KiB. Names end in `one` for one core and in
`all` for as many as there are.
"""
import os
import random
import shutil
import statistics
import subprocess
import sys
import time


class Bench:
    def __init__(self, keychain, folder, rounds):
        self.keychain, self.folder, self.rounds = keychain, folder, rounds
        self.times, self.peaks = {}, {}
        # How much memory to touch before each program.
        self.mebibytes = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, name, command, cores, output="/dev/null"):
        """Runs a command, whose first word is a program, and notes how long it took."""
        if cores == "one":
            command = ["taskset", "-c", "0"] + command
        self.touch_memory()
        actions = [(os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
        start = time.perf_counter()
        process = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
        _, status, usage = os.wait4(process, 0)
        elapsed = time.perf_counter() - start
        if status != 0:
            sys.exit(f"{' '.join(command)} failed with {status}")
        self.times.setdefault(f"files.{name}.{cores}", []).append(elapsed * 1e6)
        self.peaks[f"files.memory.{name}"] = max(usage.ru_maxrss, self.peaks.get(f"files.memory.{name}", 0))

    def touch_memory(self):
        """Has the machine below give this one the memory that a program is about to fill, if this is a virtual machine.

        It takes back what is free for some seconds, and giving it again takes longer than any of the programs.
        """
        path, piece = self.path("touched"), bytes(1 << 20)
        with open(path, "wb", buffering=0) as file:
            for _ in range(self.mebibytes):
                file.write(piece)
        os.remove(path)

    def file(self, *words):
        return [self.keychain, "file", *words]

    def report(self):
        for name, values in self.times.items():
            print(f"{name}\t{statistics.median(values):.1f}\t{min(values):.1f}")
        for name, peak in self.peaks.items():
            print(f"{name}\t{peak}\t{peak}")


class Mount:
    """A folder that gocryptfs shows; made anew, so that nothing of it is in the page cache."""

    name = "gocryptfs"

    def __init__(self, bench):
        self.store, self.view = bench.path("store"), bench.path("view")
        self.password = bench.path("password")
        for folder in (self.store, self.view):
            os.makedirs(folder, exist_ok=True)
        if not os.listdir(self.store):
            subprocess.run(
                ["gocryptfs", "-q", "-init", "-scryptn", "10", "-passfile", self.password, self.store], check=True)

    def __enter__(self):
        subprocess.run(["gocryptfs", "-q", "-passfile", self.password, self.store, self.view], check=True)
        return self.view

    def __exit__(self, *_):
        subprocess.run(["fusermount3" if shutil.which("fusermount3") else "fusermount", "-u", self.view], check=True)


class OurMount:
    """The same with `keychain mount`."""

    name = "mount"

    def __init__(self, bench):
        self.keychain, self.store, self.view = bench.keychain, bench.path("our-store"), bench.path("our-view")
        for folder in (self.store, self.view):
            os.makedirs(folder, exist_ok=True)

    def __enter__(self):
        # The former process may still be ending.
        deadline = time.monotonic() + 10
        command = [self.keychain, "mount", self.store, self.view, "--class", "complete"]
        while subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            if time.monotonic() > deadline:
                sys.exit(f"{' '.join(command)} failed")
            time.sleep(0.01)
        return self.view

    def __exit__(self, *_):
        subprocess.run([self.keychain, "unmount", self.view], check=True, stdout=subprocess.DEVNULL)


def prepare(bench, mebibytes, small):
    with open(bench.path("password"), "w") as file:
        file.write("correct horse battery staple\n")
    piece = random.Random(1).randbytes(1 << 20)
    for name, count in (("plain", mebibytes), ("smaller", 64)):
        with open(bench.path(name), "wb") as file:
            for _ in range(count):
                file.write(piece)
    generator = random.Random(2)
    for number in range(small):
        folder = bench.path(f"small/{number // 100}")
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/{number}", "wb") as file:
            file.write(generator.randbytes(generator.randrange(1, 16384)))
    os.environ["KEYCHAIN_HOME"] = bench.path("vault")
    subprocess.run(["age-keygen", "-o", bench.path("key")], check=True, capture_output=True)
    key = subprocess.run(["age-keygen", "-y", bench.path("key")], check=True, capture_output=True, text=True)
    return key.stdout.strip()


def warm(path):
    """Reads files once, so that the kernel has seen their pages being read when whoever is measured reads them."""
    for folder, _, names in os.walk(path):
        for name in names:
            warm(os.path.join(folder, name))
    if os.path.isfile(path):
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass


def large(bench, recipient, cores):
    plain, work, sealed = bench.path("plain"), bench.path("work"), bench.path("sealed")
    password = bench.path("password")
    bench.run("cp", ["cp", plain, work], cores)
    bench.run("protect", bench.file("protect", work, "--class", "complete"), cores)
    warm(work)
    bench.run("cat", bench.file("cat", work), cores)
    bench.run("verify", bench.file("verify", work), cores)
    bench.run("set-class", bench.file("set-class", work, "--class", "none"), cores)
    bench.run("unprotect", bench.file("unprotect", work), cores)
    os.remove(work)
    bench.run("age-encrypt", ["age", "-r", recipient, "-o", sealed, plain], cores)
    warm(sealed)
    bench.run("age-cat", ["age", "-d", "-i", bench.path("key"), sealed], cores)
    bench.run("age-decrypt", ["age", "-d", "-i", bench.path("key"), "-o", work, sealed], cores)
    os.remove(sealed)
    cipher = ["openssl", "enc", "-aes-256-ctr", "-pbkdf2", "-pass", f"file:{password}"]
    bench.run("openssl-encrypt", cipher + ["-in", plain, "-out", sealed], cores)
    warm(sealed)
    bench.run("openssl-cat", cipher + ["-d", "-in", sealed], cores)
    bench.run("openssl-decrypt", cipher + ["-d", "-in", sealed, "-out", work], cores)
    os.remove(sealed)
    os.remove(work)
    # The file system runs beside the program, on whatever core is free.
    if cores == "all":
        for mount in (Mount(bench), OurMount(bench)):
            with mount as view:
                bench.run(f"{mount.name}-write", ["cp", plain, f"{view}/x"], cores)
            warm(mount.store)
            with mount as view:
                bench.run(f"{mount.name}-cat", ["cat", f"{view}/x"], cores)
            with mount as view:
                bench.run(f"{mount.name}-copy", ["cp", f"{view}/x", work], cores)
                os.remove(f"{view}/x")
            os.remove(work)


def many(bench, cores):
    small, work = bench.path("small"), bench.path("copy")
    bench.run("small-cp", ["cp", "-r", small, work], cores)
    bench.run("small-protect", bench.file("protect", work, "--class", "complete"), cores)
    bench.run("small-verify", bench.file("verify", work), cores)
    bench.run("small-unprotect", bench.file("unprotect", work), cores)
    shutil.rmtree(work)
    if cores == "all":
        for mount in (Mount(bench), OurMount(bench)):
            with mount as view:
                bench.run(f"small-{mount.name}-write", ["cp", "-r", small, f"{view}/x"], cores)
            with mount as view:
                bench.run(f"small-{mount.name}-read", ["cp", "-r", f"{view}/x", work], cores)
                shutil.rmtree(f"{view}/x")
            shutil.rmtree(work)


def main():
    keychain, folder = sys.argv[1:3]
    mebibytes, small, rounds = map(int, sys.argv[3:6])
    bench = Bench(keychain, folder, rounds)
    recipient = prepare(bench, mebibytes, small)
    for _ in range(rounds):
        for cores in ("one", "all"):
            bench.mebibytes = mebibytes * 5 // 4
            large(bench, recipient, cores)
            # Files of up to 16 KiB, and as much for their blocks of keys.
            bench.mebibytes = small // 50
            many(bench, cores)
        bench.mebibytes = 64
        work = bench.path("work")
        shutil.copy(bench.path("smaller"), work)
        bench.run("protect-smaller", bench.file("protect", work, "--class", "complete"), "all")
        bench.run("cat-smaller", bench.file("cat", work), "all")
        os.remove(work)
    bench.report()


main()
