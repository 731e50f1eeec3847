#!/usr/bin/env python3
"""Processor time of a translation by what its instructions are: microseconds an instruction.

    translation.py LANEWISE [INSTRUCTIONS...]

Each kind of kernel is translated for the profile vega10 by a process of its own, whose time is all of the command's. The default
is 20,000 and 80,000 instructions: what is linear costs the same in both.
"""

import os
import resource
import subprocess
import sys
import tempfile

HEAD = """.version 7.8
.target sm_60
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
.reg .pred %p<PREDICATES>;
.reg .b32 %r<REGISTERS>;
.reg .b64 %d<8>;
ld.param.u64 %d1, [p];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mul.wide.u32 %d2, %r2, 4;
add.u64 %d3, %d1, %d2;
"""


def straight(i):
    return [f"xor.b32 %r{3 + i % 8}, %r{3 + (i + 3) % 8}, %r{1 + i % 2};", f"add.u32 %r{3 + (i + 1) % 8}, %r{3 + i % 8}, %r{3 + (i + 5) % 8};"]


def branches(i):
    return [f"setp.lt.u32 %p1, %r{3 + i % 4}, %r1;", f"@%p1 bra L{i};", f"add.u32 %r{3 + (i + 1) % 4}, %r{3 + i % 4}, {i};", f"L{i}:",
            f"xor.b32 %r{3 + i % 4}, %r{3 + i % 4}, %r2;"]


def own_registers(i):
    """As compilers write them: a register for each value."""
    r = 12 + 2 * i
    return [f"setp.lt.u32 %p{i + 2}, %r{r}, %r1;", f"mov.u32 %r{r + 1}, %r{r};", f"@%p{i + 2} bra L{i};", f"add.u32 %r{r + 1}, %r{r}, {i};",
            f"L{i}:", f"xor.b32 %r{r + 2}, %r{r + 1}, %r2;"]


def loops(i):
    return ["mov.u32 %r11, 0;", f"L{i}:", "add.u32 %r3, %r3, %r11;", "add.u32 %r11, %r11, 1;", "setp.lt.u32 %p1, %r11, %r1;",
            f"@%p1 bra L{i};"]


def guarded_stores(i):
    return [f"setp.lt.u32 %p1, %r2, {i * 7 % 5000};", f"@%p1 st.global.u32 [%d3+{4 * i}], %r{3 + i % 4};"]


def accesses(i):
    return [f"ld.global.u32 %r{3 + i % 4}, [%d3+{8 * i}];", f"st.global.u32 [%d3+{8 * i + 4}], %r{3 + (i + 1) % 4};"]


def accesses_again(i):
    """To 999 places, over and over: what is asked of one place holds for the rest of the kernel."""
    return [f"ld.global.u32 %r{3 + i % 4}, [%d3+{4 * (i % 999)}];", f"st.global.u32 [%d3+{4 * (i * 7 % 999)}], %r{3 + (i + 1) % 4};"]


def kernel(kind, instructions):
    body, count, i = [f"mov.u32 %r{r}, %r2;" for r in range(3, 13)], 0, 0
    while count < instructions:
        lines = kind(i)
        body += lines
        count += sum(not line.endswith(":") for line in lines)
        i += 1
    own = kind is own_registers
    head = HEAD.replace("PREDICATES", str(i + 2 if own else 2)).replace("REGISTERS", str(2 * i + 13 if own else 13))
    last = 12 + 2 * i if own else 3
    return head + "\n".join(body) + f"\nst.global.u32 [%d3], %r{last};\nret;\n}}\n"


def seconds(program, text, folder):
    path = os.path.join(folder, "kernel.ptx")
    with open(path, "w") as file:
        file.write(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "translate", path, "--device", "profile:vega10", "--block", "64", "--emit", "spirv", "-o",
                    os.path.join(folder, "kernel.spv")], check=True, env={**os.environ, "LANEWISE_CACHE_DIR": "off"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    sizes = [int(n) for n in sys.argv[2:]] or [20000, 80000]
    with tempfile.TemporaryDirectory() as folder:
        for kind in (straight, branches, own_registers, loops, guarded_stores, accesses, accesses_again):
            figures = [f"{seconds(sys.argv[1], kernel(kind, n), folder) * 1e6 / n:8.1f}" for n in sizes]
            print(f"{kind.__name__.replace('_', ' '):16}", *figures)


if __name__ == "__main__":
    main()
