#!/usr/bin/env python3
"""Writes docs/api-reference.md from the installed headers: each declaration with its comment.

    api_reference.py HEADERS > api-reference.md

The headers are the source; the page is never edited. A test compares the two.
"""

import pathlib
import re
import sys

PAGES = [
    ("lanewise.h", "The C API", "c"),
    ("vulkan.h", "The C API inside a Vulkan program", "c"),
    ("lanewise.hpp", "C++: devices", "cpp"),
    ("module.hpp", "C++: programs and kernels", "cpp"),
    ("buffer.hpp", "C++: buffers and arguments", "cpp"),
    ("launch.hpp", "C++: plain data of launches", "cpp"),
    ("result.hpp", "C++: results", "cpp"),
    ("policies.hpp", "C++: the policies of a launch that ran", "cpp"),
    ("queue.hpp", "C++: queues", "cpp"),
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


def without_frame(text):
    """The header without what the preprocessor and namespaces need."""
    text = re.sub(r"\\\n\s*", " ", text)
    keep = []
    for line in text.splitlines():
        if re.match(r"#(pragma|include|ifndef|ifdef|if |else|endif|define (LANEWISE|LW_API))", line):
            continue
        if re.match(r"(extern \"C\" \{|namespace lanewise \{|\}  // namespace lanewise)", line):
            continue
        if line == "}":  # of extern "C"
            if not keep or not keep[-1].startswith((" ", "\t")):
                continue
        keep.append(line)
    text = "\n".join(keep)
    text = re.sub(r"namespace detail \{.*?\}  // namespace detail\n", "", text, flags=re.S)
    return text.replace("LW_API ", "")


def without_bodies(text):
    """C++ declarations alone: function bodies and lists of initialisers go, with what forwards to C."""
    out, statement, skipped = [], "", 0
    text = text.replace("= {}", "= \0")  # a default is no body
    for line in text.splitlines():
        bare = re.sub(r"//.*", "", line)
        if skipped == 0:
            statement += bare
            opens = bare.find("{")
            head = statement[: statement.rfind("{")] if opens >= 0 else statement
            function = "(" in head and not re.search(r"\b(class|struct|enum|namespace)\s+\w+[^()]*$", head)
            if opens >= 0 and function and not bare.strip().startswith("#"):
                cut = re.sub(r"\s*$", "", line[:opens])
                joined = "\n".join(out + [cut])
                # The constructor's initialisers may have begun lines before.
                start = joined.rfind(") :")
                lone = re.search(r"\)\s*(//[^\n]*)?\n\s+:[^\n]*(\n[^\n;{}]*)*$", joined)
                if lone:
                    joined = joined[: lone.start() + 1] + "  " + (lone[1] or "")
                elif start >= 0 and "\n" not in joined[start:]:
                    joined = joined[: start + 1]
                comment = re.search(r"\s*(//[^\n]*)$", joined.splitlines()[-1])
                if comment:
                    joined = joined[: -len(comment[0])] + ";  " + comment[1]
                else:
                    joined = joined.rstrip() + ";"
                out = joined.split("\n")
                skipped = bare[opens:].count("{") - bare[opens:].count("}")
                statement = ""
                continue
            out.append(line)
            if re.search(r"[;{}:]\s*$", bare):
                statement = ""
        else:
            skipped += bare.count("{") - bare.count("}")
    text = "\n".join(out).replace("\0", "{}").replace("\n\n};", "\n};")
    return re.sub(r"^inline ", "", text, flags=re.M)


def shown(code):
    """Declarations as they stand, without the bodies of inline functions and private parts."""
    text = "\n".join(code)
    text = re.sub(r"\n private:\n.*?(?=\n\};)", "", text, flags=re.S)
    text = re.sub(r"(static inline [^{]*?)\s*\{.*?\n\}", r"\1;", text, flags=re.S)
    return text


def main():
    folder = pathlib.Path(sys.argv[1])
    print("# Reference of the headers\n")
    print("Made from `include/lanewise/` by `docs/api_reference.py`; [embedding](embedding.md) says how the")
    print("parts fit together.\n")
    for file, title, language in PAGES:
        anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        print(f"- [{title}](#{anchor}): `lanewise/{file}`")
    for file, title, language in PAGES:
        print(f"\n## {title}\n")
        text = without_frame((folder / file).read_text())
        if language == "cpp":
            text = re.sub(r"\n private:\n.*?(?=\n\};)", "", text, flags=re.S)
            text = without_bodies(text)
        for comment, code in parts(text.splitlines()):
            if (
                comment
                and not code
                and (section := re.match(r"/\* -{4} (.*?) -+ \*/", comment[0]))
            ):
                print(f"### {section[1][0].upper()}{section[1][1:]}\n")
                continue
            words = plain(comment)
            if words:
                print(words + "\n")
            if code:
                print(f"```{language}\n{shown(code)}\n```\n")


main()
