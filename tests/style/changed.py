#!/usr/bin/env python3
"""clang-tidy over sources, clang-format over them and headers, headers by themselves through the compiler.

    changed.py ROOT BUILD [--all] [--most N] [--format-only] [FILE ...]

Without files: what the working tree and its last commit changed (at most N sources, the most changed first).
BUILD is a configured build folder of this tree; a configuration without batches, which has the flags of each file,
is made in ROOT/build-tidy. Exit code 77: there is nothing to judge by (no clang-tidy, no checkout).
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SOURCES, HEADERS = (".cpp", ".c"), (".hpp", ".h")
BROKEN = "tests/style/broken.cpp"  # what the checks must find something in


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def tracked(root):
    return run("git", "-C", root, "ls-files").stdout.splitlines()


def changed(root):
    """Paths, the most changed lines first; None where git knows of no earlier commit."""
    if run("git", "-C", root, "rev-parse", "HEAD~1").returncode != 0:
        return None
    rows = [r.split("\t") for r in run("git", "-C", root, "diff", "--numstat", "--no-renames", "HEAD~1").stdout.splitlines()]
    rows = [(int(a) + int(d), name) for a, d, name in rows if a != "-"]
    return [name for _, name in sorted(rows, key=lambda r: (-r[0], r[1]))]


def judged(root, names, wanted):
    return [n for n in names if n.startswith(("runtime/", "include/", "tests/", "samples/")) and "/data/" not in n
            and (n != BROKEN or n in wanted) and n.endswith(SOURCES + HEADERS) and (root / n).exists()]


def commands(root, build):
    """{file: arguments of the compiler}, where generated headers are those of the build folder that has them."""
    folder = root / "build-tidy"
    made = run("cmake", "-S", root, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DLANEWISE_BATCH=OFF",
               "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_CXX_COMPILER_LAUNCHER=")
    if made.returncode != 0:
        sys.exit("FAIL cannot configure build-tidy:\n" + made.stderr)
    out = {}
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"].replace(str(folder), str(build)))
        keep = [w for w in words if w.startswith(("-I", "-D", "-std", "-isystem", "/")) and not w.endswith((".cpp", ".c", ".o", ".hxx"))]
        out[entry["file"]] = keep + ["-std=c++20"] if entry["file"].endswith(".cpp") else keep
    return out


def tidy(root, flags, headers, name):
    known = flags.get(str(root / name), [f"-I{root}", "-std=c++20"] if name == BROKEN else None)
    if known is None:  # of no target of this configuration
        return ""
    r = run("clang-tidy", "-quiet", "--warnings-as-errors=*", f"--header-filter={headers}", str(root / name), "--", *known)
    return "" if r.returncode == 0 else f"FAIL clang-tidy {name}\n{r.stdout}"


def by_itself(root, build, name):
    if name.endswith("host_shader.h") or not name.startswith(("runtime/", "include/")):  # the first is C++ and GLSL
        return ""
    includes = [f"-I{root}", f"-I{root}/include", f"-I{build}/runtime", f"-I{build}/runtime/vulkan"]
    r = run("c++", "-std=c++20", "-fsyntax-only", "-x", "c++", *includes, "-include", str(root / name), "/dev/null")
    return "" if r.returncode == 0 else f"FAIL {name} does not compile by itself\n{r.stderr}"


def formatted(root, names):
    """Many files in one process: most of its time is its start."""
    r = run("clang-format", "--dry-run", "-Werror", *names, cwd=root)
    wrong = dict.fromkeys(line.split(":")[0] for line in r.stderr.splitlines() if ": error:" in line)
    return [f"FAIL clang-format {os.path.relpath(root / name, root)}\n" +
            "\n".join([line for line in r.stderr.splitlines() if line.startswith(f"{name}:")][:3]) for name in wrong]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--most", type=int, default=8)
    parser.add_argument("--format-only", action="store_true")
    a = parser.parse_args()
    root, build = a.root.resolve(), a.build.resolve()
    if shutil.which("clang-format") is None or (not a.format_only and shutil.which("clang-tidy") is None):
        print("clang-tidy and clang-format are not installed")
        return 77
    names = tracked(root) if a.all or a.format_only else a.files or changed(root)
    if not names:
        print("no checkout with an earlier commit: nothing is known to have changed")
        return 77
    names = judged(root, names, a.files)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        chunks = [names[i : i + 50] for i in range(0, len(names), 50)]
        found = [f for chunk in pool.map(lambda c: formatted(root, c), chunks) for f in chunk]
        if not a.format_only:
            most = None if a.all or a.files else a.most
            sources = [n for n in names if n.endswith(SOURCES)][:most]
            headers = [n for n in names if n.endswith(HEADERS)][:most]
            flags = commands(root, build)
            own = "|".join(re.escape(f"/{h}") for h in headers) or "none"
            found += pool.map(lambda n: tidy(root, flags, f"({own})$", n), sources)
            found += pool.map(lambda n: by_itself(root, build, n), headers)
    found = [f for f in found if f]
    print("\n".join(found))
    print(f"{len(names)} files, {len(found)} that are not as they should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
