#!/usr/bin/env python3
"""Draws how this package stands beside each other program, from the tables of the page of results, as SVG.

peers.py RESULTS.md FOLDER
"""
import re
import sys

from chart import adapt, pyplot

# The columns that name a program of others, and not a part of the same work that cannot be faster.
PEERS = {
    "gnome-keyring", "OpenSSL", "SQLCipher", "SQLCipher 4", "gocryptfs", "the other", "OpenSSH's `ssh-agent`",
    "`sqlcipher_export`",
}


def comparisons(page):
    """For each table of a peer: its heading, and the rows with their ratio. Above 1, ours is better."""
    heading, peer, found = "", None, []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("## "):
            heading, peer = line[3:], None
        elif line.startswith("| | "):
            peer = cells[2] if len(cells) > 3 and cells[2] in PEERS and cells[3] == "ratio" else None
            if peer:
                found.append((heading, peer, []))
        elif peer and line.startswith("| ") and re.fullmatch(r"[\d.e+]+×", cells[3]):
            ratio = float(cells[3].rstrip("×"))
            # A target of at least so many times says that the ratio counts how much faster ours is.
            found[-1][2].append((cells[0].replace("`", ""), ratio if cells[5].startswith("≥") else 1 / ratio))
    return [entry for entry in found if entry[2]]


def main():
    with open(sys.argv[1]) as file:
        tables = comparisons(file.read())
    if not tables:
        sys.exit(f"peers: {sys.argv[1]} has no table that compares with another program")
    rows = []
    for heading, peer, entries in tables:
        name = "" if peer == "the other" else f", beside {peer.replace('`', '')}"
        rows.append((f"{heading.replace('`', '')}{name}", None))
        rows += entries
    figure, axes = pyplot.subplots(figsize=(9, 0.24 * len(rows) + 1))
    places = range(len(rows), 0, -1)
    for place, (label, ratio) in zip(places, rows):
        if ratio is None:
            axes.text(0, place, label, fontsize=8, fontweight="bold", va="center", transform=axes.get_yaxis_transform())
        else:
            axes.barh(place, ratio - 1, left=1, height=0.7, color="tab:green" if ratio >= 1 else "tab:orange")
    axes.set_yticks(list(places), ["" if ratio is None else label for label, ratio in rows], fontsize=8)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_ylim(0.3, len(rows) + 0.7)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    axes.set(title="How many times as fast as the other program")
    axes.grid(True, axis="x", alpha=0.3)
    axes.tick_params(labeltop=True)
    figure.tight_layout()
    path = f"{sys.argv[2]}/peers.svg"
    figure.savefig(path, metadata={"Date": None})
    adapt(path)


main()
