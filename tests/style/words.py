#!/usr/bin/env python3
"""No text has a word that words.txt lists for it.

    words.py ROOT

Of tracked files (all files, where this is no checkout). What others wrote stays as it is: data, compiled texts, third_party.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
LIST = pathlib.Path(__file__).with_name("words.txt")
CODE = (".cpp", ".hpp", ".h", ".glsl", ".comp", ".py", ".sh", ".cmake", ".def", ".lw", ".js", ".css", ".html")
FOLDERS = ("docs", "include", "packaging", "python", "runtime", "samples", "shaders", "tests")
# Texts of others, the places that must name the words, and the page that is made of the headers, which are checked.
LEFT_OUT = re.compile(r"/data/|^docs/api-reference\.md$|^docs/style\.md$|^tests/style/|^tests/fuzz/LEDGER")


def files():
    for top in [ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md", ROOT / "dev"]:
        if top.exists():
            yield top
    for folder in FOLDERS:
        yield from sorted(p for p in (ROOT / folder).rglob("*") if p.is_file())


def rows():
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, instead, where, may_stand = (line.split("\t") + [""])[:4]
            yield (re.compile(rf"\b(?:{pattern})\b", re.I), instead, where.split(),
                   re.compile(may_stand) if may_stand else None)


words, found, seen = list(rows()), 0, 0
for file in files():
    name = file.relative_to(ROOT).as_posix()
    kind = "docs" if file.suffix == ".md" else "code" if file.suffix in CODE or name == "dev" else None
    if kind is None or LEFT_OUT.search(name):
        continue
    seen += 1
    text = file.read_text(errors="replace")
    if kind == "code":  # the words in names, too: store_piece, ForeignRange
        text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", text)
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, instead, where, may_stand in words:
            if kind in where and pattern.search(line) and not (may_stand and may_stand.search(line)):
                print(f"{name}:{number}: '{pattern.search(line).group()}': write '{instead}': {line.strip()[:110]}")
                found += 1
print(f"{seen} files, {len(words)} rows, {found} words that do not belong there")
sys.exit(found != 0 or seen < 50)
