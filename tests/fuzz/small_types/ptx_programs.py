"""Programs of PTX on narrow integers and the same in C: systematic pairs of operations, and random ones."""
import random, re
from ptx_ops import OPS, PRELUDE

HEAD = """.version 7.8
.target {target}
.address_size 64
"""
N_IN, WORDS = 64, 4  # lanes, input words a lane


def ptx_kernel(name, regs, body, shared, local):
    decl = "".join(
        f".reg .{ {'h': 'b16', 'r': 'b32', 'f': 'f32', 'p': 'pred'}[c]} %{c}<{n}>;\n" for c, n in regs.items()
    )
    out = f".visible .entry {name}(.param .u64 k_in, .param .u64 k_out, .param .s8 k_s8, .param .u16 k_u16)\n{{\n{decl}"
    if shared:
        out += ".shared .align 4 .b8 sh[4096];\n"
    if local:
        out += ".local .align 4 .b8 lo[64];\n"
    out += """.reg .b32 %tid, %loc, %shm, %i<4>; .reg .b64 %in, %out, %o;
mov.u32 %tid, %tid.x; ld.param.u64 %in, [k_in]; ld.param.u64 %out, [k_out];
mul.wide.u32 %o, %tid, 16; add.u64 %in, %in, %o; mul.wide.u32 %o, %tid, OUTBYTES; add.u64 %out, %out, %o;
ld.global.v4.u32 {%i0, %i1, %i2, %i3}, [%in];
"""
    if local:
        out += "mov.u32 %loc, lo;\n"
    if shared:
        out += "shl.b32 %shm, %tid, 6; { .reg .b32 t; mov.u32 t, sh; add.u32 %shm, %shm, t; }\n"
    for on, arr in ((local, "loc"), (shared, "shm")):
        if on:
            sp = {"loc": "local", "shm": "shared"}[arr]
            out += "".join(f"st.{sp}.u32 [%{arr}+{4*k}], %i{k%4};\n" for k in range(16))
    return (
        out.replace("%tid.x", "%TIDX").replace("%tid", "%tidr").replace("%TIDX", "%tid.x")
        + body
        + "ret;\n}\n"
    )


def c_function(name, decl, body):
    return f"""static void {name}(const uint32_t* i, uint32_t* out) {{
uint8_t loc[64], shm[64]; for (int k = 0; k < 16; ++k) {{ memcpy(loc + 4 * k, i + k % 4, 4); memcpy(shm + 4 * k, i + k % 4, 4); }}
{decl}{body}(void)loc; (void)shm; }}
"""


def fill(text, dest, args, local):
    for n, a in enumerate(args):
        text = text.replace(f"${n}", a)
    text = text.replace("$d", dest or "")
    if local is not None:  # names of the block's own registers
        text = re.sub(r"(?<![%\w.$])([tabcdu])(?![\w.])", lambda m: f"{m.group(1)}_{local}", text)
    return text


def uses(op):
    return "%shm" in op[3], "%loc" in op[3]


class Program:
    def __init__(self, name):
        self.name, self.ptx, self.c, self.count, self.slots = name, "", "", 0, 0
        self.regs = {"h": 1, "r": 1, "f": 1, "p": 1}
        self.shared = self.local = False
        self.cdecl = ""
        self.fresh_vars = []

    def fresh(self, cls):
        n = self.regs[cls]
        self.regs[cls] += 1
        self.cdecl += {"h": "uint16_t", "r": "uint32_t", "f": "float", "p": "int"}[cls] + f" {cls}{n} = 0;\n"
        return f"{cls}{n}"

    def emit(self, op, dest, args):
        name, res, _, ptx, c = op
        self.count += 1
        sh, lo = uses(op)
        self.shared |= sh
        self.local |= lo
        self.ptx += fill(ptx, "%" + dest if dest else None, ["%" + a for a in args], self.count) + "\n"
        e = fill(c, None, args, None)
        self.c += f"{dest} = {e};\n" if dest else e + ";\n"

    def store(self, reg):
        """The whole value: 16 bits in four ways."""
        if reg[0] == "h":
            for n, (p, c) in enumerate(
                (("cvt.u32.u16", f"(uint32_t){reg}"), ("cvt.s32.s16", f"(uint32_t)(int16_t){reg}"))
            ):
                r = self.fresh("r")
                self.ptx += f"{p} %{r}, %{reg};\n"
                self.c += f"{r} = {c};\n"
                self.put(r, r)
        elif reg[0] == "f":
            r = self.fresh("r")
            self.ptx += f"{{.reg .pred q; setp.nan.f32 q, %{reg}, %{reg}; mov.b32 %{r}, %{reg}; selp.b32 %{r}, 0x7fffffff, %{r}, q;}}\n".replace(
                "q", f"q{self.slots}x"
            ).replace(
                f".reg .pred q{self.slots}x", f".reg .pred q{self.slots}x"
            )
            self.put(r, f"bits({reg})")
        else:
            self.put(reg, reg)

    def put(self, r, c):
        self.ptx += f"st.global.u32 [%out+{4 * self.slots}], %{r};\n"
        self.c += f"out[{self.slots}] = {c};\n"
        self.slots += 1

    def text(self):
        k = ptx_kernel(self.name, {c: n + 1 for c, n in self.regs.items()}, self.ptx, self.shared, self.local)
        return k.replace("OUTBYTES", str(4 * self.slots)), c_function(self.name, self.cdecl, self.c)


