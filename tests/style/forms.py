#!/usr/bin/env python3
"""Every function of the C API has a form in C++ and in Python, or a row of docs/embedding.md that says why not.

    forms.py ROOT            the tree
    forms.py ROOT --broken   the same with a function that has neither: it has to be found

A form in C++ is a use in include/lanewise/*.hpp, one in Python a use in python/lanewise (but for the generated prototypes). A row is
"| functions | languages without it | why |" of the table under the heading "Without a form of its own"; a row for what has a
form is wrong, too.
"""

import pathlib
import re
import sys

LANGUAGES = ("C++", "Python")


def used_in(files):
    return {name for file in files for name in re.findall(r"\blw_\w+", file.read_text())}


def rows(page):
    """function: languages that the table says have no form of it."""
    table = page.read_text().split("## Without a form of its own")[-1].split("\n## ")[0]
    out = {}
    for functions, languages, why in re.findall(r"^\| (.*lw_.*?) \| (.*?) \| (.*?) \|$", table, re.M):
        assert len(why) > 10, f"{functions}: why not?"
        for name in re.findall(r"`(lw_\w+)`", functions):
            out[name] = {language for language in LANGUAGES if language in languages}
    return out


def main():
    root = pathlib.Path(sys.argv[1])
    exported = re.findall(r"\blw_\w+", (root / "tests/install/exports.txt").read_text())
    if "--broken" in sys.argv:
        exported.append("lw_frobnicate")
    python = [p for p in (root / "python/lanewise").glob("*.py") if p.name != "_generated.py"]
    forms = {"C++": used_in((root / "include/lanewise").rglob("*.hpp")), "Python": used_in(python)}
    excused = rows(root / "docs/embedding.md")
    wrong = [f"the table names {name}, which is no function" for name in sorted(set(excused) - set(exported))]
    for name in exported:
        for language in LANGUAGES:
            has, reason = name in forms[language], language in excused.get(name, ())
            if not has and not reason:
                wrong.append(f"{name} has no form in {language} and no row in docs/embedding.md")
            if has and reason:
                wrong.append(f"{name} has a form in {language}; its row in docs/embedding.md says that it has none")
    print("\n".join(wrong) or f"{len(exported)} functions, {len(excused)} of them with a row")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
