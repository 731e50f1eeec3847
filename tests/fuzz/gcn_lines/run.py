#!/usr/bin/env python3
"""Random lines of GCN text, assembled here and by llvm-mc: bytes and refusals must be the same.

usage: run.py LANEWISE TEMPLATES... [--lines N] [--seed S] [--targets gfx600,gfx700,gfx803] [--show N]

TEMPLATES are tables of `target, text, bytes` (gcn_words.tsv, gcn_lines.tsv and their like). A line is one of them
with other numbers, registers, signs and modifiers; a third of the lines keeps its operands' kinds. What the guide
(docs/gcn.md) says is deliberately other than in LLVM counts apart.
"""
import argparse
import collections
import random
import re
import subprocess
import tempfile

FLOATS = ["1.5", "0.5", "-0.5", "1.0", "-1.0", "2.0", "-4.0", "4.0", "0.0", "-0.0", "0.1", "1.374", "1e-3", "3.0e10",
          "65504.0", "1.0e300", "0.15915494", "0x1.8p3", "123456.789", "1e-40", "6.1e-5"]
INTEGERS = ["0", "1", "64", "65", "-1", "-16", "-17", "17", "0x3f800000", "0x3c00", "65535", "65536", "-32768", "0xffff",
            "0x7fffffff", "0xffffffff", "-2147483648", "100000", "0x3fc00000", "0b101", "017", "0x123456789"]
SPECIAL = ["vcc", "vcc_lo", "vcc_hi", "exec", "exec_lo", "exec_hi", "m0", "scc", "vccz", "execz", "flat_scratch", "tba",
           "ttmp6", "ttmp[4:5]", "off"]
MODIFIERS = ["offset:4", "offset:4095", "glc", "slc", "tfe", "offen", "idxen", "addr64", "lds", "gds", "clamp", "mul:2",
             "div:2", "mul:4", "offset0:3", "offset1:9", "quad_perm:[0,1,2,3]", "row_shl:1", "bound_ctrl:0",
             "dst_sel:BYTE_1", "src0_sel:WORD_1", "src1_sel:DWORD", "dst_unused:UNUSED_PAD", "row_mask:0xf",
             "bank_mask:0x3"]
REGISTER = re.compile(r"^([sv])(\d+)$|^([sv])\[(\d+):(\d+)\]$")


def register(kind, count, r):
    first = r.choice([0, 1, 2, 4, 8, 12, 97, 100]) if kind == "s" else r.choice([0, 1, 3, 100, 250, 255])
    if kind == "s" and count > 1 and r.random() < 0.9:
        first -= first % min(count, 4)
    return f"{kind}{first}" if count == 1 else f"{kind}[{first}:{first + count - 1}]"


def width_of(operand):
    found = REGISTER.match(operand)
    if not found:
        return None, 1
    return found[1] or found[3], 1 if found[1] else int(found[5]) - int(found[4]) + 1


def other_operand(operand, r, wild):
    kind, count = width_of(operand.strip("-|"))
    number = bool(re.match(r"^-?[0-9.]", operand))
    choice = r.random()
    if not wild:
        if kind:
            return register(kind, count, r)
        return r.choice(INTEGERS if number and "." not in operand else FLOATS) if number else operand
    if choice < 0.35:
        return r.choice(FLOATS)
    if choice < 0.6:
        return r.choice(INTEGERS)
    if choice < 0.75:
        return register(r.choice("sv"), count if r.random() < 0.8 else r.choice([1, 2, 4]), r)
    if choice < 0.85:
        return r.choice(SPECIAL)
    return r.choice(["-{}", "|{}|", "-|{}|", "neg({})", "abs({})", "{}"]).format(operand.strip("-|"))


def split(rest):
    """Operands, and the modifiers behind the last one."""
    parts, depth, at = [], 0, 0
    for n, c in enumerate(rest):
        depth += (c in "[(") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(rest[at:n].strip())
            at = n + 1
    last = rest[at:].strip()
    head, _, tail = last.partition(" ")
    return parts + [head], tail.split() if tail else []


