"""usage: run_ptx.py pairs|random FIRST COUNT [levels] [arch]"""
import tempfile, ctypes, random, struct, subprocess, sys, os, collections
import ptx_programs as P
import lanewise
W = tempfile.mkdtemp(); os.makedirs(W, exist_ok=True)
PTXAS = os.environ.get("PTXAS", "ptxas")

def host(programs, data):
    open(f"{W}/p.c", "w").write(P.c_file(programs))
    so = f"{W}/p{os.getpid()}_{random.random()}.so"
    subprocess.run(["gcc", "-O1", "-fwrapv", "-frounding-math", "-ffp-contract=off", "-w", "-shared", "-fPIC", f"{W}/p.c", "-o", so, "-lm"], check=True)
    lib = ctypes.CDLL(so); os.unlink(so)
    out = []
    for n, p in enumerate(programs):
        o = (ctypes.c_uint32 * (P.N_IN * p.slots))()
        lib.run_all(n, (ctypes.c_uint32 * len(data))(*data), o, p.slots)
        out.append(list(o))
    return out

def make_inputs(seed):
    r = random.Random(seed)
    edge = [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0xff80, 0xff7f, 0x8001, 0x1234]
    return [r.choice(edge) | (r.choice(edge) << 16 if r.random() < .5 else 0) if r.random() < .5 else r.getrandbits(32) for _ in range(4 * P.N_IN)] 

def run(device, module, p, buf):
    out = device.buffer(4 * P.N_IN * p.slots)
    r = module[p.name].launch(1, P.N_IN, buf, out, lanewise.i8(-93), lanewise.u16(0xc3d5))
    return list(struct.unpack(f"<{P.N_IN * p.slots}I", out.read()))

def main():
    kind, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    levels = sys.argv[4].split(",") if len(sys.argv) > 4 else ["0", "1", "2", "3"]
    arch = sys.argv[5] if len(sys.argv) > 5 else "sm_50"
    device = lanewise.Device("reference")
    if kind == "pairs":
        programs = P.pairs(60)[first:first + count]
    else:
        programs = [P.random_program(f"k{s}", random.Random(s)) for s in range(first, first + count)]
    bad = collections.Counter(); total = 0; refused = collections.Counter(); forms = collections.Counter()
    for at in range(0, len(programs), 25):
        batch = programs[at:at + 25]
        data = make_inputs(first + at)
        want = host(batch, data)
        open(f"{W}/p.ptx", "w").write(P.ptx_file(batch, arch))
        buf = device.buffer((ctypes.c_uint32 * len(data))(*data))
        mods = [("ptx", device.load_file(f"{W}/p.ptx"))]
        for l in levels:
            subprocess.run([PTXAS, "-arch=" + arch, "-O" + l, f"{W}/p.ptx", "-o", f"{W}/p{l}.cubin"], check=True)
            mods.append(("O" + l, device.load_file(f"{W}/p{l}.cubin")))
        for n, p in enumerate(batch):
            for label, m in mods:
                total += 1
                try: got = run(device, m, p, buf)
                except Exception as e:
                    refused[str(e).splitlines()[0][-150:]] += 1
                    continue
                diff = [k for k in range(len(got)) if got[k] != want[n][k]]
                if diff:
                    k = diff[0]; lane, slot = divmod(k, p.slots)
                    if p.what:
                        for s in sorted({k % p.slots for k in diff}):
                            bad[(label, p.what[s])] += 1
                    else:
                        bad[(label, p.name)] += 1
                    if os.environ.get("V"): print(label, p.name, p.what[slot] if p.what else "", "lane", lane, "slot", slot, f"got {got[k]:08x} want {want[n][k]:08x}")
        if bad and os.environ.get("STOP"): break
    print("runs", total, "bad", len(bad), "refused", sum(refused.values()))
    for k, v in refused.most_common(20): print("  refused", v, k)
    by = collections.Counter()
    for (label, w), v in bad.items(): by[label] += 1
    print(by)
    prod = collections.Counter(w.split(" -> ")[0] for (l, w) in bad if l != "ptx"); cons = collections.Counter(w.split(" -> ")[-1] for (l, w) in bad if l != "ptx")
    print("producers", prod.most_common(60)); print("consumers", cons.most_common(60))
    print("ptx", collections.Counter(w.split(" -> ")[0] for (l, w) in bad if l == "ptx").most_common(40))
    print("ptx", collections.Counter(w.split(" -> ")[-1] for (l, w) in bad if l == "ptx").most_common(40))
    import json; json.dump([list(k) for k in bad], open(f"{W}/bad.json", "w"))
main()
