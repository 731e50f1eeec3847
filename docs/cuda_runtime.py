#!/usr/bin/env python3
"""Makes docs/cuda-runtime.md, docs/cuda-driver.md and docs/hip.md of the rows in runtime/host/{cuda,driver,hip}: each entry
point, what it takes, its state.

    cuda_runtime.py            writes the pages
    cuda_runtime.py --check    fails where a page is not current
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNTIME_HEAD = """# The CUDA runtime

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
- The device is one GPU by public figures: a Tesla T4, or the one of `LANEWISE_GPU` ({gpus}); several
  names make [several devices](exec.md). Their memory is at most that of the device that runs the kernels, and they share the heap of kernels. Of registers, which decide occupancy on a GPU, nothing is known here: 32 are reported.
- Blocks of a cooperative launch may wait for each other on the reference engine, as many as the occupancy of the GPU allows. Other
  devices promise to run one at a time: a larger grid answers `cudaErrorCooperativeLaunchTooLarge`, and a line names the limit.
- Kernels allocate from a heap of 8 MiB, or as `cudaDeviceSetLimit` says before its first use; where it is used up, `malloc` is
  null, and one line states that. `LANEWISE_CHECK=leaks` lists what is left at the end.

"""

DRIVER_HEAD = """# The CUDA driver API

**You want to know whether your launcher's calls are served.** Each documented entry point of CUDA 11 to 13 has a row; what is refused
answers `CUDA_ERROR_NOT_SUPPORTED`, and one line on standard error names it. `lanewise exec` gives programs a `libcuda.so.1`, whether they
link it, open it, or ask `cuGetProcAddress` for each function; this page is made from the rows of
[`runtime/host/driver`](../runtime/host/README.md) by `docs/cuda_runtime.py`.

- Device, memory, streams and errors are those of [the runtime](cuda-runtime.md), and a program may call both: the runtime's contexts are the
  primary ones of the devices. Other contexts have memory and modules of their own, which `cuCtxDestroy` gives back; errors of kernels end with it.
- Modules are PTX, cubins for sm_50 to sm_62 and fat binaries. Errors of the loader go to the buffer of `CU_JIT_ERROR_LOG_BUFFER`, else
  to standard error.
- `cuLink*` joins PTX texts and fat binaries. What it makes is an image that the loader links: a copy of it can be loaded, nothing else
  reads it. Machine code is not linked.
- A kernel of a library is launched like a function. Names without a version (`cuMemAlloc`) whose addresses have 32 bits are
  refused; headers name the second version.
- Reserved addresses take device memory from the start; an access to what is not mapped is a fault. One memory is mapped at one address at a
  time, and can be read and written there.
- Per-thread default streams (`_ptsz`, `_ptds`) are the queue that all streams share.

"""

HIP_HEAD = """# HIP programs for GCN3

**You have a HIP program, and no card that ROCm still serves.** Build it for gfx803 and put `lanewise exec` before it:

```sh no-test
hipcc --offload-arch=gfx803 app.cpp -o app
lanewise exec ./app
```

