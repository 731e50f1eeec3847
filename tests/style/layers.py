#!/usr/bin/env python3
"""Fails where a file of runtime/ includes something of a layer above its own, or beside it, and where events, traces or
the cache tracker read the text of an instruction, whose facts travel in the IR: that is for readers of imported traces.
Also where a file makes the text of a JSON document by itself: support/json_document.hpp puts the versions into each.

    layers.py ROOT            the tree
    layers.py ROOT --broken   the same tree with an include that points up, a reader of text and a document: all are refused
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#include "runtime/([^"]+)"', re.M)


# What looks into the text of a guest instruction, who must not, and who may: the readers themselves and imports.
TEXT_READER = re.compile(
    r"runtime/trace/(site_text|suffix)\.hpp|\b(site_from_text|ptx_site|sass_site|gcn_site)\("
    r"|\btext(\(\))?\.(find|rfind|starts_with|ends_with|compare)\(|\btext == \"")
FOLLOWS_THE_IR = re.compile(r"(events|cache|trace)/")
IMPORTS = re.compile(r"trace/(site_|suffix|interchange/)")


def readers_of_text(sources):
    for file, text in sources:
        if not FOLLOWS_THE_IR.match(file) or IMPORTS.match(file):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if TEXT_READER.search(line.split("//")[0]):
                yield f"runtime/{file}:{number}: reads the text of an instruction, whose facts are in ir::Mem and ir::Site"


# JSON that is a part of something else: a page, an event, a member of a document, a text in another format.
PARTS_OF_DOCUMENTS = {"support/json_document.cpp", "support/junit.cpp", "support/sarif.cpp", "cache/presets/preset.cpp",
                      "cache/reports/report_json.cpp", "cache/reports/report_perfetto.cpp",
                      "reference/perf/profile.cpp"}  # fmt: skip


def writers_of_documents(sources):
    for file, text in sources:
        for number, line in enumerate(text.splitlines(), 1):
            if ".dump(" in line.split("//")[0] and file not in PARTS_OF_DOCUMENTS:
                yield f"runtime/{file}:{number}: a JSON document without versions, which json_document() puts in"


def read_layers(path):
    """{folder: height}, from layers.txt."""
    heights = {}
    lines = [line.split("#")[0].split() for line in path.read_text().splitlines()]
    for height, folders in enumerate(folder for folder in lines if folder):
        heights.update(dict.fromkeys(folders, height))
    return heights


def layer_of(file, heights):
    """The longest listed folder that holds the file (a path below runtime/)."""
    parents = [str(p) for p in pathlib.PurePath(file).parents]
    return next((p for p in parents if p in heights), None)


def arrows_up(sources, heights):
    for file, text in sources:
        own = layer_of(file, heights)
        if own is None:
            yield f"runtime/{file}: its folder stands in no line of tests/style/layers.txt"
            continue
        for target in INCLUDE.findall(text):
            other = layer_of(target, heights)
            if other is None:
                yield f"runtime/{file}: includes runtime/{target}, whose folder stands in no line"
            elif other != own and heights[other] >= heights[own]:
                yield f"runtime/{file}: {own} includes runtime/{target}, and {other} does not stand below it"


def runtime_sources(root):
    """[(path below runtime/, text)]"""
    runtime = root / "runtime"
    files = sorted(p for p in runtime.rglob("*") if p.suffix in (".cpp", ".hpp", ".h"))
    return [(p.relative_to(runtime).as_posix(), p.read_text()) for p in files]


def main():
    root = pathlib.Path(sys.argv[1])
    sources = runtime_sources(root)
    if "--broken" in sys.argv:
        sources.append(("ir/broken.hpp", '#include "runtime/guest/engine.hpp"\n'))
        sources.append(("events/broken.cpp", 'bool atomic = site.text.starts_with("atom");\n'))
        sources.append(("cli/broken.cpp", 'fmt::print("{}", j.dump(2));\n'))
    found = list(arrows_up(sources, read_layers(root / "tests/style/layers.txt")))
    readers = list(readers_of_text(sources))
    writers = list(writers_of_documents(sources))
    for line in found + readers + writers:
        print("FAIL", line)
    print(f"{len(sources)} files, {len(found)} includes that point up, {len(readers)} readers of text, "
          f"{len(writers)} documents without versions")  # fmt: skip
    return 1 if found or readers or writers else 0


if __name__ == "__main__":
    sys.exit(main())
