"""Random PTX of small types, and what ptxas makes of it, beside the host.

usage: run_ptx.py pairs|random FIRST COUNT [ptxas levels] [arch]

pairs: programs FIRST and on of those that hold every operation that makes a 16-bit value with every one that
reads it. Exit code 1: something differs or is refused; 77: a compiler is not installed."""
import collections
import random
import sys

import common
import ptx_programs as programs

BATCH = 25


def run_kernel(device, module, program, inputs):
    import lanewise

    output = device.buffer(4 * programs.N_IN * program.slots)
    module[program.name].launch(1, programs.N_IN, inputs, output, lanewise.i8(-93), lanewise.u16(0xC3D5))
    return common.unpacked(output.read())


def wrong_slots(program, got, want):
    for n in range(len(got)):
        if got[n] != want[n]:
            lane, slot = divmod(n, program.slots)
            yield slot, f"lane {lane} slot {slot} got {got[n]:08x} want {want[n]:08x}"


def main(kind, first, count, levels="0,1,2,3", arch="sm_50"):
    common.need("gcc", common.PTXAS)
    import lanewise

    device = lanewise.Device(common.DEVICE)
    first, count = int(first), int(count)
    if kind == "pairs":
        all_programs = programs.pairs(60)[first : first + count]
    else:
        all_programs = [
            programs.random_program(f"k{s}", random.Random(s)) for s in range(first, first + count)
        ]
    bad, refused, runs = {}, collections.Counter(), 0
    for at in range(0, len(all_programs), BATCH):
        batch = all_programs[at : at + BATCH]
        data = common.words(first + at, 4 * programs.N_IN)
        host = common.Host(programs.c_file(batch), "-frounding-math")
        ptx = common.write("p.ptx", programs.ptx_file(batch, arch))
        modules = [("ptx", device.load_file(ptx))]
        for level in levels.split(","):
            cubin = common.path(f"p{level}.cubin")
            common.run(common.PTXAS, "-arch=" + arch, "-O" + level, ptx, "-o", cubin)
            modules.append(("O" + level, device.load_file(cubin)))
        inputs = device.buffer(common.array(data))
        for n, program in enumerate(batch):
            want = host.values(n, data, programs.N_IN, program.slots)
            for label, module in modules:
                runs += 1
                try:
                    got = run_kernel(device, module, program, inputs)
                except Exception as e:
                    refused[f"{label} {program.name}: {str(e).splitlines()[0][-150:]}"] += 1
                    continue
                for slot, text in wrong_slots(program, got, want):
                    what = program.what[slot] if program.what else program.name
                    bad.setdefault((label, what), text)
    print("runs", runs, "bad", len(bad), "refused", sum(refused.values()))
    for (label, what), text in list(bad.items())[:40]:
        print("  BAD", label, what, text)
    for reason, number in refused.most_common(20):
        print("  refused", number, reason)
    return 1 if bad or refused else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) >= 4 else __doc__)
