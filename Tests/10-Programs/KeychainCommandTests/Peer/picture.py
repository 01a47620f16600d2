"""A picture of a terminal's screen, from what `tmux capture-pane -e -p` prints.

    picture.py TITLE COLUMNS < screen > picture.svg
"""
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
console.print(Text.from_ansi(sys.stdin.read()), no_wrap=True, overflow="crop")
sys.stdout.write(console.export_svg(title=title, code_format=FORM, unique_id="screen"))