def inputs(p, rng=None):
    """Registers of every class out of the lane's four words."""
    out = {"h": [], "r": [], "f": []}
    for n in range(4):
        r = p.fresh("r")
        p.ptx += f"mov.u32 %{r}, %i{n};\n"
        p.c += f"{r} = i[{n}];\n"
        out["r"].append(r)
    for n, (pt, c) in enumerate(
        (
            ("{.reg .b16 t; mov.b32 {$d, t}, %i0;}", "(uint16_t)i[0]"),
            ("{.reg .b16 t; mov.b32 {t, $d}, %i1;}", "(uint16_t)(i[1] >> 16)"),
            ("cvt.u16.u32 $d, %i2;", "(uint16_t)i[2]"),
            ("cvt.u16.u32 $d, %i3;", "(uint16_t)i[3]"),
        )
    ):
        h = p.fresh("h")
        p.ptx += fill(pt, "%" + h, [], f"i{n}") + "\n"
        p.c += f"{h} = {c};\n"
        out["h"].append(h)
    for n, k in ((0, "0f3A83126F"), (3, "0f37800000")):
        f = p.fresh("f")
        p.ptx += (
            f"{{.reg .f32 t; cvt.rn.f32.s32 t, %i{n}; mul.rn.f32 %{f}, t, {k};}}\n".replace("t,", f"t{f},")
            .replace(" t;", f" t{f};")
            .replace("f32 t;", f"f32 t{f};")
        )
        cv = {"0f3A83126F": "0x1.0624dep-10f", "0f37800000": "0x1p-16f"}[k]
        p.c += f"{f} = (float)(int32_t)i[{n}] * {cv};\n"
        out["f"].append(f)
    return out


def reads_half(op):
    return op[0].startswith(("cvt.rzi", "cvt.rmi")) and op[0].split(":")[0].endswith(".f16")


def pairs(per_kernel=40, only=None):
    """Each producer of a 16-bit value with each reader of one."""
    producers = [o for o in OPS if o[1] == "h"]
    consumers = [o for o in OPS if o[1] and "h" in o[2]]
    # ptxas 11.8 takes the number 1 of cnot.b16 for the half 1.0 where the code has another use of it:
    # `cnot.b16 b, a; cnot.b16 c, a; cvt.rmi.f16.f16 d, c` becomes a choice between 0x3c00 and 0.
    folded = lambda a, b: a[0] == "cnot.b16" and reads_half(b)
    places = lambda b: [n for n in range(len(b[2])) if b[2][n] == "h"]
    todo = [(a, b, n) for a in producers for b in consumers for n in places(b) if not folded(a, b)]
    if only:
        todo = [t for t in todo if only(*t)]
    out, p = [], None
    for k, (a, b, n) in enumerate(todo):
        if k % per_kernel == 0:
            p = Program(f"pair{k // per_kernel}")
            regs = inputs(p)
            p.what = []
            out.append(p)
        pick = lambda cls, j: regs[cls][j % len(regs[cls])]
        d = p.fresh("h")
        p.emit(a, d, [pick(c, j + k) for j, c in enumerate(a[2])])
        e = p.fresh(b[1])
        p.emit(b, e, [d if j == n else pick(c, j + 1 + k) for j, c in enumerate(b[2])])
        before = p.slots
        p.store(e)
        p.what += [f"{a[0]} -> {b[0]}#{n}"] * (p.slots - before)
    return out


