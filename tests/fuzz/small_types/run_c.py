"""usage: run_c.py nv|gcn FIRST COUNT [ptxas levels] [arch]"""
import tempfile, ctypes, random, struct, subprocess, sys, os, collections
import c_programs as C
import lanewise
W = tempfile.mkdtemp(); os.makedirs(W, exist_ok=True)

def make_inputs(seed):
    r = random.Random(seed)
    edge = [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0xff80, 0xff7f, 0x8001, 0x1234]
    return [r.choice(edge) | (r.choice(edge) << 16 if r.random() < .5 else 0) if r.random() < .5 else r.getrandbits(32) for _ in range(4 * C.N_IN)]

def sh(*a): subprocess.run(a, check=True)

def main():
    kind, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    levels = sys.argv[4].split(",") if len(sys.argv) > 4 else ["0", "1", "2", "3"]
    arch = sys.argv[5] if len(sys.argv) > 5 else "sm_50"
    device = lanewise.Device("reference")
    bad, refused, total, done = [], collections.Counter(), 0, collections.Counter()
    step = 25
    for at in range(first, first + count, step):
        n_here = min(step, first + count - at)
        ps = [C.program(f"k{n}", at + n) for n in range(n_here)]
        texts = [t for t, _ in ps]
        data = [x & 0xffffffff for x in make_inputs(at)]
        open(f"{W}/p.c", "w").write(C.host_file(texts)); open(f"{W}/p.cl", "w").write(C.device_file(texts))
        so = f"{W}/h{at}.so"
        sh("gcc", "-DHOST", "-O1", "-fwrapv", "-ffp-contract=off", "-w", "-shared", "-fPIC", f"{W}/p.c", "-o", so)
        lib = ctypes.CDLL(so); os.unlink(so)
        arr = (ctypes.c_uint32 * len(data))(*data)
        mods = []
        cl = str(random.Random(at).choice([0, 1, 2, 3, "s"]))
        common = ["-x", "cl", "-cl-std=CL2.0", "-fwrapv", "-ffp-contract=off", "-w", f"{W}/p.cl"]
        if kind == "nv":
            if cl == "0": cl = "1" if at % 2 else "0"
            sh("clang-14", "-DNVPTX", "-target", "nvptx64-nvidia-cuda", "-Xclang", "-target-feature", "-Xclang", "+ptx75", "-Xclang", "-target-cpu", "-Xclang", arch, "-O" + cl, "-S", "-o", f"{W}/p.ptx", *common)
            mods.append(("ptx", f"{W}/p.ptx"))
            for l in levels:
                sh(os.environ.get("PTXAS", "ptxas"), "-arch=" + arch, "-O" + l, f"{W}/p.ptx", "-o", f"{W}/p{l}.cubin"); mods.append(("O" + l, f"{W}/p{l}.cubin"))
        else:
            if cl == "0" and at % 4: cl = "2"
            sh("clang-14", "-DGCN", "-target", "amdgcn-amd-amdhsa", "-mcpu=" + os.environ.get("GFX", "gfx803"), "-nogpulib", "-O" + cl, "-o", f"{W}/p.co", *common); mods.append(("gcn", f"{W}/p.co"))
        buf = device.buffer(arr)
        loaded = []
        for label, f in mods:
            try: loaded.append((label, device.load_file(f)))
            except Exception as e:
                print(label, at, str(e)[:600]); 
                if label == "gcn":
                    loaded.append((label, None))
        for n, (t, slots) in enumerate(ps):
            o = (ctypes.c_uint32 * (C.N_IN * slots))(); lib.run_all(n, arr, o, slots); want = list(o)
            for label, m in loaded:
                total += 1
                try:
                    out = device.buffer(4 * C.N_IN * slots)
                    r = m[f"k{n}"].launch(1, C.N_IN, buf, out)
                    got = list(struct.unpack(f"<{C.N_IN * slots}I", out.read()))
                except Exception as e:
                    refused[label + str(e).splitlines()[0][-160:]] += 1; continue
                d = [k for k in range(len(got)) if got[k] != want[k]]
                if d:
                    lane, s = divmod(d[0], slots); bad.append((label, at + n)); print("BAD", label, "seed", at + n, "clang -O" + cl, "lane", lane, "slot", s, f"got {got[d[0]]:08x} want {want[d[0]]:08x}", len(d), flush=True)
                else: done[label] += 1
    print("runs", total, "good", dict(done), "bad", len(bad), "refused", sum(refused.values()))
    for k, v in refused.most_common(20): print("  refused", v, k)
main()
