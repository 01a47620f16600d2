#!/usr/bin/env python3
"""Makes the table of daemon.sh from the lines of its run: a name and a value in microseconds, or a rate, several times."""
import statistics
import sys

values = {}
for line in open(sys.argv[1]):
    name, value = line.split("\t")
    values.setdefault(name, []).append(float(value))
median = {name: statistics.median(all) for name, all in values.items()}

print("| clients | | p50 | p99 | a second |\n|---|---|---|---|---|")
for clients in (1, 8):
    for kind, label in (("lookup", "lookup of one of 100 items"), ("floor", "256 bytes there and back")):
        p50, p99, rate = (median[f"daemon.{kind}.{clients}.{what}"] for what in ("p50", "p99", "rate"))
        print(f"| {clients} | {label} | {p50:.0f} µs | {p99:.0f} µs | {rate:,.0f} |")
over = median["daemon.lookup.1.p50"] - median["daemon.floor.1.p50"]
print(f"\nOver the floor: {over:.0f} µs (target ≤ 60 µs). ", end="")
print(f"gnome-keyring: {median['gnome']:.0f} µs, {median['gnome'] / median['daemon.lookup.1.p50']:.1f} times (target ≥ 10).")
