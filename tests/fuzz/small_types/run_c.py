"""Random C of small types through clang, and ptxas or not, beside the host.

usage: run_c.py nv|gcn FIRST COUNT [ptxas levels] [arch]
       run_c.py export FOLDER SEED LEVEL [arch]    a cubin, and its inputs and the host's values

Exit code 1: something differs or is refused; 77: a compiler is not installed."""
import collections
import os
import random
import re
import sys

import c_programs as programs
import common

BATCH = 25
EXPORTED_LANES = 16


def clang(target, level, source, output, *more, errors=None):
    language = ["-x", "cl", "-cl-std=CL2.0", "-fwrapv", "-ffp-contract=off", "-w"]
    common.run("clang-14", *target, "-O" + level, "-o", output, *more, *language, source, stderr=errors)


def to_ptx(texts, level, arch):
    features = ["-Xclang", "-target-feature", "-Xclang", "+ptx75", "-Xclang", "-target-cpu", "-Xclang", arch]
    target = ["-DNVPTX", "-target", "nvptx64-nvidia-cuda", *features, "-S"]
    ptx = common.path("p.ptx")
    clang(target, level, common.write("p.cl", programs.device_file(texts)), ptx)
    return ptx


def to_cubin(ptx, level, arch):
    cubin = common.path(f"p{level}.cubin")
    common.run(common.PTXAS, "-arch=" + arch, "-O" + level, ptx, "-o", cubin)
    return cubin


def to_gcn(texts, level, *more, **how):
    target = [
        "-DGCN",
        "-target",
        "amdgcn-amd-amdhsa",
        "-mcpu=" + os.environ.get("GFX", "gfx803"),
        "-nogpulib",
    ]
    output = common.path("p.co")
    clang(target, level, common.write("p.cl", programs.device_file(texts)), output, *more, **how)
    return output


def clang_level(kind, seed):
    """Without optimisation little of a program is left to look at: one batch in many has none."""
    level = str(random.Random(seed).choice([0, 1, 2, 3, "s"]))
    if level != "0":
        return level
    return ("1" if seed % 2 else "0") if kind == "nv" else ("2" if seed % 4 else "0")


def compiled(kind, seed, texts, levels, arch):
    level = clang_level(kind, seed)
    if kind == "gcn":
        return [("gcn", to_gcn(texts, level))]
    ptx = to_ptx(texts, level, arch)
    return [("ptx", ptx)] + [("O" + n, to_cubin(ptx, n, arch)) for n in levels]


class Tally:
    def __init__(self):
        self.good, self.refused, self.bad, self.clang = collections.Counter(), collections.Counter(), 0, 0

    def values(self, label, seed, kernel, device, inputs, slots):
        output = device.buffer(4 * programs.N_IN * slots)
        try:
            kernel().launch(1, programs.N_IN, inputs, output)
        except Exception as e:
            self.refused[f"{label} seed {seed}: {str(e).splitlines()[0][-160:]}"] += 1
            return None
        return common.unpacked(output.read())

    def judge(self, label, seed, slots, got, want):
        wrong = [n for n in range(len(got)) if got[n] != want[n]]
        if not wrong:
            self.good[label] += 1
            return
        self.bad += 1
        lane, slot = divmod(wrong[0], slots)
        text = f"got {got[wrong[0]]:08x} want {want[wrong[0]]:08x}"
        print(f"BAD {label} seed {seed} lane {lane} slot {slot} {text}", flush=True)

    def finish(self):
        left_out = f", left out for clang's faults {self.clang}" if self.clang else ""
        print(f"good {dict(self.good)} bad {self.bad} refused {sum(self.refused.values())}{left_out}")
        for reason, count in self.refused.most_common(20):
            print("  refused", count, reason)
        return 1 if self.bad or self.refused else 0


def is_clangs_fault(device, text, slots, got, want, inputs, arch):
    """LLVM 14 makes an unsigned bfe of some sign extensions. Then PTX and all cubins agree on another value,
    and PTX without optimisation gives the host's."""
    first = got.get("ptx")
    if first is None or first == want or any(values != first for values in got.values()):
        return False
    module = device.load_file(to_ptx([text], "0", arch))
    return Tally().values("ptx", 0, lambda: module["k"], device, inputs, slots) == want


