#!/usr/bin/env python3
"""Draws docs/images/architecture.svg from the libraries that runtime/CMakeLists.txt makes.

    architecture.py            writes the picture
    architecture.py --check    fails where the picture is not that of the build

A box is a library, one for each folder (`lanewise_layer(NAME FOLDER LINKS...)`), and the program. It stands above all that
it links; an arrow that others imply is left out. The words in a box are the title of the folder's README.
"""

import pathlib
import re
import sys
from html import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/images/architecture.svg"
WIDTH, HEIGHT, GAP, RISE = 178, 46, 14, 40


def libraries():
    """name -> (folder, names it links)"""
    text = re.sub(r"#.*", "", (ROOT / "runtime/CMakeLists.txt").read_text())
    found = {}
    for name, folder, links in re.findall(r"lanewise_layer\(\s*(\w+)\s+(\S+)([^)]*)\)", text):
        if not folder.startswith(("$", "bench")):  # these stand beside all, and only measure
            found[name] = (folder, re.findall(r"lanewise_(\w+)", links))
    program = re.search(r"target_link_libraries\(\s*lanewise\s+([^)]*)\)", text)
    found["cli"] = ("cli", re.findall(r"lanewise_(\w+)", program.group(1)))
    for name, (folder, links) in found.items():
        found[name] = (folder, [l for l in links if l in found and l != name])
    return found


def below(name, found):
    todo, seen = list(found[name][1]), set()
    while todo:
        link = todo.pop()
        if link not in seen:
            seen.add(link)
            todo += found[link][1]
    return seen


def arrows(found):
    """Links that no other link implies."""
    for name, (_, links) in found.items():
        implied = set().union(*[below(l, found) for l in links]) if links else set()
        for link in dict.fromkeys(links):
            if link not in implied:
                yield name, link


def rows(found):
    """The boxes of each height, and arrows as chains: where one passes a row, a gap (a tuple) is kept for it there."""
    heights = {}

    def height(name):
        if name not in heights:
            heights[name] = 1 + max([height(l) for l in found[name][1]], default=-1)
        return heights[name]

    lines = [[] for _ in range(1 + max(height(n) for n in found))]
    for name in found:
        lines[heights[name]].append(name)
    chains = []
    for a, b in arrows(found):
        gaps = [(a, b, h) for h in range(heights[a] - 1, heights[b], -1)]
        for gap in gaps:
            lines[gap[2]].append(gap)
        chains.append([a, *gaps, b])
    near = {}
    for chain in chains:
        for upper, lower in zip(chain, chain[1:]):
            near.setdefault(upper, []).append(lower)
            near.setdefault(lower, []).append(upper)
    # Each row in the order of what it is linked to, a few times up and down.
    place = {}
    for _ in range(12):
        for line in lines + lines[::-1]:
            known = {n: [place[m] for m in near.get(n, []) if m in place] or [0] for n in line}
            line.sort(key=lambda n: (sum(known[n]) / len(known[n]), str(n)))
            left = -sum(width(n) for n in line) / 2
            for name in line:
                place[name] = left + width(name) / 2
                left += width(name)
    return lines, chains, place


def width(box):
    return (WIDTH if isinstance(box, str) else 16) + GAP


def caption(folder):
    readme = ROOT / "runtime" / folder / "README.md"
    if not readme.exists():
        return ""
    return readme.read_text().split("\n", 1)[0].split(": ", 1)[-1].replace("`", "")


def split(words, most):
    lines = [""]
    for word in words.split():
        if lines[-1] and len(lines[-1]) + len(word) + 1 > most:
            lines.append("")
        lines[-1] = (lines[-1] + " " + word).strip()
    return lines[:2]


def picture():
    found = libraries()
    lines, chains, place = rows(found)
    wide = max(sum(width(n) for n in line) for line in lines) + GAP
    height = len(lines) * (HEIGHT + RISE) + GAP
    top = {n: height - GAP - HEIGHT - i * (HEIGHT + RISE) for i, line in enumerate(lines) for n in line}
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {height:g}" font-family="sans-serif">',
           '<title>The libraries of runtime/ and what they link</title>',
           f'<rect width="{wide:g}" height="{height:g}" fill="#fff"/>']
    for chain in chains:
        x, y = place[chain[0]] + wide / 2, top[chain[0]] + HEIGHT
        path = f"M{x:g} {y:g}"
        for box in chain[1:]:
            to, end, bend = place[box] + wide / 2, top[box], RISE / 2
            path += f" C{x:g} {y + bend:g} {to:g} {end - bend:g} {to:g} {end:g}"
            if not isinstance(box, str):
                path += f" V{end + HEIGHT:g}"
            x, y = to, end + HEIGHT
        out.append(f'<path d="{path}" fill="none" stroke="#8496a8" stroke-width="1.2"/>')
    for name in found:
        x, y = place[name] + wide / 2 - WIDTH / 2, top[name]
        folder = found[name][0]
        text = split(caption(folder), 30)
        out.append(f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="#eef3f8" stroke="#4a6785"/>')
        out.append(f'<text x="{x + WIDTH / 2:g}" y="{y + (16 if text[0] else 27):g}" font-size="12" font-weight="bold" '
                   f'text-anchor="middle" fill="#1c2b3a">{escape(folder)}/</text>')
        for i, words in enumerate(text):
            out.append(f'<text x="{x + WIDTH / 2:g}" y="{y + 29 + i * 11:g}" font-size="10" text-anchor="middle" '
                       f'fill="#1c2b3a">{escape(words)}</text>')
    return "\n".join(out + ["</svg>", ""])


if sys.argv[1:] == ["--check"]:
    if not PICTURE.exists() or PICTURE.read_text() != picture():
        sys.exit(f"{PICTURE.relative_to(ROOT)} is not that of the build: run docs/architecture.py")
else:
    PICTURE.write_text(picture())
