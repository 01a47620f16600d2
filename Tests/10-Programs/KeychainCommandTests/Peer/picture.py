"""A picture of a terminal's screen, from what `tmux capture-pane -e -p` prints.

    picture.py TITLE COLUMNS [recording] < screen > picture.svg

A recording shows each command, which begins with "$ ", and then its answer, one after the other.
"""
import re
import sys

from rich.console import Console
from rich.text import Text

# Fonts that a machine has: a picture fetches nothing.
FORM = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g></svg>
"""

title, columns = sys.argv[1], int(sys.argv[2])
console = Console(record=True, width=columns, file=open("/dev/null", "w"), force_terminal=True, color_system="truecolor")
screen = Text.from_ansi(sys.stdin.read())
console.print(screen, no_wrap=True, overflow="crop")
picture = console.export_svg(title=title, code_format=FORM, unique_id="screen")
if sys.argv[3:] == ["recording"]:
    # When a row appears, in seconds: a person types a command, and the answer comes at once.
    appears, now = [], -1.0
    for row in screen.plain.split("\n"):
        isCommand = row.startswith("$ ")
        now += 1.5 if isCommand else 0.5 if appears and appears[-1][1] else 0
        appears.append((max(now, 0), isCommand))
    rows = "".join(
        f'[clip-path="url(#screen-line-{number})"] {{ animation-delay: {seconds:.1f}s }}\n'
        for number, (seconds, _) in enumerate(appears))
    picture = picture.replace("</style>", f"""@keyframes appear {{ from {{ opacity: 0 }} to {{ opacity: 1 }} }}
@media (prefers-reduced-motion: no-preference) {{
.screen-matrix text {{ animation: appear 0.1s both }}
{rows}}}
</style>""", 1)
sys.stdout.write(picture)
