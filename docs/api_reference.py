"""The reference page, docs/api-reference.md: each declaration of the headers with its comment. from_headers.py writes it."""

import re

import clang.cindex as clang

K = clang.CursorKind

PAGES = [
    ("lanewise.h", "The C API", "c"),
    ("vulkan.h", "The C API inside a Vulkan program", "c"),
    ("lanewise.hpp", "C++: devices", "cpp"),
    ("module.hpp", "C++: programs and kernels", "cpp"),
    ("buffer.hpp", "C++: buffers and arguments", "cpp"),
    ("launch.hpp", "C++: plain data of launches", "cpp"),
    ("result.hpp", "C++: results", "cpp"),
    ("fault_report.hpp", "C++: fault reports", "cpp"),
    ("policies.hpp", "C++: the policies of a launch that ran", "cpp"),
    ("queue.hpp", "C++: queues", "cpp"),
    ("run.hpp", "C++: a kernel on memory of the host", "cpp"),
    ("tools.hpp", "C++: check, assemble, coverage", "cpp"),
    ("cache.hpp", "C++: cache tracker and traces", "cpp"),
    ("vulkan.hpp", "C++: inside a Vulkan program", "cpp"),
    ("types.hpp", "C++: small types", "cpp"),
    ("error.hpp", "C++: errors", "cpp"),
    ("error_detail.hpp", "C++: which error it is", "cpp"),
]

def plain(comment):
    """A comment's words, one paragraph for each of its own; indented examples stay code."""
    out, code = [], False
    for line in comment:
        line = re.sub(r"^\s*(/\*|\*/|\*|///<|///|//)? ?", "", line)
        line = re.sub(r"\s*\*/\s*$", "", line)
        if line.startswith("  ") != code:
            out.append("```")
            code = not code
        out.append(line[2:] if code else line)
    if code:
        out.append("```")
    text = "\n".join(out).strip("\n")
    return re.sub(r"\n```\n(?=\n?\S)(?!`)", "\n```\n", text)


def is_comment(line, inside):
    stripped = line.strip()
    return inside or stripped.startswith(("/*", "//"))


def parts(lines):
    """(comment, code) pairs: a comment with what stands under it up to the next one or a gap."""
    comment, code, inside, depth = [], [], False, 0
    for line in lines:
        starts = depth == 0 and is_comment(line, inside)
        if starts:
            if code:
                yield comment, code
                comment, code = [], []
            comment.append(line)
            inside = (inside or line.strip().startswith("/*")) and "*/" not in line
            continue
        if not line.strip() and depth == 0:
            if code or comment:
                yield comment, code
            comment, code = [], []
            continue
        code.append(line)
        depth += line.count("{") - line.count("}") + line.count("(") - line.count(")")
    if code or comment:
        yield comment, code


FUNCTIONS = (
    K.FUNCTION_DECL, K.FUNCTION_TEMPLATE, K.CXX_METHOD, K.CONSTRUCTOR, K.DESTRUCTOR,
    K.CONVERSION_FUNCTION,
)  # fmt: skip


def declared_until(function, body):
    """Where the declaration of a function with a body ends: constructors have initialisers between."""
    depth, end = 0, 0
    for token in function.get_tokens():
        at = token.extent.start.offset
        if at >= body or (token.spelling == ":" and depth == 0 and end != 0):
            break
        depth += {"(": 1, ")": -1}.get(token.spelling, 0)
        if token.kind != clang.TokenKind.COMMENT:
            end = token.extent.end.offset
    return end


def hidden(cursor, text, file):
    """(begin, end, what stands there instead) of what a reader has no use for: bodies, private parts, `detail`."""
    for c in cursor.get_children():
        if c.location.file is None or c.location.file.name != file:
            continue
        begin, end = c.extent.start.offset, c.extent.end.offset
        bodies = [x.extent.start.offset for x in c.get_children() if x.kind == K.COMPOUND_STMT]
        if c.kind == K.NAMESPACE and c.spelling == "detail":
            yield begin, text.index(b"\n", end) + 1, b""
        elif c.kind == K.CXX_ACCESS_SPEC_DECL and c.access_specifier.name == "PRIVATE":
            yield text.rindex(b"\n", 0, begin), text.rindex(b"\n", 0, cursor.extent.end.offset), b""
        elif c.kind in FUNCTIONS and bodies and text[bodies[0] : bodies[0] + 1] == b"{":
            yield declared_until(c, bodies[0]), end, b";"
        elif c.kind not in FUNCTIONS:
            yield from hidden(c, text, file)


def declarations(unit, path, language):
    """The declarations of a header, without what the preprocessor and namespaces need."""
    text, out, done = path.read_bytes(), b"", 0
    for begin, end, instead in sorted(hidden(unit.cursor, text, str(path))):
        if begin >= done:  # not inside one that is hidden as a whole
            out += text[done:begin] + instead
            done = end
    text = re.sub(r"\\\n\s*", " ", (out + text[done:]).decode())
    frame = (
        r"#(pragma|include|ifndef|ifdef|if |else|endif|define (LANEWISE|LW_API))|extern \"C\""
        r"|}$|namespace lanewise {|}  // namespace lanewise(::interop)?$"
    )
    lines = [re.sub("  // NOLINT.*", "", s) for s in text.splitlines() if not re.match(frame, s)]
    text = "\n".join(lines).replace("LW_API ", "").replace("\n\n};", "\n};")
    return re.sub(r"^inline ", "", text, flags=re.M) if language == "cpp" else text


def reference(folder):
    """The page of the headers in a folder."""
    includes = "".join(f'#include "lanewise/{file}"\n' for file, _, _ in PAGES)
    args = ["-x", "c++", "-std=c++20", f"-I{folder.parent}"]
    unit = clang.Index.create().parse("all.hpp", args, unsaved_files=[("all.hpp", includes)])
    out = [
        "# Reference of the headers\n",
        "Made from `include/lanewise/` by `docs/from_headers.py`; [embedding](embedding.md) says how the",
        "parts fit together.\n",
    ]
    for file, title, language in PAGES:
        anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        out.append(f"- [{title}](#{anchor}): `lanewise/{file}`")
    for file, title, language in PAGES:
        out.append(f"\n## {title}\n")
        for comment, code in parts(declarations(unit, folder / file, language).splitlines()):
            if (
                comment
                and not code
                and (section := re.match(r"/\* -{4} (.*?) -+ \*/", comment[0]))
            ):
                out.append(f"### {section[1][0].upper()}{section[1][1:]}\n")
                continue
            words = plain(comment)
            if words:
                out.append(words + "\n")
            if code:
                out.append("\n".join([f"```{language}", *code, "```\n"]))
    return "\n".join([*out, ""])
