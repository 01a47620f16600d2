#!/usr/bin/python3
"""Times whole processes, taking turns, and prints the median and the best of each in microseconds: of the
time that passes as `process.NAME`, and of the process's own processor time as `processor.NAME`.

processes.py ROUNDS NAME COMMAND [-- NAME COMMAND]...

A command is words up to `--`; a word that begins with `<` names the file that it reads. Each must print something and
succeed. Standard output is a pipe, as it is for a script that uses the secret.
"""
import os
import statistics
import sys
import time


def commands(words):
    current = []
    for word in words + ["--"]:
        if word == "--":
            yield current[0], current[1:]
            current = []
        else:
            current.append(word)


def run(command):
    read_end, write_end = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, write_end, 1), (os.POSIX_SPAWN_CLOSE, read_end)]
    if command[-1].startswith("<"):
        actions.append((os.POSIX_SPAWN_OPEN, 0, command[-1][1:], os.O_RDONLY, 0))
        command = command[:-1]
    start = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    os.close(write_end)
    size = 0
    while chunk := os.read(read_end, 4096):
        size += len(chunk)
    _, status, usage = os.wait4(process, 0)
    elapsed = time.perf_counter() - start
    os.close(read_end)
    return elapsed, usage.ru_utime + usage.ru_stime, status, size


def main():
    rounds = int(sys.argv[1])
    contenders = list(commands(sys.argv[2:]))
    times = {f"{kind}.{name}": [] for name, _ in contenders for kind in ("process", "processor")}
    for turn in range(-2, rounds):
        for name, command in contenders:
            elapsed, processor, status, size = run(command)
            if status != 0 or size == 0:
                sys.exit(f"{name} failed with status {status} and {size} bytes")
            if turn >= 0:
                times[f"process.{name}"].append(elapsed * 1e6)
                times[f"processor.{name}"].append(processor * 1e6)
    for name, values in times.items():
        print(f"{name}\t{statistics.median(values):.1f}\t{min(values):.1f}")


main()
