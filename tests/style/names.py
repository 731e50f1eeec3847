#!/usr/bin/env python3
"""Code that pages name exists: for each link [`NAME`](FILE) to a source file, the file has that function, type or constant.

    names.py ROOT PAGE...

`A::b` must be defined there; another name must stand in the file as a whole word. Names that are not one identifier (a file's
name) are only links, which tests/docs.sh follows.
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
count, wrong = 0, []
for page in map(pathlib.Path, sys.argv[2:]):
    text = page.read_text()
    for name, target in re.findall(r"\[`([^`]+)`\]\(([^)#]+)\)", text):
        if not re.fullmatch(r"[A-Za-z_]\w*(::~?\w+)*", name) or target.endswith(".md"):
            continue
        file = page.parent / target
        if file.is_dir():
            continue
        count += 1
        code = re.sub(r"//.*", "", file.read_text()) if file.exists() else ""
        wanted = rf"\b{re.escape(name)}\(" if "::" in name else rf"\b{name}\b"
        if not re.search(wanted, code):
            wrong.append(f"{page.relative_to(root)}: {name} is not in {target}")
print("\n".join(wrong) or f"{count} names found")
sys.exit(bool(wrong) or count == 0)
