#!/usr/bin/env python3
"""Random lines of GCN text, assembled here and by llvm-mc: bytes and refusals must be the same.

usage: run.py LANEWISE TEMPLATES... [--lines N] [--seed S] [--targets gfx600,gfx700,gfx803] [--show N]

TEMPLATES are tables of `target, text, bytes` (gcn_words.tsv, gcn_lines.tsv and their like). A line is one of them
with other numbers, registers, signs and modifiers; a third of the lines keeps its operands' kinds. Verdicts that are
deliberately other than LLVM's (docs/gcn.md, "Text") count apart, by kind. The exit code is 0 when no other line differs.
"""
import argparse
import collections
import random
import re
import shutil
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
LLVM_MC = "llvm-mc-14"
REGISTER = re.compile(r"^([sv])(\d+)$|^([sv])\[(\d+):(\d+)\]$")

FLAG = r"((?:no)?glc|slc|tfe|lds|gds|offen|idxen|addr64|clamp|mul:|div:|offset|[dn]fmt|format:|dmask|unorm|da|r128|lwe|\w+_sel:|dst_unused|row_|bank_|quad_|bound_)"
# Verdict here, what the list in docs/gcn.md says, and lines that are of this kind.
LISTED = [(verdict, what, re.compile(line)) for verdict, what, line in [
    ("refused here", "names that the file does not define", r".*[ (|-]off\b"),
    ("refused here", "abs and clamp of v_div_scale", r"v_div_scale_"),
    ("refused here", "offsets of buffers beyond their field", r"t?buffer_.* offset:"),
    ("refused here", "-0.0 as a distance", r"s_c?branch_\w+ .*-0.0$"),
    ("refused here", "flags in the place of a left-out offset", rf"s_(buffer_)?load_\w+ \S+, \S+ {FLAG}"),
    ("refused here", "lds of wide loads", r"buffer_load_\w*x\d.* lds"),
    ("refused here", "image_sample_*_g16, v_nop_sdwa, v_nop_dpp", r"image_sample\w*_g16|v_nop_(sdwa|dpp)"),
    ("refused here", "m0 as the source of v_interp in the long form", r"v_interp_p\d_f\w+_e64 \S+, m0"),
    ("other bytes", "the upper half of negative 16-bit integers that are a code as a half", r"v_\w+[iu]16\w* .*-"),
    ("taken here", "signs of constants where vcc is left out", r"v_cmp\w* .*(abs|neg|\|)"),
    ("taken here", "m0 as the lane of v_writelane beside a scalar", r"v_writelane_b32 .*\bm0$"),
    ("taken here", "tfe of atomics", r"\w+_atomic_.* tfe"),
    ("taken here", "buffer_atomic_rsub", r"buffer_atomic_rsub"),
    ("taken here", "signs of v_cndmask_b32_sdwa", r"v_cndmask_b32_sdwa"),
    ("taken here", "compares with DPP", r"v_cmp\w*_dpp"),
    ("taken here", "flags in any order", rf".* {FLAG}\S* .*{FLAG}"),
]]


def kind_of(verdict, line):
    return next((what for v, what, lines in LISTED if v == verdict and lines.match(line)), None)


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
    """LLVM's bytes of each line, None where it refuses, "" where its assembler does not survive the line."""
    with tempfile.NamedTemporaryFile("w", suffix=".s") as f:
        f.write("\n".join(lines) + "\n")
        f.flush()
        p = subprocess.run([LLVM_MC, "-arch=amdgcn", f"-mcpu={target}", "--show-encoding", f.name], capture_output=True, text=True)
        refused = {int(m) for m in re.findall(re.escape(f.name) + r":(\d+):\d+: error", p.stderr)}
    if p.returncode < 0:
        half = len(lines) // 2
        return [""] if len(lines) == 1 else theirs(lines[:half], target) + theirs(lines[half:], target)
    bytes_of = iter("".join(b[2:] for b in e.split(",")) for e in re.findall(r"encoding: \[([^\]]*)\]", p.stdout))
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
    if shutil.which(LLVM_MC) is None:
        print("llvm-mc-14 is not installed")
        return 77
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
        shown, listed = collections.Counter(), collections.Counter()
        for n, line in enumerate(lines):
            own = None if n + 1 in refused else words[n][1]
            if own == want[n] or want[n] == "":
                continue
            verdict = "taken here" if want[n] is None else "refused here" if own is None else "other bytes"
            kind = kind_of(verdict, line)
            listed[f"{verdict}: {kind}"] += kind is not None
            shown[verdict] += kind is None
            if kind is None and shown[verdict] <= a.show:
                print(f"{target}\t{verdict}\t{line}\t{own}\t{want[n]}")
        different += sum(shown.values())
        print(f"{target}: {len(lines)} lines, {sum(w is None for w in want)} refused by LLVM, {sum(listed.values())} listed, "
              f"{sum(shown.values())} not listed {dict(+shown)}")
        for kind, count in listed.most_common():
            if count:
                print(f"    {count} {kind}")
    return different != 0


if __name__ == "__main__":
    raise SystemExit(main())