def mutate(text, r):
    name, _, rest = text.partition(" ")
    if not rest or ":" in rest.split(" ")[0] and "[" not in rest.split(" ")[0]:
        return text
    operands, modifiers = split(rest)
    for _ in range(r.choice([1, 1, 1, 2, 2, 3])):
        n = r.randrange(len(operands))
        operands[n] = other_operand(operands[n], r, r.random() < 0.67)
    if r.random() < 0.12:
        modifiers.insert(r.randrange(len(modifiers) + 1), r.choice(MODIFIERS))
    elif modifiers and r.random() < 0.1:
        modifiers.pop(r.randrange(len(modifiers)))
    return f"{name} {', '.join(operands)} {' '.join(modifiers)}".strip()


def theirs(lines, target):
    with tempfile.NamedTemporaryFile("w", suffix=".s") as f:
        f.write("\n".join(lines) + "\n")
        f.flush()
        tool = next(t for t in ("llvm-mc-14", "llvm-mc") if subprocess.run(["which", t], capture_output=True).returncode == 0)
        p = subprocess.run([tool, "-arch=amdgcn", f"-mcpu={target}", "--show-encoding", f.name], capture_output=True, text=True)
    refused = {int(m) for m in re.findall(re.escape(f.name) + r":(\d+):\d+: error", p.stderr)}
    found = re.findall(r"encoding: \[([^\]]*)\]", p.stdout)
    bytes_of = iter("".join(b[2:] for b in e.split(",")) for e in found)
    return [None if n + 1 in refused else next(bytes_of) for n in range(len(lines))]


def ours(lanewise, lines, target):
    """The lines that are refused, which the assembler names a few at a time, and the words of the others."""
    refused = set()
    with tempfile.TemporaryDirectory() as folder:
        name = folder + "/lines.s"
        while True:
            with open(name, "w", encoding="utf-8") as f:
                f.write("\n".join("s_nop 0" if n + 1 in refused else line for n, line in enumerate(lines)) + "\n")
            p = subprocess.run([lanewise, "asm", "--isa", "gcn", "--target", target, "--tsv", name], capture_output=True,
                               text=True)
            more = {int(m) for m in re.findall(r":(\d+):\d+: error", p.stderr)} - refused
            if not more:
                break
            refused |= more
    if p.returncode != 0:
        raise SystemExit(f"{target}: {p.stderr[:500]}")
    return refused, [row.split("\t") for row in p.stdout.splitlines() if row and row[0] != "#"]


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("lanewise")
    p.add_argument("templates", nargs="+")
    p.add_argument("--lines", type=int, default=3000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--targets", default="gfx600,gfx700,gfx803")
    p.add_argument("--show", type=int, default=20)
    a = p.parse_args()
    texts = collections.defaultdict(lambda: collections.defaultdict(list))
    for name in a.templates:
        for line in open(name, encoding="utf-8"):
            cells = line.rstrip("\n").split("\t")
            if line[0] != "#" and len(cells) >= 3 and cells[2] != "REFUSED":
                texts[cells[0]][cells[1].split(" ")[0]].append(cells[1])
    different = 0
    for target in a.targets.split(","):
        r = random.Random(f"{a.seed} {target}")
        rows = texts[target] or {k: v for t in texts.values() for k, v in t.items()}
        names = sorted(rows)
        lines = [mutate(r.choice(rows[names[n % len(names)]]), r) for n in range(a.lines)]
        want = theirs(lines, target)
        refused, words = set(), []
        for begin in range(0, len(lines), 1000):
            part, rows_of_part = ours(a.lanewise, lines[begin:begin + 1000], target)
            refused |= {begin + n for n in part}
            words += rows_of_part
        shown = collections.Counter()
        for n, line in enumerate(lines):
            own = None if n + 1 in refused else words[n][1]
            if own == want[n]:
                continue
            kind = "accepted here" if want[n] is None else "refused here" if own is None else "other bytes"
            shown[kind] += 1
            if shown[kind] <= a.show:
                print(f"{target}\t{kind}\t{line}\t{own}\t{want[n]}")
        different += sum(shown.values())
        print(f"{target}: {len(lines)} lines, {sum(w is None for w in want)} refused by LLVM, different: {dict(shown)}")
    return different != 0


if __name__ == "__main__":
    raise SystemExit(main())
