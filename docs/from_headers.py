#!/usr/bin/python3
"""Makes what repeats the C header: ctypes bindings, the fault report of C++, the list of exports, the reference page.

    from_headers.py            writes the files
    from_headers.py --check    says which are not current, and ends with 1

Needs python3-clang (Debian's, so this is the system's Python); the build does not: the files are in the repository.
"""

import pathlib
import re
import sys
import textwrap

try:
    import clang.cindex as clang
    from api_reference import reference
except ImportError:
    print("python3-clang is not installed")
    sys.exit(77)  # a test is skipped

ROOT = pathlib.Path(__file__).resolve().parents[1]
K = clang.CursorKind
T = clang.TypeKind
NOTE = "Made from lanewise.h by docs/from_headers.py; not edited by hand."


class Header:
    """What a header of the C API declares."""

    def __init__(self, name, text=None):
        self.path = ROOT / "include/lanewise" / name
        args = ["-x", "c", "-std=c11", f"-I{ROOT}/include"]
        instead = [(str(self.path), text)] if text else None
        self.unit = clang.Index.create().parse(str(self.path), args, unsaved_files=instead)
        wrong = [d for d in self.unit.diagnostics if d.severity >= clang.Diagnostic.Error]
        if wrong:
            sys.exit("\n".join(map(str, wrong)))
        own = [
            c
            for c in self.unit.cursor.get_children()
            if c.location.file and c.location.file.name == str(self.path)
        ]
        self.functions = [c for c in own if c.kind == K.FUNCTION_DECL and not c.is_definition()]
        self.structs = [c for c in own if c.kind == K.STRUCT_DECL and c.is_definition()]
        self.callbacks = [
            c
            for c in own
            if c.kind == K.TYPEDEF_DECL and is_function(c.underlying_typedef_type)
        ]
        self.constants = [e for c in own if c.kind == K.ENUM_DECL for e in c.get_children()]
        # Comments by the line of their last character; of those behind code, by the line of the code.
        self.above, self.behind = {}, {}
        last = 0
        for token in self.unit.cursor.get_tokens():
            start, end = token.extent.start.line, token.extent.end.line
            if token.kind == clang.TokenKind.COMMENT:
                words = " ".join(re.sub(r"^/?\*+ ?|\*/$", "", s.strip()) for s in token.spelling.splitlines())
                (self.behind if start == last else self.above)[start if start == last else end] = words.strip()
            else:
                last = end

    def members(self, struct):
        """(name, type, comments above, comment behind); struct_size, which every struct has, is left out."""
        for f in struct.type.get_fields():
            first, last = f.extent.start.line, f.extent.end.line
            if f.spelling != "struct_size":
                yield f.spelling, f.type, self.above.get(first - 1), self.behind.get(last)


def is_function(kind):
    return kind.kind == T.POINTER and kind.get_pointee().get_canonical().kind == T.FUNCTIONPROTO


def camel(name):
    return "".join(word.capitalize() for word in name.removeprefix("lw_").split("_"))


def ctypes_name(kind, structs):
    """A C type as Python's ctypes has it. Handles are void pointers."""
    name = kind.spelling.replace("const ", "").replace(" const", "").strip()
    if kind.kind == T.CONSTANTARRAY:
        return f"{ctypes_name(kind.element_type, structs)} * {kind.element_count}"
    if kind.kind == T.POINTER:
        to = kind.get_pointee()
        if to.get_canonical().kind == T.VOID:
            return "c.c_void_p"
        if to.get_canonical().kind in (T.CHAR_S, T.CHAR_U):
            return "c.c_char_p"
        if to.get_canonical().kind == T.RECORD:
            struct = to.get_canonical().spelling.split()[-1]
            return f"c.POINTER({camel(struct)})" if struct in structs else "c.c_void_p"
        return f"c.POINTER({ctypes_name(to, structs)})"
    if is_function(kind.get_canonical()):
        return camel(name)
    if kind.get_canonical().kind == T.VOID:
        return "None"
    plain = {T.INT: "c_int", T.DOUBLE: "c_double", T.FLOAT: "c_float", T.CHAR_S: "c_char", T.ENUM: "c_int"}
    if name == "size_t":
        return "c.c_size_t"
    if name.endswith("_t"):
        return f"c.c_{name.removesuffix('_t')}"
    if name in ("lw_status", "lw_detail"):
        return "c.c_int32"
    return "c." + plain[kind.get_canonical().kind]


