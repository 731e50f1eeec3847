#!/usr/bin/env python3
"""The commands that an embedding program could do as well use nothing but the public headers.

    public_api.py ROOT

Follows the includes of each command's file through the headers of runtime/cli, and through the files
that those headers are of. What they reach of runtime/ must be the command line itself or
runtime/support. Stream scripts are a test language of their own and not part of the API: their file
may look behind it, their header may not.
"""

import pathlib
import re
import sys

COMMANDS = {
    "run": "run.cpp",
    "devices": "devices.cpp",
    "check": "check.cpp",
    "asm, disasm": "assembler.cpp",
    "translate": "translate.cpp",
    "coverage": "coverage.cpp",
    "cache, trace": "cache.cpp",
    "preset": "preset.cpp",
}
LOOKS_BEHIND = {"runtime/cli/commands/stream_script.cpp"}
ALLOWED = ("lanewise/", "runtime/cli/", "runtime/support/")


def includes(path):
    return re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)


def reached(root, start):
    """(file, what it includes) for everything of the command line that a file leads to."""
    todo, seen = [start], set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for target in includes(root / name):
            yield name, target
            if not target.startswith("runtime/cli/"):
                continue
            todo.append(target)
            body = target.replace(".hpp", ".cpp")
            if (root / body).exists() and body not in LOOKS_BEHIND:
                todo.append(body)


def beyond(root, start):
    return sorted({f"{name} includes {target}" for name, target in reached(root, start)
                   if not target.startswith(ALLOWED)})  # fmt: skip


def main():
    root = pathlib.Path(sys.argv[1])
    text = "".join(p.read_text() for p in (root / "runtime/cli/commands").glob("*.cpp"))
    failed = []
    for command, file in COMMANDS.items():
        failed += [f"{command}: {line}" for line in beyond(root, f"runtime/cli/commands/{file}")]
        for word in command.split(", "):
            if f'command("{word}"' not in text:
                failed.append(f"there is no command {word}")
    # A command that does look behind the API is found out, or this test finds nothing.
    if not beyond(root, "runtime/cli/commands/explain.cpp"):
        failed.append("explain.cpp was expected to include more than the public headers")
    print("\n".join(failed) or f"{len(COMMANDS)} files use the public API alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