def random_program(name, rng):
    p = Program(name)
    p.what = None
    regs = inputs(p)
    for cls, n in (("h", rng.randint(2, 6)), ("r", rng.randint(1, 3)), ("f", rng.randint(1, 2))):
        for _ in range(n):
            r = p.fresh(cls)
            src = rng.choice(regs[cls])
            p.ptx += f"mov.{ {'h':'b16','r':'b32','f':'f32'}[cls]} %{r}, %{src};\n"
            p.c += f"{r} = {src};\n"
            regs[cls].append(r)
    narrow = [o for o in OPS if "h" in (o[1] or "") + o[2]]
    wide = [o for o in OPS if o not in narrow]
    labels = [0]

    def condition():
        q = p.fresh("p")
        t, cc, o = rng.choice(["u16", "s16"]), *rng.choice(
            [("lt", "<"), ("ge", ">="), ("eq", "=="), ("ne", "!="), ("gt", ">")]
        )
        a, b = rng.choice(regs["h"]), rng.choice(regs["h"])
        s = {"u16": "uint16_t", "s16": "int16_t"}[t]
        if rng.random() < 0.5:
            v = rng.choice([0, 1, 100, 200, 255, 127])
            p.ptx += f"setp.{cc}.{t} %{q}, %{a}, {v};\n"
            p.c += f"{q} = ({s}){a} {o} {v};\n"
        else:
            p.ptx += f"setp.{cc}.{t} %{q}, %{a}, %{b};\n"
            p.c += f"{q} = ({s}){a} {o} ({s}){b};\n"
        return q

    def block(n, depth):
        for _ in range(n):
            x = rng.random()
            if x < 0.08 and depth < 2:
                q = condition()
                labels[0] += 1
                l = labels[0]
                p.ptx += f"@!%{q} bra ELSE{l};\n"
                p.c += f"if ({q}) {{\n"
                block(rng.randint(1, 5), depth + 1)
                p.ptx += f"bra END{l};\nELSE{l}:\n"
                p.c += "} else {\n"
                block(rng.randint(0, 4), depth + 1)
                p.ptx += f"END{l}:\n"
                p.c += "}\n"
            elif x < 0.12 and depth < 2:
                labels[0] += 1
                l = labels[0]
                q = p.fresh("p")
                k = p.fresh("h")
                t = rng.randint(2, 5)
                p.ptx += f"mov.u16 %{k}, {t};\nLOOP{l}:\n"
                p.c += f"{k} = {t}; do {{\n"
                block(rng.randint(1, 5), depth + 1)
                p.ptx += f"add.u16 %{k}, %{k}, -1;\nsetp.ne.u16 %{q}, %{k}, 0;\n@%{q} bra LOOP{l};\n"
                p.c += f"{k} = (uint16_t)({k} - 1); {q} = {k} != 0; }} while ({q});\n"
            else:
                o = rng.choice(narrow if rng.random() < 0.85 else wide)
                p.emit(o, rng.choice(regs[o[1]]) if o[1] else None, [rng.choice(regs[c]) for c in o[2]])

    block(rng.randint(8, 30), 0)
    for cls in "hrf":
        for r in regs[cls]:
            p.store(r)
    return p


def c_file(programs):
    out = PRELUDE + "".join(p.text()[1] for p in programs)
    out += (
        "typedef void (*fn)(const uint32_t*, uint32_t*);\nstatic fn all[] = {"
        + ",".join(p.name for p in programs)
        + "};\n"
    )
    out += f"void run_all(int n, const uint32_t* in, uint32_t* out, int slots) {{ for (int l = 0; l < {N_IN}; ++l) all[n](in + 4 * l, out + slots * l); }}\n"
    return out


def ptx_file(programs, target="sm_50"):
    return HEAD.format(target=target) + "".join(p.text()[0] for p in programs)
