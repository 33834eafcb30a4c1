"""Draws the text of a terminal as SVG: reads it with its escape sequences from standard input, and writes the file that is named.

Arguments: the file, the title of the window, the width in columns. Fonts are those of the reader; nothing is loaded.
"""

import io
import re
import sys

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

path, title, columns = sys.argv[1], sys.argv[2], int(sys.argv[3])
console = Console(record=True, width=columns, file=io.StringIO(), color_system="truecolor", force_terminal=True)
console.print(Text.from_ansi(sys.stdin.read()), no_wrap=True, crop=False)
without_fonts = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
fonts = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"
without_fonts = without_fonts.replace("Fira Code, monospace", fonts)
console.save_svg(path, title=title, code_format=without_fonts, unique_id="terminal")
