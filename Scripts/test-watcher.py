#!/usr/bin/env python3
"""Ends what a test process has left behind.

Tests/TestSupport starts it. It reads from standard input what there is, a line each: 'process PID' and 'folder PATH'.
At the end of its input the test process is gone, however that came: then it kills the processes and all below them,
unmounts what is mounted in the folders, and removes them.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import time


def status(process):
    """The parent of a process, and when it started, which tells it from a later one with the same number."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    # A zombie is gone already.
    return None if fields[0] in (b"Z", b"X") else (int(fields[1]), int(fields[19]))


def below(processes):
    """The processes and all that they have started."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (found := status(int(name))):
            children.setdefault(found[0], []).append(int(name))
    found, rest = [], list(processes)
    while rest:
        process = rest.pop()
        found.append(process)
        rest += children.get(process, [])
    return found


def kill(started):
    """Kills until nothing is left; what a process starts before it dies is found the next time."""
    known = dict(started)
    end = time.monotonic() + 10
    while time.monotonic() < end:
        living = {p for p, start in known.items() if (found := status(p)) and found[1] == start}
        for process in below(living):
            if process not in known and (found := status(process)):
                known[process] = found[1]
                living.add(process)
        if not living:
            return
        for process in living:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.01)


def unmount(folder):
    """Unmounts what is mounted in a folder, the innermost first."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        # A space in a path is \\040 there.
        points = [re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), line.split()[4]) for line in file]
    for point in sorted((point for point in points if point.startswith(folder + "/")), reverse=True):
        for command in (["fusermount3", "-u", "-z", "-q", point], ["umount", "-l", point]):
            try:
                if subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                    break
            except OSError:
                pass


def remove(folder):
    """Removes a folder, also one with parts that nobody may write to."""
    unmount(folder)
    for path, _, _ in os.walk(folder):
        try:
            os.chmod(path, 0o700)
        except OSError:
            pass
    shutil.rmtree(folder, ignore_errors=True)


def main():
    processes, folders = {}, []
    for line in sys.stdin:
        kind, _, rest = line.rstrip("\n").partition(" ")
        if kind == "process":
            if found := status(int(rest)):
                processes[int(rest)] = found[1]
        elif kind == "folder":
            folders.append(rest)
        # A test process starts thousands.
        if len(processes) > 500:
            processes = {p: start for p, start in processes.items() if (found := status(p)) and found[1] == start}
        if len(folders) > 500:
            folders = [folder for folder in folders if os.path.lexists(folder)]
    kill(processes)
    for folder in folders:
        if os.path.lexists(folder):
            remove(folder)


main()
