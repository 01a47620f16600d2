#!/usr/bin/env python3
"""Runs a test program, ends whatever it leaves behind, and says what failed and what was slow.

    Scripts/check/run-tests.py [OPTION...] TEST-PROGRAM
    Scripts/check/run-tests.py --watch

    --group NAME=REGEX   a process of its own for the tests whose names match, such as '^VaultTests[.]'; may be repeated.
                         All other tests run in one process more, named 'rest'. All processes run side by side
    --filter REGEX       only these tests; may be repeated
    --test-bound SECONDS the longest that one test may take (900)
    --bound SECONDS      the longest that all of them may take (3600)
    --grace SECONDS      how long child processes may live after the test process ends (20)
    --times FILE         writes how long each test took, its process and its name

The test program is what `swift build --build-tests` makes, such as .build/debug/NAMEPackageTests.xctest. In each process one
test runs after the other: then the time that it took is its own, what was printed meanwhile is its own, and a test that
blocks a thread keeps no other one waiting.

The run fails if a test fails, if a process crashes, is killed, hangs or ends without Swift Testing's closing line, and if
anything is left when it has ended: a process, a mount or a temporary folder. Leftovers are listed and removed. If one
process crashes or hangs, the others are ended at once.

With --watch it cleans up after a test process that runs without this script. Tests/Support/TestSupport starts it and writes a
line to its standard input for each resource: 'process PID' or 'folder PATH'. When the input ends, the test process has
ended, for whatever reason; then the processes and all below them are killed and the folders removed.
"""
import argparse
import collections
import ctypes
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
libc = ctypes.CDLL(None, use_errno=True)


# What is left of a process, by /proc.

def processes():
    """The parent, the state, the command and the start of every process. The start tells a process from a later one with
    the same number."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                head, _, tail = file.read().rpartition(b")")
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().rstrip(b"\0").replace(b"\0", b" ")
        except OSError:
            continue
        fields = tail.split()
        command = (words or head.partition(b"(")[2]).decode(errors="replace")
        found[int(name)] = (int(fields[1]), fields[0].decode(), command, int(fields[19]))
    return found


def descendants(tops, all_processes):
    """The processes and all that descends from them, without zombies."""
    found, grown = set(tops), True
    while grown:
        more = {p for p, (parent, *_) in all_processes.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return {p for p in found if p in all_processes and all_processes[p][1] not in "ZX"}


def below(top):
    """All that descends from a process, by number, with its command."""
    all_processes = processes()
    return {p: all_processes[p][2] for p in descendants({top}, all_processes) - {top}}


def kill(find):
    """Kills what `find` returns, again and again, as a process may start others before it dies."""
    end = time.monotonic() + 20
    while (living := find()) and time.monotonic() < end:
        for process in living:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
        reap()
        time.sleep(0.01)
    reap()


def end_all(top):
    kill(lambda: below(top))


def reap():
    """Takes note of children that have ended."""
    ended = {}
    try:
        while True:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == 0:
                return ended
            ended[process] = os.waitstatus_to_exitcode(status)
    except ChildProcessError:
        return ended


def mounts(folder):
    """Where something is mounted in a folder, the innermost first."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        # A space in a path is \040 there.
        points = [re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), line.split()[4]) for line in file]
    return sorted((point for point in points if point.startswith(folder + "/")), reverse=True)


def unmount(point):
    for command in (["fusermount3", "-u", "-z", "-q", point], ["umount", "-l", point]):
        try:
            if subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20).returncode == 0:
                return
        except (OSError, subprocess.TimeoutExpired):
            pass


