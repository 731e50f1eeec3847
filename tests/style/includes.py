#!/usr/bin/env python3
"""Fails where a source file of runtime/ names a function that one header of its own layer declares, and no header that it
includes, itself or through others, has that name. In a batch (LANEWISE_BATCH) a neighbour's include hides that; the usual build,
which compiles each file by itself, then fails. What it sees are names with an underscore; compilers see the rest.

    includes.py ROOT            the tree
    includes.py ROOT --broken   the same tree with a file that lacks an include, which is found
"""

import collections
import pathlib
import re
import sys

from layers import layer_of, read_layers, runtime_sources

INCLUDE = re.compile(r'^\s*#include "runtime/([^"]+)"', re.M)
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
# Declared at the start of a line, or in a list that goes on: `Lowering lower_a,\n    lower_b;`
DECLARATION = re.compile(r"^(?:\S.*| {4}\w+(?:, \w+)*[,;])$", re.M)
DECLARED = re.compile(r"\b([a-z]\w*_\w+)(?=[(,;])")
# Neither a member, nor of a namespace, nor what the language's own types are called.
USED = re.compile(r"(?<![\w.>:])([a-z]\w*_\w+)\b(?<!_t)")


def own_name(name, text):
    """Does the file itself give something this name: a variable, a parameter, a function?"""
    return re.search(r"(?:[>&*]|\b(?!return\b)\w+) " + name + r"\b", text) is not None


def missing(sources, heights):
    code = {file: NOT_CODE.sub("", text) for file, text in sources}
    includes = {file: INCLUDE.findall(text) for file, text in sources}
    words = {file: set(re.findall(r"\w+", text)) for file, text in code.items() if not file.endswith(".cpp")}
    headers = collections.defaultdict(set)
    for file, text in code.items():
        if not file.endswith(".cpp"):
            for line in DECLARATION.findall(text):
                for name in DECLARED.findall(line):
                    headers[name].add(file)

    def reached(file, seen):
        for header in includes.get(file, ()):
            if header not in seen:
                seen.add(header)
                reached(header, seen)
        return seen

    for file, text in code.items():
        if not file.endswith(".cpp"):
            continue
        seen = reached(file, set())
        known = set().union(*(words[header] for header in seen if header in words))
        for name in sorted(set(USED.findall(text))):
            declaring = headers.get(name, ())
            if len(declaring) != 1 or name in known or own_name(name, text):
                continue
            header = next(iter(declaring))
            if layer_of(header, heights) == layer_of(file, heights):
                yield f"runtime/{file}: {name}() needs runtime/{header}, which it does not include"


def main():
    root = pathlib.Path(sys.argv[1])
    sources = runtime_sources(root)
    if "--broken" in sys.argv:
        sources.append(("isa/gcn/broken.cpp", "bool is(const Row& row) {\n  return row.lower == lower_barrier;\n}\n"))
    found = list(missing(sources, read_layers(root / "tests/style/layers.txt")))
    for line in found:
        print("FAIL", line)
    print(f"{len(sources)} files, {len(found)} includes that only a batch does without")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