# LLVM 14: where operands are folded, `or` with -1 becomes a v_mov of the other operand, which is a vector register
# in no other case; the product of a zero-extended word that was sign-extended from 24 bits is a signed one.
GCN_FAULTS = re.compile(r"V_MOV_B32_e32 %\d+\S*:v|V_MUL_HI_I32_I24")
FOLDED = ["-S", "-mllvm", "-print-after=si-fold-operands"]


# A byte that is sign-extended to a word, and that as an unsigned one to 32 bits, becomes the byte sign-extended to 32
# bits where SDWA picks it.
SDWA_FAULT = re.compile(r"v_cvt_f32_u32_sdwa v\d+, sext\(")
NO_SDWA = ["-mllvm", "-amdgpu-sdwa-peephole=0"]


def is_sdwa_fault(device, text, level, slots, want, inputs):
    with open(to_gcn([text], level, "-S"), encoding="utf-8") as file:
        if not SDWA_FAULT.search(file.read()):
            return False
    module = device.load_file(to_gcn([text], level, *NO_SDWA))
    return Tally().values("gcn", 0, lambda: module["k"], device, inputs, slots) == want


def is_gcn_fault(device, text, level, slots, want, inputs):
    """Its code has what LLVM gets wrong, and without optimisation the values are the host's."""
    if is_sdwa_fault(device, text, level, slots, want, inputs):
        return True
    with open(common.path("folded"), "w+", encoding="utf-8") as file:
        to_gcn([text], level, *FOLDED, errors=file)
        file.seek(0)
        if not GCN_FAULTS.search(file.read()):
            return False
    module = device.load_file(to_gcn([text], "0"))
    return Tally().values("gcn", 0, lambda: module["k"], device, inputs, slots) == want


def compare(kind, first, count, levels, arch):
    import lanewise

    device, tally = lanewise.Device(common.DEVICE), Tally()
    for seed in range(first, first + count, BATCH):
        batch = [programs.program(f"k{n}", seed + n) for n in range(min(BATCH, first + count - seed))]
        texts = [text for text, _ in batch]
        host = common.Host(programs.host_file(texts), "-DHOST")
        data = common.words(seed, 4 * programs.N_IN)
        inputs = device.buffer(common.array(data))
        files = compiled(kind, seed, texts, levels, arch)
        modules = [(label, device.load_file(file)) for label, file in files]
        for n, (_, slots) in enumerate(batch):
            want = host.values(n, data, programs.N_IN, slots)
            got = {}
            for label, module in modules:
                values = tally.values(label, seed + n, lambda: module[f"k{n}"], device, inputs, slots)
                if values is not None:
                    got[label] = values
            alone, _ = programs.program("k", seed + n)
            level = clang_level(kind, seed)
            of_gcn = got.get("gcn", want) != want
            if is_clangs_fault(device, alone, slots, got, want, inputs, arch) or (
                of_gcn and is_gcn_fault(device, alone, level, slots, want, inputs)
            ):
                tally.clang += 1
                continue
            for label, values in got.items():
                tally.judge(label, seed + n, slots, values, want)
    return tally.finish()


def export(folder, seed, level, arch):
    """The values: as many bytes a lane as it has inputs and outputs, inputs first."""
    text, slots = programs.program("k", seed)
    ptx = to_ptx([text], clang_level("nv", seed - seed % BATCH), arch)
    name = os.path.join(folder, f"seed{seed}.O{level}")
    os.replace(to_cubin(ptx, level, arch), name + ".cubin")
    data = common.words(seed, 4 * programs.N_IN)
    want = common.Host(programs.host_file([text]), "-DHOST").values(0, data, programs.N_IN, slots)
    with open(name + ".values", "wb") as file:
        file.write(
            bytes(common.array(data[: 4 * EXPORTED_LANES]))
            + bytes(common.array(want[: slots * EXPORTED_LANES]))
        )
    return 0


def main(kind, *rest):
    common.need("clang-14", "gcc", *([] if kind == "gcn" else [common.PTXAS]))
    if kind == "export":
        folder, seed, level, arch = (*rest, "sm_50")[:4]
        return export(folder, int(seed), level, arch)
    first, count, levels, arch = (*rest, *["0,1,2,3", "sm_50"][len(rest) - 2 :])
    return compare(kind, int(first), int(count), levels.split(","), arch)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) >= 4 else __doc__)