def contents(folder):
    """The names of what is in a folder; none if it is none."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def remove(folder):
    """Unmounts what is mounted in a folder and removes it, also one with parts that nobody may read."""
    for point in mounts(folder):
        unmount(point)
    open_up(folder)
    for path, folders, _ in os.walk(folder):
        for name in folders:
            open_up(os.path.join(path, name))
    shutil.rmtree(folder, ignore_errors=True)


def open_up(folder):
    try:
        if not os.path.islink(folder):
            os.chmod(folder, 0o700)
    except OSError:
        pass


# The process above each test process. Whatever loses its parent below it becomes its child, and none escapes.

def supervise(parent, command, folder, grace, output, report):
    """Runs a test process, ends what it leaves, and reports."""
    os.setsid()
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # If the one above is killed, so is all below.
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        return
    signals = {signal.SIGCHLD, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)

    tag = str(os.getpid())
    environment = dict(os.environ, TMPDIR=folder, KEYCHAIN_TEST_SUPERVISED=tag)
    # A crash shows its own stack and no more: registers and images would push it out of sight of a log's end.
    environment.setdefault(
        "SWIFT_BACKTRACE", "enable=yes,color=no,threads=crashed,registers=none,images=none,limit=40")

    def prepare():
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)

    try:
        test = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=prepare)
    except OSError as error:
        os.write(report, json.dumps({"error": f"{command[0]}: {error.strerror}"}).encode())
        return
    os.close(output)
    status, asked = None, False
    while status is None and not asked:
        told = signal.sigtimedwait(signals, 1)
        status = reap().get(test.pid)
        asked = told is not None and told.si_signo == signal.SIGTERM
    ended_itself = status is not None and status >= 0
    if ended_itself:
        end = time.monotonic() + grace
        while not asked and below(os.getpid()) and time.monotonic() < end:
            told = signal.sigtimedwait(signals, 0.05)
            asked = told is not None and told.si_signo == signal.SIGTERM
            reap()
    left = below(os.getpid())
    left.pop(test.pid, None)
    end_all(os.getpid())
    points = mounts(folder)
    for point in points:
        unmount(point)
    kept = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    # TestSupport's folders in memory have the number of this process in their names.
    kept += [f"/dev/shm/{name}" for name in os.listdir("/dev/shm") if name.startswith(f"keychain-test-{tag}-")]
    # With what is in them, which tells whose they are.
    files = [f"{path} ({', '.join(contents(path)[:8])})" for path in kept]
    for path in kept:
        remove(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
    os.rmdir(folder)
    try:
        # If the one above was killed, nobody else removes it.
        os.rmdir(os.path.dirname(folder))
    except OSError:
        pass
    os.write(report, json.dumps({
        "status": status, "left": [f"process {p} ({command[:200]})" for p, command in sorted(left.items())],
        "mounts": points, "files": files,
    }).encode())


# What the tests say.

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
STARTED = re.compile(r"◇ (Test|Suite) (?!case passing|run started)(.+) started\.$")
ENDED = re.compile(
    r"[✔✘] (Test|Suite) (?!case passing|run with )(.+?)(?: with \d+ test cases?)? (passed|failed) after ([0-9.]+) seconds")
# What Swift Testing ends with if a filter leaves no tests (EX_UNAVAILABLE of sysexits.h).
NO_TESTS = 69
CLOSING = re.compile(r"[✔✘] Test run with (\d+) tests?\b.* (passed|failed) after ")


class Group:
    """One test process, what it said so far, and what went wrong."""

    def __init__(self, name, arguments, prefix):
        self.name, self.arguments, self.prefix = name, arguments, prefix
        self.suites, self.test, self.since = [], None, time.monotonic()
        # The last ones that the present test has printed.
        self.lines = collections.deque(maxlen=5000)
        self.times, self.failed, self.problems = [], [], []
        self.closing, self.tests, self.rest, self.report, self.is_over = None, 0, b"", b"", False
        self.killed_at = None

    def start(self, program, root, grace):
        folder = os.path.join(root, self.name)
        os.mkdir(folder, 0o711)
        os.chmod(folder, 0o711)
        reading, output = os.pipe()
        told, report = os.pipe()
        parent = os.getpid()
        sys.stdout.flush()
        self.process = os.fork()
        if self.process == 0:
            try:
                os.close(reading)
                os.close(told)
                for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
                    signal.signal(number, signal.SIG_DFL)
                supervise(parent, [program, "--testing-library", "swift-testing", "--no-parallel"] + self.arguments,
                          folder, grace, output, report)
            except BaseException:
                os.write(report, json.dumps({"error": traceback.format_exc()}).encode())
            finally:
                os._exit(0)
        os.close(output)
        os.close(report)
        os.set_blocking(reading, False)
        self.output, self.told = reading, told

    def say(self, text):
        print(self.prefix + text, flush=True)

    def label(self):
        return "/".join(self.suites[-1:] + [self.test]) if self.test else "no test"

    def hear(self):
        """Takes in a piece of output. Returns whether there was one; None at the end of all."""
        try:
            data = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return False
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.take(COLOUR.sub("", line.decode(errors="replace")))
        return True if data else None

    def take(self, line):
        if found := STARTED.search(line):
            kind, name = found.groups()
            if kind == "Suite":
                self.suites.append(name)
            else:
                self.test, self.since = name, time.monotonic()
                self.lines.clear()
        elif found := CLOSING.search(line):
            self.closing, self.tests, self.test = line, int(found[1]), None
        elif found := ENDED.search(line):
            kind, name, outcome, seconds = found.groups()
            if kind == "Suite":
                self.suites = self.suites[:self.suites.index(name)] if name in self.suites else self.suites
                return
            self.times.append((float(seconds), self.label()))
            if outcome == "failed":
                self.failed.append(self.label())
                # In one piece, with all that was printed meanwhile.
                print("\n".join([f"{self.prefix}✘ {self.label()}:", *self.lines, line, ""]), flush=True)
            else:
                self.say(line)
            self.test, self.since = None, time.monotonic()
            self.lines.clear()
        elif self.test:
            self.lines.append(line)
        elif line and not line.startswith("◇ Test run started") and not line.startswith("↳ "):
            self.say(line)

    def end(self):
        """What the process above has reported. Returns whether all ended as it should."""
        while self.hear():
            pass
        if self.rest:
            self.take(COLOUR.sub("", self.rest.decode(errors="replace")))
        self.is_over = True
        try:
            report = json.loads(self.report)
        except ValueError:
            report = {"error": "the process above it was killed"}
        if "error" in report:
            self.problems.append(report["error"])
            return False
        status, left = report["status"], report["left"]
        is_whole = status is not None and status >= 0 and self.closing is not None
        if not is_whole:
            # The end of what was said, with the stack of a crash.
            print("\n".join([f"{self.prefix}✘ {self.label()} did not end:"] + list(self.lines)[-200:]), flush=True)
        if status is None:
            if not self.problems:
                self.problems.append(f"was ended while {self.label()} ran")
        elif status < 0:
            try:
                name = signal.Signals(-status).name
            except ValueError:
                name = f"signal {-status}"
            self.problems.append(f"was ended by {name} while {self.label()} ran")
        elif self.closing is None:
            self.problems.append(f"ended with {status} and without a closing line while {self.label()} ran")
        elif self.tests == 0 and status == NO_TESTS:
            # Whether that is as it should be shows when all have ended.
            pass
        elif self.failed or status != 0 or CLOSING.search(self.closing)[2] != "passed":
            self.problems.append(f"failed with {len(self.failed)} failed tests and status {status}")
        for what in left + [f"mount {point}" for point in report["mounts"]] + report["files"]:
            self.problems.append(f"left behind, and ended now: {what}")
        return is_whole


class Interrupted(BaseException):
    pass


def interrupt(number, _):
    raise Interrupted(signal.Signals(number).name)


def watch(groups, options):
    """Hears all processes until they have ended."""
    waiting = selectors.DefaultSelector()
    for group in groups:
        waiting.register(group.output, selectors.EVENT_READ, (group, "output"))
        waiting.register(group.told, selectors.EVENT_READ, (group, "report"))
    begin = time.monotonic()

    def end(group, number=signal.SIGTERM):
        # It has as long for cleaning up as tests have, and then goes with all below it.
        group.killed_at = group.killed_at or time.monotonic() + options.grace + 60
        try:
            os.kill(group.process, number)
        except OSError:
            pass

    def stuck(group, what):
        group.problems.append(what)
        group.say(what)
        for process, command in sorted(below(group.process).items()):
            group.say(f"  still there: process {process} ({command[:200]})")
        end(group)

    while living := [group for group in groups if not group.is_over]:
        for key, _ in waiting.select(1):
            group, kind = key.data
            if kind == "output":
                if group.hear() is None:
                    waiting.unregister(group.output)
                continue
            data = os.read(group.told, 1 << 16)
            group.report += data
            if data:
                continue
            waiting.unregister(group.told)
            if not group.end():
                for other in living:
                    if other is not group:
                        end(other)
        now = time.monotonic()
        for group in living:
            if group.killed_at and now > group.killed_at:
                end(group, signal.SIGKILL)
            if group.is_over or group.problems:
                continue
            if now - group.since > options.test_bound:
                stuck(group, f"{group.label()} has not ended for {options.test_bound} s")
            elif now - begin > options.bound:
                stuck(group, f"{group.label()} ran when {options.bound} s were over")


# Without a process above.

def clean_up():
    """Reads what there is, and removes it at the end of the input."""
    started, folders = {}, []
    for line in sys.stdin:
        kind, _, rest = line.rstrip("\n").partition(" ")
        if kind == "process":
            if found := processes().get(int(rest)):
                started[int(rest)] = found[3]
        elif kind == "folder":
            folders.append(rest)
        # A test process starts thousands.
        if len(started) > 500:
            living = processes()
            started = {p: start for p, start in started.items() if p in living and living[p][3] == start}
        if len(folders) > 500:
            folders = [folder for folder in folders if os.path.lexists(folder)]

    def left():
        living = processes()
        # What loses its parent stays known.
        found = descendants({p for p, start in started.items() if p in living and living[p][3] == start}, living)
        started.update({p: living[p][3] for p in found})
        return found

    kill(left)
    for folder in folders:
        if os.path.lexists(folder):
            remove(folder)


def main():
    if sys.argv[1:] == ["--watch"]:
        return clean_up()
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--group", action="append", default=[])
    parser.add_argument("--filter", action="append", default=[])
    parser.add_argument("--test-bound", type=float, default=900)
    parser.add_argument("--bound", type=float, default=3600)
    parser.add_argument("--grace", type=float, default=20)
    parser.add_argument("--times")
    parser.add_argument("program")
    options = parser.parse_args()
    parts = [part.partition("=")[::2] for part in options.group]
    if any(len(name) > 10 for name, _ in parts):
        parser.error("names of groups have 10 characters at most: paths of sockets contain them")
    # Several filters of Swift Testing take what matches any of them.
    chosen = f"(?=.*(?:{'|'.join(options.filter)}))" if options.filter else ""
    groups = [Group(name, ["--filter", f"^{chosen}(?=.*(?:{regex}))"], f"{name}: ") for name, regex in parts]
    rest = [word for _, regex in parts for word in ("--skip", regex)]
    rest += ["--filter", f"^{chosen}"] if chosen else []
    groups.append(Group("rest", rest, "rest: " if parts else ""))

    # Others may pass through it: some tests run programs as another user.
    root = tempfile.mkdtemp(prefix="keychain-run-", dir="/tmp")
    os.chmod(root, 0o711)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    problems = []
    begin = time.monotonic()
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, interrupt)
    try:
        for group in groups:
            group.start(os.path.abspath(options.program), root, options.grace)
        watch(groups, options)
    except Interrupted as interrupted:
        problems.append(f"interrupted by {interrupted}")
        for group in groups:
            if getattr(group, "process", None):
                os.kill(group.process, signal.SIGTERM)
    finally:
        end = time.monotonic() + options.grace
        while below(os.getpid()) and time.monotonic() < end:
            reap()
            time.sleep(0.02)
        for process, command in sorted(below(os.getpid()).items()):
            problems.append(f"left behind, and ended now: process {process} ({command[:200]})")
        end_all(os.getpid())
        remove(root)

    times = sorted((time for group in groups for time in group.times), reverse=True)
    if options.times:
        with open(options.times, "w", encoding="utf-8") as file:
            for group in groups:
                file.writelines(f"{seconds}\t{group.name}\t{label}\n" for seconds, label in group.times)
    print("\n==> the slowest tests")
    for seconds, label in times[:10]:
        print(f"{seconds:8.1f} s  {label}")
    for group in groups:
        problems += [f"{group.prefix}{problem}" for problem in group.problems]
        problems += [f"{group.prefix}failed: {label}" for label in group.failed]
    tests = sum(group.tests for group in groups)
    # A filter may leave nothing for one of them.
    if not problems and any(group.tests == 0 for group in (groups if not chosen or tests == 0 else [])):
        problems.append("a process ran no test")
    if problems:
        print("\n==> what failed")
        print("\n".join(problems))
    print(f"\n==> {tests} tests in {time.monotonic() - begin:.0f} s")
    for group in groups:
        if group.closing:
            print(group.closing)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
