#!/usr/bin/python3
"""Lookups through the Secret Service by several programs at once.

secret-clients.py PROGRAM ITEMS CLIENTS...

PROGRAM is secret-service of this folder. A line is `gnome.clients.N` and how many lookups N programs get in a second.
"""
import subprocess
import sys

LOOKUPS = 1_200


def main():
    program, items = sys.argv[1:3]
    for count in map(int, sys.argv[3:]):
        command = [program, "lookup", items, "3", str(max(10, LOOKUPS // count // 3))]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
        times = [float(process.communicate()[0]) for process in running]
        if any(process.returncode for process in running):
            sys.exit("a program failed")
        print(f"gnome.clients.{count}\t{sum(1e6 / time for time in times):.1f}")


main()
