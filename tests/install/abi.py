#!/usr/bin/python3
"""Does a program that was built with the first header of this SONAME still run with the library of today's?

    abi.py             compares the headers with tests/install/abi.txt; ends with 1 where such a program would break
    abi.py --broken    breaks the header on purpose, one way after the other; ends with 1 where a break goes unseen
    abi.py --record    writes abi.txt: for a release, whose additions become promises, or a new SONAME

May be added: functions, constants, members at the end of structs that begin with struct_size. Needs python3-clang.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
from from_headers import Header  # noqa: E402 (ends with 77 where python3-clang is missing)

RECORD = ROOT / "tests/install/abi.txt"
HEADERS = ("lanewise.h", "vulkan.h")


def soname():
    major, minor = re.search(r"project\(lanewise VERSION (\d+)\.(\d+)", (ROOT / "CMakeLists.txt").read_text()).groups()
    return f"liblanewise.so.{major}.{minor}" if major == "0" else f"liblanewise.so.{major}"


def facts(headers):
    """{what: how it is}: the binary form of everything that the headers declare."""
    found = {}
    for header in headers:
        for f in header.functions:
            takes = ", ".join(a.type.get_canonical().spelling for a in f.get_arguments())
            found[f"function {f.spelling}"] = f"{f.result_type.get_canonical().spelling} ({takes})"
        for f in header.callbacks:
            found[f"callback {f.spelling}"] = f.underlying_typedef_type.get_canonical().spelling
        for e in header.constants:
            found[f"constant {e.spelling}"] = str(e.enum_value)
        for s in header.structs:
            members = list(s.type.get_fields())
            if members[0].spelling != "struct_size":  # its size is what arrays and callers were built with
                found[f"size {s.spelling}"] = str(s.type.get_size())
            for m in members:
                found[f"member {s.spelling}.{m.spelling}"] = (
                    f"{m.type.get_canonical().spelling} at {m.get_field_offsetof() // 8}"
                )
    return found


def recorded():
    first, *lines = RECORD.read_text().splitlines()
    if first != soname():
        sys.exit(f"{RECORD.name} is of {first}, and the library is {soname()}: abi.py --record")
    return dict(line.split(": ", 1) for line in lines)


def breaks(was, now):
    return [f"{what}: was {how}, is {now.get(what, 'gone')}" for what, how in was.items() if now.get(what) != how]


# One of each kind of break, as an edit of lanewise.h: (what it does, pattern, replacement).
PLANTED = (
    ("a function goes", r"LW_API lw_status lw_buffer_create\([^;]*;", ""),
    ("a parameter is added", r"(LW_API lw_status lw_buffer_create\()", r"\1int added, "),
    ("a member is put before others", r"(typedef struct lw_fault \{\s*uint32_t struct_size;)", r"\1 uint64_t added;"),
    ("a member gets another type", r"uint64_t address;", "uint32_t address;"),
    ("a constant gets another number", r"LW_OK = 0", "LW_OK = 7"),
)


def broken():
    was = recorded()
    text = (ROOT / "include/lanewise/lanewise.h").read_text()
    unseen = 0
    for what, pattern, instead in PLANTED:
        changed, times = re.subn(pattern, instead, text, count=1)
        found = breaks(was, facts([Header("lanewise.h", changed), Header("vulkan.h")])) if times else []
        unseen += not found
        print(f"{what}: {found[0] if found else 'not seen' if times else 'the header has no such place'}")
    return unseen


def main():
    if "--broken" in sys.argv:
        return broken()
    now = facts(map(Header, HEADERS))
    if "--record" in sys.argv:
        RECORD.write_text("\n".join([soname(), *(f"{what}: {how}" for what, how in now.items()), ""]))
        return 0
    was = recorded()
    found = breaks(was, now)
    print("\n".join([*found, f"{len(was)} promises, {len(found)} broken, {len(now.keys() - was.keys())} additions"]))
    return bool(found)


sys.exit(main())
