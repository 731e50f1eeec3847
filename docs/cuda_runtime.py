#!/usr/bin/env python3
"""Makes docs/cuda-runtime.md of the rows in runtime/host/cuda: each entry point of the CUDA runtime, what it takes, its state.

    cuda_runtime.py            writes the page
    cuda_runtime.py --check    fails where the page is not current, or a name of the list of entry points has no row
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "runtime/host/cuda"
PAGE = ROOT / "docs/cuda-runtime.md"
HEAD = """# The CUDA runtime

**You want to know whether your program's calls are served.** Each entry point of CUDA 11, 12 and 13 has a row; what is refused answers
`cudaErrorNotSupported`, and one line on standard error names it. `lanewise exec` runs programs; this page is made from the rows
of [`runtime/host/cuda`](../runtime/host/README.md) by `docs/cuda_runtime.py`.

- All streams share one queue in the order of the calls: results are those of one order that streams allow, the same in every run. Waiting
  for one stream waits for all that was put in before.
- What a kernel did wrong is found when a call waits for it, and stays until `cudaDeviceReset`; the report appears once on standard
  error. Accesses to freed memory and reads of unwritten memory (`LANEWISE_CHECK=init`) are reported, and fail no call. `printf` comes out
  when a call waits.
- A device pointer is an address that the host never has. Pinned and managed memory has one address for both sides; where the device
  cannot reach host memory in place, both sides have a copy, and bytes that one of them changed are brought to the other at launches and
  waiting calls (`LANEWISE_HOST_MEMORY=copy` does so everywhere).
- The device is one GPU by public figures: a Tesla T4, or the one of `LANEWISE_GPU` ({gpus}). Its memory is at most that of the device
  that runs the kernels. Of registers, which decide occupancy on a GPU, nothing is known here: 32 are reported.
- Cooperative launches are of one thread block.

"""


def rows():
    """name -> (parameters, state, reason), in the order of the names"""
    found = {}
    for path in sorted(SOURCES.glob("*.cpp")):
        text = re.sub(r"//[^\n]*", "", path.read_text())
        needs = re.search(r"#define NEEDS (.*)", text)
        for name, parameters in re.findall(r"^ENTRY\(\s*(\w+),\s*\((.*?)\)\)\s*\{", text, re.M | re.S):
            if needs:
                parameters = parameters.replace("NEEDS", needs[1])
            found[name] = (tidy(parameters), "done", "")
        for name, parameters in re.findall(r"^LANEWISE_ENTRY (?:const )?[\w:*]+ ?\*{0,2} ?\**(\w+)\((.*?)\) \{", text, re.M | re.S):
            found[name] = (tidy(parameters), "done", "")
        for name, why in re.findall(r'^REFUSED\((\w+),\s*"([^"]*)"\)', text, re.M):
            found[name] = ("", "refused", why)
        for name, first in re.findall(r"^ALSO\((\w+),\s*(\w+)\);", text, re.M):
            found[name] = ("", "as", first)
    return {n: r for n, r in sorted(found.items()) if not n.startswith("lanewise_")}


def tidy(parameters):
    text = re.sub(r"/\*(\w+)\*/", r"\1", re.sub(r"\s+", " ", parameters.strip()))
    text = re.sub(r"\bStreamHandle\b", "cudaStream_t", re.sub(r"\bEventHandle\b", "cudaEvent_t", text))
    return re.sub(r" ?([*&]) ?(?=[\w*])", r"\1 ", text).replace("* *", "**")


def gpus():
    text = (ROOT / "runtime/host/core/gpu.cpp").read_text()
    return ", ".join(f"`{n}`" for n in re.findall(r'Gpu\{"(\w+)"', text))


def page():
    all_rows = rows()
    aliases = {}
    for name, (_, state, first) in all_rows.items():
        if state == "as":
            while first.startswith("lanewise_"):
                first = first.split("_", 2)[2]
            aliases.setdefault(first, []).append(name)
    lines = [HEAD.replace("{gpus}", gpus())]
    done = {n: r for n, r in all_rows.items() if r[1] == "done"}
    refused = {n: r for n, r in all_rows.items() if r[1] == "refused"}
    also = sum(map(len, aliases.values()))
    lines.append(f"{len(done)} are done, and {also} more names of them; {len(refused)} are refused.\n\n## Done\n")
    lines.append("| entry point | takes | also |\n|---|---|---|")
    for name, (parameters, _, _) in done.items():
        others = ", ".join(f"`{o}`" for o in aliases.get(name, []))
        lines.append(f"| `{name}` | {'`' + parameters + '`' if parameters else ''} | {others} |")
    lines.append("\n## Refused\n\n| why | entry points |\n|---|---|")
    by_reason = {}
    for name, (_, _, why) in refused.items():
        by_reason.setdefault(why, []).append(name)
    for why, names in sorted(by_reason.items()):
        lines.append(f"| {why} | {', '.join(f'`{n}`' for n in names)} |")
    return "\n".join(lines) + "\n"


def main():
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text)
        return 0
    failed = 0
    if not PAGE.exists() or PAGE.read_text() != text:
        print("docs/cuda-runtime.md is not current: run docs/cuda_runtime.py")
        failed = 1
    names = ROOT / "runtime/host/exec/cudart_names.def"
    known = rows()
    for name in re.findall(r"NAME\((\w+)\)", names.read_text()) if names.exists() else []:
        if name not in known:
            print(f"{name} has no row in runtime/host/cuda")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
