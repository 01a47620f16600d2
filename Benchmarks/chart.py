#!/usr/bin/env python3
"""Draws charts of the lines of one run, as SVG.

chart.py RESULTS FOLDER

RESULTS is what table.py reads. A chart whose lines are not all there is left as it was.
"""
import os
import re
import sys

import matplotlib

matplotlib.use("svg")
# The same lines give the same file.
matplotlib.rcParams.update({"svg.hashsalt": "swift-keychain", "svg.fonttype": "none", "font.family": "sans-serif"})
import matplotlib.pyplot as pyplot
from matplotlib.ticker import FuncFormatter, LogLocator

from table import read


def number(value, _=None):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def chart(path, results, title, x_label, y_label, lines, logarithmic=True):
    """Each line is a label and pairs of x and the name of a result."""
    if any(name not in results for _, points in lines for _, name in points):
        return
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for label, points in lines:
        values = [results[name][0] for _, name in points]
        axes.plot([x for x, _ in points], values, marker="o", label=label)
    axes.set_xscale("log", base=2 if max(x for x, _ in lines[0][1]) < 1000 else 10)
    if logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    else:
        axes.set_ylim(bottom=0)
    axes.set_xticks([x for x, _ in lines[0][1]])
    axes.xaxis.set_major_formatter(FuncFormatter(number))
    axes.yaxis.set_major_formatter(FuncFormatter(number))
    axes.minorticks_off()
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    axes.grid(True, alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    adapt(path)


def adapt(path):
    """Has a picture follow the reader's choice of light or dark."""
    with open(path) as file:
        picture = file.read()
    picture = picture.replace("#ffffff", "var(--page)").replace("#000000", "var(--ink)")
    # Text and strokes without a colour of their own are black.
    style = """<style>
svg { --page: #ffffff; --ink: #1c2430; color-scheme: light dark }
text { fill: var(--ink) }
@media (prefers-color-scheme: dark) { svg { --page: #0d1117; --ink: #e6edf3 } }
"""
    picture = re.sub(r"<style[^>]*>", style, picture, count=1)
    with open(path, "w") as file:
        file.write(picture)


def main():
    results, folder = read(sys.argv[1]), sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    clients = [1, 2, 4, 8, 16, 64]
    chart(
        f"{folder}/daemon.svg", results, "Lookups through a daemon, 100 items", "clients at once", "lookups a second",
        [
            ("keychaind", [(count, f"daemon.lookup.{count}.rate") for count in clients]),
            ("256 bytes there and back", [(count, f"daemon.floor.{count}.rate") for count in clients]),
            ("gnome-keyring", [(count, f"gnome.clients.{count}") for count in clients]),
        ])
    sizes = [1000, 100_000, 1_000_000]
    chart(
        f"{folder}/items.svg", results, "Finding one item with its value", "items in the vault",
        "microseconds of processor time",
        [
            ("SecItemCopyMatching", [(size, f"find.secitem.{size}") for size in sizes]),
            ("engine", [(size, f"find.engine.{size}") for size in sizes]),
            ("one SQLite statement and three AEAD operations", [(size, f"find.floor.{size}") for size in sizes]),
        ], logarithmic=False)
    rows = [100_000, 1_000_000]
    chart(
        f"{folder}/databases.svg", results, "Selecting a row by an index of two columns", "rows",
        "microseconds of processor time",
        [
            ("SQLCipher 3.4", [(count, f"database.sqlcipher.index.{count}.0") for count in rows]),
            ("encrypted, own format", [(count, f"database.keychain.index.{count}.0") for count in rows]),
            ("plain SQLite", [(count, f"database.plain.index.{count}.0") for count in rows]),
        ], logarithmic=False)


if __name__ == "__main__":
    main()