`lanewise exec` gives the program a `libamdhip64.so.5` over the same core as [CUDA's runtime](cuda-runtime.md): streams, memory, events,
errors and options are the same. Kernels run as GCN3 code, 64 lanes to a wave; the program sees an AMD Radeon RX 580 (gfx803).
This page is made from the rows of [`runtime/host/hip`](../runtime/host/README.md) by `docs/cuda_runtime.py`.

- Of a bundle the code object for gfx803 is taken (gfx801, gfx802, gfx700, gfx701 and gfx600 as well). Compressed bundles are refused
  with the option to build without.
- `printf`, `assert`, `malloc` and `free` in kernels go through a thread of the host (hostcall), on devices that reach the host's
  memory in place. The device library's code for them is large: the reference engine runs it at once, lavapipe's compiler takes
  minutes and gigabytes for `printf`, and kernels that allocate nest too deep for it and are refused. The allocator gets 128 MiB in all; where they are used up, `malloc` is null, and one line states that.
  Other services of the host are refused by their number.
- `grid.sync()` is a semaphore of the hardware (`ds_gws_barrier`). It waits in a cooperative launch, on the reference engine or of one group;
  in another launch it ends the wave with an `illegal_instruction` fault that says so.
- A texture or surface object is the address of its descriptors ([images](gcn-images.md)), and a texture reference a variable that has one. Linear
  memory may be as long as 2^27 texels, sides of arrays up to 2^14. hipRTC is not there.
- `hipGetErrorName` and the like go by CUDA's numbers, which are HIP's, too; a freed array is `hipErrorInvalidHandle` here.
- A launch with more threads than a kernel is compiled for (`__launch_bounds__`) is `hipErrorLaunchFailure`.
- What is not listed here answers `hipErrorNotSupported`, and one line on standard error names it.

"""

# Page, its first part, the folder of the rows.
PAGES = [
    ("docs/cuda-runtime.md", RUNTIME_HEAD, "runtime/host/cuda"),
    ("docs/cuda-driver.md", DRIVER_HEAD, "runtime/host/driver"),
    ("docs/hip.md", HIP_HEAD, "runtime/host/hip"),
]


PREFIXES = {"runtime/host/cuda": "(__)?cuda", "runtime/host/driver": "cu[A-Z]", "runtime/host/hip": "(__)?hip"}


def sources(folder):
    """What the runtime has of the driver's stands there."""
    paths = sorted((ROOT / folder).glob("*.cpp"))
    return paths + [ROOT / "runtime/host/driver/runtime_libraries.cpp"] if folder.endswith("cuda") else paths


def rows(folder):
    """name -> (parameters, state, reason), in the order of the names"""
    found = {}
    prefix = PREFIXES[folder]
    reasons = dict(re.findall(r'char (\w+)\[\] =\s*"([^"]*)"', (ROOT / "runtime/host/cuda/reasons.hpp").read_text()))
    for path in sources(folder):
        text = re.sub(r"//[^\n]*", "", path.read_text())
        needs = re.search(r"#define NEEDS (.*)", text)
        entries = re.findall(r"^ENTRY(_PT[SD][ZS])?\(\s*(\w+),\s*\((.*?)\)\)\s*\{", text, re.M | re.S)
        entries += re.findall(r"^SAME(_PTSZ|_WITHOUT_CONTEXT)?\(\s*(\w+),\s*\w+,\s*\((.*?)\),\s*\(", text, re.M | re.S)
        for second, name, parameters in entries:
            found[name] = (tidy(parameters.replace("NEEDS", needs[1]) if needs else parameters), "done", "")
            if second.startswith("_PT"):
                found[name + second.lower()] = ("", "as", name)
        for name, parameters in re.findall(r"^LANEWISE_ENTRY (?:const )?[\w:*]+ ?\*{0,2} ?\**(\w+)\((.*?)\)(?: \{|;)", text, re.M | re.S):
            found[name] = (tidy(parameters), "done", "")
        for second, name, why in re.findall(r'^REFUSED(_PT[SD][ZS])?\((\w+),\s*("[^"]*"|\w+)\)', text, re.M):
            for each in (name, name + second.lower()):
                found[each] = ("", "refused", why[1:-1] if why[0] == '"' else reasons[why])
        for name, first in re.findall(r"^ALSO\((\w+),\s*(\w+)\);", text, re.M):
            found[name] = ("", "as", first)
    return {n: r for n, r in sorted(found.items()) if re.match(prefix, n)}


def tidy(parameters):
    text = re.sub(r"/\*(\w+)\*/", r"\1", re.sub(r"\s+", " ", parameters.strip()))
    text = re.sub(r"\bStreamHandle\b", "cudaStream_t", re.sub(r"\bEventHandle\b", "cudaEvent_t", text))
    for ours, theirs in (("Address", "CUdeviceptr"), ("DriverContext*", "CUcontext"), ("Module*", "CUmodule"), ("Function*", "CUfunction")):
        text = text.replace(ours, theirs)
    return re.sub(r" ?([*&]) ?(?=[\w*])", r"\1 ", text).replace("* *", "**")


def gpus():
    text = (ROOT / "runtime/host/core/gpu_table.hpp").read_text()
    names = re.findall(r'Gpu\{"(\w+)"', text)
    if not names:
        sys.exit("gpu_table.hpp has no GPU")
    return ", ".join(f"`{n}`" for n in names)


def by_kind(folder, done, aliases):
    """Rows by the files that have them, which say in their first line what they are for."""
    lines = ["| kind | entry points |\n|---|---|"]
    for path in sorted((ROOT / folder).glob("*.cpp")):
        text = path.read_text()
        names = [n for n in done if re.search(rf"\b{n}\b[,(]", text) and re.search(rf"^(ENTRY|SAME|LANEWISE_ENTRY)\w*\b[^\n]*\b{n}\b", text, re.M)]
        if not names:
            continue
        kind = re.sub(r"\n// ", " ", re.match(r"// ((?:.*\n)(?:// .*\n)*)", text)[1].strip())
        listed = ", ".join(f"`{n}`" + (" (" + ", ".join(f"`{a}`" for a in aliases[n]) + ")" if n in aliases else "") for n in names)
        lines.append(f"| {kind} | {listed} |")
    return lines


def page(head, folder):
    all_rows = rows(folder)
    aliases = {}
    for name, (_, state, first) in all_rows.items():
        if state == "as":
            while first.startswith("lanewise_"):
                first = first.split("_", 2)[2]
            aliases.setdefault(first, []).append(name)
    lines = [head.replace("{gpus}", gpus())]
    done = {n: r for n, r in all_rows.items() if r[1] == "done"}
    refused = {n: r for n, r in all_rows.items() if r[1] == "refused"}
    also = sum(map(len, aliases.values()))
    lines.append(f"{len(done)} are done, and {also} more names of them" + (f"; {len(refused)} are refused" if refused else "") + ".\n\n## Done\n")
    if not folder.endswith("cuda"):
        lines += by_kind(folder, done, aliases)
    else:
        lines.append("| entry point | takes | also |\n|---|---|---|")
        for name, (parameters, _, _) in done.items():
            others = ", ".join(f"`{o}`" for o in aliases.get(name, []))
            lines.append(f"| `{name}` | {'`' + parameters + '`' if parameters else ''} | {others} |")
    if refused:
        lines.append("\n## Refused\n\n| why | entry points |\n|---|---|")
    by_reason = {}
    for name, (_, _, why) in refused.items():
        by_reason.setdefault(why, []).append(name)
    for why, names in sorted(by_reason.items()):
        lines.append(f"| {why} | {', '.join(f'`{n}`' for n in names)} |")
    return "\n".join(lines) + "\n"


def main():
    failed = 0
    for place, head, folder in PAGES:
        text = page(head, folder)
        if "--check" not in sys.argv:
            (ROOT / place).write_text(text)
            continue
        if not (ROOT / place).exists() or (ROOT / place).read_text() != text:
            print(f"{place} is not current: run docs/cuda_runtime.py")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
