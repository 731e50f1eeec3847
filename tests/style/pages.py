#!/usr/bin/env python3
"""Pages have less than 300 lines, larger folders of runtime/ a README with what comes in, what goes out and where to begin.

    pages.py ROOT            the tree
    pages.py ROOT --broken   with a limit that all pages are above, and a folder without a README
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
MADE = {"api-reference.md", "cuda-runtime.md"}  # from the headers, from the rows of calls
BROKEN = "--broken" in sys.argv
MOST = 1 if BROKEN else 300

wrong = []
pages = [p for p in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")] if p.name not in MADE]
for page in pages:
    lines = len(page.read_text().splitlines())
    if lines >= MOST:
        wrong.append(f"{page.relative_to(ROOT)} has {lines} lines, {MOST - 1} at most: split it by task")

# The libraries' folders, and that of the instruction sets.
layers = re.findall(r"lanewise_layer\(\s*\w+\s+([a-z][\w/]*)", (ROOT / "runtime/CMakeLists.txt").read_text())
folders = sorted({"isa", "cli", *(f for f in layers if not f.startswith("bench")), *(["broken"] if BROKEN else [])})
for folder in folders:
    readme = ROOT / "runtime" / folder / "README.md"
    text = readme.read_text() if readme.exists() else ""
    for part in (f"# `runtime/{folder}`: ", "**In:**", "**Out:**", "**Begin with**"):
        if part not in text:
            wrong.append(f"runtime/{folder}/README.md lacks '{part.strip()}'")
    if len(text.splitlines()) > 20:
        wrong.append(f"runtime/{folder}/README.md has more than 20 lines")
print("\n".join(wrong) or f"{len(pages)} pages, {len(folders)} folders")
sys.exit(bool(wrong) or len(pages) < 20 or len(folders) < 10)