def bindings(header):
    structs = {s.spelling for s in header.structs}
    out = [f'"""{NOTE}"""', "", "import ctypes as c", ""]
    out += [f"{e.spelling.removeprefix('LW_')} = {e.enum_value}" for e in header.constants]
    for f in header.callbacks:
        function = f.underlying_typedef_type.get_pointee()
        takes = [ctypes_name(t, structs) for t in function.argument_types()]
        returns = ctypes_name(function.get_result(), structs)
        out += ["", f"{camel(f.spelling)} = c.CFUNCTYPE({', '.join([returns, *takes])})"]
    out += ["", "", "class Sized(c.Structure):", "    def __init__(self, **members):"]
    out += ["        super().__init__(struct_size=c.sizeof(type(self)), **members)"]
    for s in header.structs:
        out += ["", "", f"class {camel(s.spelling)}(Sized):", "    _fields_ = ["]
        out += ['        ("struct_size", c.c_uint32),']
        out += [f'        ("{n}", {ctypes_name(t, structs)}),' for n, t, _, _ in header.members(s)]
        out += ["    ]"]
    out += ["", "", "# name: what it returns, what it takes", "FUNCTIONS = {"]
    for f in header.functions:
        takes = ", ".join(ctypes_name(a.type, structs) for a in f.get_arguments())
        out += [f'    "{f.spelling}": ({ctypes_name(f.result_type, structs)}, [{takes}]),']
    return "\n".join([*out, "}", ""])


def cpp_member(name, kind):
    """A member of the C++ struct for one of lw_fault."""
    if name == "kind":
        return "FaultKind kind = FaultKind::none;"
    if kind.kind == T.CONSTANTARRAY:
        return f"Dim3 {name}{{0, 0, 0}};"
    if kind.kind == T.POINTER:
        return f"std::string {name};"
    return f"bool {name} = false;" if kind.kind == T.INT else f"{kind.spelling} {name} = 0;"


def fault_report(header):
    fault = next(s for s in header.structs if s.spelling == "lw_fault")
    # The report is what format() makes of the others.
    members = [m for m in header.members(fault) if m[0] != "report"]
    out = [f"// {NOTE}", "#pragma once", "", "#include <cstdint>", "#include <string>", "",
           '#include "lanewise/types.hpp"', "", "namespace lanewise {", ""]
    out += ["/// A guest fault with everything known about it: lw_fault, whose texts it owns.",
            "struct FaultReport {"]
    previous = None
    for name, kind, above, behind in members:
        if (comment := above or behind) and comment != previous:  # one of several members is enough
            out += textwrap.wrap(comment, 100, initial_indent="  /// ", subsequent_indent="  /// ")
        previous = comment
        out += ["  " + cpp_member(name, kind)]
    out += ["};", "", "namespace detail {", "/// Calls each(name, member of FaultReport, member of lw_fault).",
            "template <typename Cpp, typename C, typename Each>",
            "void each_fault_field(Cpp& cpp, C& c, const Each& each) {"]
    for name, *_ in members:
        line = f'  each("{name}", cpp.{name}, c.{name});'
        out += [line if len(line) <= 100 else line.replace(f" c.{name}", f"\n       c.{name}")]
    out += ["}", "}  // namespace detail", "", "}  // namespace lanewise", ""]
    return "\n".join(out)


def made():
    """(file, text) one after the other: the page reads fault_report.hpp, which is written by then."""
    c, vulkan = Header("lanewise.h"), Header("vulkan.h")
    names = sorted(f.spelling for h in (c, vulkan) for f in h.functions)
    yield "python/lanewise/_generated.py", bindings(c)
    yield "include/lanewise/fault_report.hpp", fault_report(c)
    yield "tests/install/exports.txt", "".join(f"{n}@@LANEWISE_0.1\n" for n in names)
    yield "docs/api-reference.md", reference(ROOT / "include/lanewise")


def main():
    check, stale = "--check" in sys.argv, False
    for name, text in made():
        file = ROOT / name
        if file.exists() and file.read_text() == text:
            continue
        stale = True
        if check:
            print(f"{name} is not what the headers make: run docs/from_headers.py")
        else:
            file.write_text(text)
    sys.exit(1 if stale and check else 0)


if __name__ == "__main__":
    main()
