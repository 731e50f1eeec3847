#!/usr/bin/env python3
"""No text has a word that words.txt lists for it.

    words.py ROOT [FILE...]

Of all files, or of these. What others wrote stays as it is: data, compiled texts, third_party.
"""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
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


WORDS = list(rows())


@functools.cache
def listed(kind, word):
    return any(p.fullmatch(word) for p, _, where, _ in WORDS if kind in where)


def suspect(kind, text):
    """Most files have none of the words, and each word is looked up once."""
    return (any(listed(kind, word) for word in set(re.findall(r"\w+", text)))
            or any(p.search(text) for p, _, where, _ in WORDS if kind in where and " " in p.pattern))


def wrong(name, kind, text):
    """Lines of this text, of kind "docs" or "code", with a word that does not belong there."""
    if kind == "code":  # the words in names, too: store_piece, ForeignRange
        text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", text)
    for number, line in enumerate(text.splitlines() if suspect(kind, text) else [], 1):
        for pattern, instead, where, may_stand in WORDS:
            if kind in where and (found := pattern.search(line)) and not (may_stand and may_stand.search(line)):
                yield f"{name}:{number}: '{found.group()}': write '{instead}': {line.strip()[:110]}"


def main():
    given = [pathlib.Path(f).resolve() for f in sys.argv[2:]]
    found, seen = [], 0
    for file in given or files():
        name = file.relative_to(ROOT).as_posix()
        kind = "docs" if file.suffix == ".md" else "code" if file.suffix in CODE or name == "dev" else None
        if kind is None or (LEFT_OUT.search(name) and not given):
            continue
        seen += 1
        found += wrong(name, kind, file.read_text(errors="replace"))
    print("\n".join(found + [f"{seen} files, {len(WORDS)} rows, {len(found)} words that do not belong there"]))
    return 1 if found or (seen < 50 and not given) else 0


sys.exit(main())
