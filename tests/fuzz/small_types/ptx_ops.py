"""Operations of PTX on narrow integers: text, and what the host computes.

h: a 16-bit register, r: a 32-bit one, f: a float. In the host's C each is a uint16_t, a uint32_t or a float."""
OPS = []  # (name, result, arguments, ptx, c)


def op(name, result, args, ptx, c):
    OPS.append((name, result, args, ptx, c))


S = {
    "u8": "uint8_t",
    "s8": "int8_t",
    "u16": "uint16_t",
    "s16": "int16_t",
    "u32": "uint32_t",
    "s32": "int32_t",
}
BITS = {"u8": 8, "s8": 8, "u16": 16, "s16": 16, "u32": 32, "s32": 32}
LIM = {
    "u8": (0, 255),
    "s8": (-128, 127),
    "u16": (0, 65535),
    "s16": (-32768, 32767),
    "u32": (0, 2**32 - 1),
    "s32": (-(2**31), 2**31 - 1),
}
CLS = lambda t: "h" if BITS[t] <= 16 else "r"
W = {"h": "uint16_t", "r": "uint32_t"}


def ext(to, value, cls):
    """Extended to the register by the type's own sign."""
    return f"({W[cls]})({S[to]})({value})"


# Conversions between integers: into a register of 16 bits and of 32.
for to in S:
    for frm in S:
        for cls in ("h", "r"):
            if BITS[to] == 32 and cls == "h":
                continue
            for src in ("h", "r"):
                if BITS[frm] == 32 and src == "h":
                    continue
                op(
                    f"cvt.{to}.{frm}:{cls}{src}",
                    cls,
                    src,
                    f"cvt.{to}.{frm} $d, $0;",
                    ext(to, f"({S[frm]})$0", cls),
                )
                if to == frm or (
                    frm == "u32"
                ):  # ptxas 11.8 takes the source for the signed value it came from
                    continue
                lo, hi = LIM[to]
                if lo <= LIM[frm][0] and hi >= LIM[frm][1]:
                    continue
                op(
                    f"cvt.sat.{to}.{frm}:{cls}{src}",
                    cls,
                    src,
                    f"cvt.sat.{to}.{frm} $d, $0;",
                    ext(to, f"sat(({S[frm]})$0, {lo}ll, {hi}ll)", cls),
                )
# Arithmetic of 16 bits.
for t in ("u16", "s16"):
    s = S[t]
    for n, o in (("add", "+"), ("sub", "-"), ("mul.lo", "*")):
        op(
            f"{n}.{t}",
            "h",
            "hh",
            f"{n}.{t} $d, $0, $1;",
            f"(uint16_t)((int)({s})$0 {o} (int)({s})$1)"
            if o != "*"
            else f"(uint16_t)((uint32_t)({s})$0 * (uint32_t)({s})$1)",
        )
    op(f"sub0.{t}", "h", "h", f"sub.{t} $d, 0, $0;", "(uint16_t)(0 - (int)$0)")
    op(
        f"mul.hi.{t}",
        "h",
        "hh",
        f"mul.hi.{t} $d, $0, $1;",
        f"(uint16_t)((uint32_t)(({'int32_t' if t=='s16' else 'uint32_t'})({s})$0 * ({'int32_t' if t=='s16' else 'uint32_t'})({s})$1) >> 16)",
    )
    op(f"mul.wide.{t}", "r", "hh", f"mul.wide.{t} $d, $0, $1;", f"((uint32_t)({s})$0 * (uint32_t)({s})$1)")
    op(
        f"mad.lo.{t}",
        "h",
        "hhh",
        f"mad.lo.{t} $d, $0, $1, $2;",
        f"(uint16_t)((uint32_t)$0 * (uint32_t)$1 + $2)",
    )
    op(
        f"mad.hi.{t}",
        "h",
        "hhh",
        f"mad.hi.{t} $d, $0, $1, $2;",
        f"(uint16_t)(((uint32_t)(({'int32_t' if t=='s16' else 'uint32_t'})({s})$0 * ({'int32_t' if t=='s16' else 'uint32_t'})({s})$1) >> 16) + $2)",
    )
    op(
        f"mad.wide.{t}",
        "r",
        "hhr",
        f"mad.wide.{t} $d, $0, $1, $2;",
        f"((uint32_t)({s})$0 * (uint32_t)({s})$1 + $2)",
    )
    guard = "{.reg .b16 t; and.b16 t, $1, 0xfffd; or.b16 t, t, 1; "
    d = f"({s})(($1 & 0xfffd) | 1)"
    op(f"div.{t}", "h", "hh", guard + f"div.{t} $d, $0, t;}}", f"(uint16_t)(({s})$0 / {d})")
    op(f"rem.{t}", "h", "hh", guard + f"rem.{t} $d, $0, t;}}", f"(uint16_t)(({s})$0 % {d})")
    for k in (3, 10, 7, 255, 1000) + ((-5,) if t == "s16" else (40000,)):
        op(f"div{k}.{t}", "h", "h", f"div.{t} $d, $0, {k};", f"(uint16_t)(({s})$0 / {k})")
        op(f"rem{k}.{t}", "h", "h", f"rem.{t} $d, $0, {k};", f"(uint16_t)(({s})$0 % {k})")
    op(f"min.{t}", "h", "hh", f"min.{t} $d, $0, $1;", f"(uint16_t)(({s})$0 < ({s})$1 ? $0 : $1)")
    op(f"max.{t}", "h", "hh", f"max.{t} $d, $0, $1;", f"(uint16_t)(({s})$0 > ({s})$1 ? $0 : $1)")
    op(
        f"shr.{t}",
        "h",
        "hr",
        f"{{.reg .b32 t; and.b32 t, $1, 31; shr.{t} $d, $0, t;}}",
        f"(uint16_t)(({s})$0 >> ((($1 & 31) > 15 && {int(t=='s16')}) ? 15 : ($1 & 31)))",
    )
    for k in (1, 4, 9):
        op(f"shr{k}.{t}", "h", "h", f"shr.{t} $d, $0, {k};", f"(uint16_t)(({s})$0 >> {k})")
    op(f"addk.{t}", "h", "h", f"add.{t} $d, $0, -77;", "(uint16_t)($0 - 77)")
    op(f"mulk.{t}", "h", "h", f"mul.lo.{t} $d, $0, 37;", "(uint16_t)($0 * 37u)")
    op(
        f"mulhk.{t}",
        "h",
        "h",
        f"mul.hi.{t} $d, $0, {-21845 if t == 's16' else 43691};",
        f"(uint16_t)((uint32_t)(({'int32_t' if t=='s16' else 'uint32_t'})({s})$0 * {'(-21845)' if t=='s16' else '43691u'}) >> 16)",
    )
    op(f"mulwk.{t}", "r", "h", f"mul.wide.{t} $d, $0, 1234;", f"((uint32_t)({s})$0 * 1234u)")
    for cc, o in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
        op(
            f"setp.{cc}.{t}",
            "r",
            "hh",
            f"{{.reg .pred t; setp.{cc}.{t} t, $0, $1; selp.b32 $d, 1, 0, t;}}",
            f"(uint32_t)(({s})$0 {o} ({s})$1)",
        )
        op(
            f"setpk.{cc}.{t}",
            "r",
            "h",
            f"{{.reg .pred t; setp.{cc}.{t} t, $0, 100; selp.b32 $d, 1, 0, t;}}",
            f"(uint32_t)(({s})$0 {o} ({s})100)",
        )
        op(
            f"set.{cc}.{t}",
            "r",
            "hh",
            f"set.{cc}.u32.{t} $d, $0, $1;",
            f"(({s})$0 {o} ({s})$1 ? 0xffffffffu : 0u)",
        )
    op(f"slct.{t}", "h", "hhr", f"slct.{t}.s32 $d, $0, $1, $2;", "((int32_t)$2 >= 0 ? $0 : $1)")
    for ft in ("f32",):
        op(f"cvt.rn.{ft}.{t}", "f", "h", f"cvt.rn.{ft}.{t} $d, $0;", f"(float)({s})$0")
op("abs.s16", "h", "h", "abs.s16 $d, $0;", "(uint16_t)((int16_t)$0 < 0 ? -(int)(int16_t)$0 : (int16_t)$0)")
op("neg.s16", "h", "h", "neg.s16 $d, $0;", "(uint16_t)(-(int)$0)")
op(
    "absd.s16",
    "h",
    "hh",
    "{.reg .b16 t; sub.s16 t, $0, $1; abs.s16 $d, t;}",
    "(uint16_t)abs16((int16_t)($0 - $1))",
)
# ptxas 11.8 loses the clamp behind it.
0 and op(
    "negabs.s16", "h", "h", "{.reg .b16 t; abs.s16 t, $0; neg.s16 $d, t;}", "(uint16_t)(-abs16((int16_t)$0))"
)
for n, o in (("and", "&"), ("or", "|"), ("xor", "^")):
    op(f"{n}.b16", "h", "hh", f"{n}.b16 $d, $0, $1;", f"(uint16_t)($0 {o} $1)")
    op(f"{n}k.b16", "h", "h", f"{n}.b16 $d, $0, 0x8f31;", f"(uint16_t)($0 {o} 0x8f31)")
op("not.b16", "h", "h", "not.b16 $d, $0;", "(uint16_t)~$0")
op("cnot.b16", "h", "h", "cnot.b16 $d, $0;", "(uint16_t)($0 == 0)")
op(
    "shl.b16",
    "h",
    "hr",
    "{.reg .b32 t; and.b32 t, $1, 31; shl.b16 $d, $0, t;}",
    "(uint16_t)(($1 & 31) > 15 ? 0 : $0 << ($1 & 31))",
)
for k in (1, 3, 8, 15):
    op(f"shl{k}.b16", "h", "h", f"shl.b16 $d, $0, {k};", f"(uint16_t)($0 << {k})")
op(
    "selp.b16",
    "h",
    "hhr",
    "{.reg .pred t; setp.gt.s32 t, $2, 5; selp.b16 $d, $0, $1, t;}",
    "((int32_t)$2 > 5 ? $0 : $1)",
)
op("mov.k", "h", "", "mov.u16 $d, -3;", "(uint16_t)-3")
op("mov", "h", "h", "mov.u16 $d, $0;", "$0")
op("lo", "h", "r", "{.reg .b16 t; mov.b32 {$d, t}, $0;}", "(uint16_t)$0")
op(
    "hi", "h", "r", "{.reg .b32 t; shr.u32 t, $0, 16; cvt.u16.u32 $d, t;}", "(uint16_t)($0 >> 16)"
)  # ptxas 11.8 loses the shift of mov {t, h}, r where r is a narrow load
op("pack", "r", "hh", "mov.b32 $d, {$0, $1};", "((uint32_t)$0 | (uint32_t)$1 << 16)")
# Floats.
for t in S:
    lo, hi = LIM[t]
    cls = CLS(t)
    if BITS[t] == 32:
        continue
    for r, fn in (("rzi", "truncf"), ("rni", "rintf"), ("rmi", "floorf"), ("rpi", "ceilf")):
        for c2 in ("h", "r"):
            op(
                f"cvt.{r}.{t}.f32:{c2}",
                c2,
                "f",
                f"cvt.{r}.{t}.f32 $d, $0;",
                ext(t, f"f2i({fn}($0), {lo}, {hi})", c2),
            )
        op(
            f"cvt.{r}.sat.{t}.f32",
            cls,
            "f",
            f"cvt.{r}.sat.{t}.f32 $d, $0;",
            ext(t, f"f2i({fn}($0), {lo}, {hi})", cls),
        )
    for c2 in ("h", "r"):
        op(f"cvt.rn.f32.{t}:{c2}", "f", c2, f"cvt.rn.f32.{t} $d, $0;", f"(float)({S[t]})$0")
        op(
            f"cvt.rzi.{t}.f16:{c2}",
            c2,
            "h",
            f"cvt.rzi.{t}.f16 $d, $0;",
            ext(t, f"f2i(truncf(from_f16($0)), {lo}, {hi})", c2),
        )
        op(f"cvt.rn.f16.{t}:{c2}", "h", c2, f"cvt.rn.f16.{t} $d, $0;", f"to_f16((float)({S[t]})$0)")
        op(
            f"cvt.rzi.{t}.f64:{c2}",
            c2,
            "f",
            f"{{.reg .f64 t; .reg .f32 u; min.f32 u, $0, 0f7149F2CA; cvt.f64.f32 t, u; cvt.rzi.{t}.f64 $d, t;}}",
            ext(t, f"f2i64($0 < 1e30f ? $0 : 1e30f, {lo}, {hi})", c2),
        )
        op(
            f"cvt.rn.f64.{t}:{c2}",
            "f",
            c2,
            f"{{.reg .f64 t; cvt.rn.f64.{t} t, $0; cvt.rn.f32.f64 $d, t;}}",
            f"(float)({S[t]})$0",
        )
op("cvt.rn.f16.f32", "h", "f", "cvt.rn.f16.f32 $d, $0;", "to_f16($0)")
op(
    "cvt.f32.f16",
    "f",
    "h",
    "{.reg .b16 t; and.b16 t, $0, 0xbfff; cvt.f32.f16 $d, t;}",
    "from_f16($0 & 0xbfff)",
)
op("cvt.rmi.f16.f16", "h", "h", "cvt.rmi.f16.f16 $d, $0;", "to_f16(floorf(from_f16($0)))")
for n, o in (("add", "+"), ("mul", "*"), ("sub", "-")):
    op(f"{n}.f32", "f", "ff", f"{n}.rn.f32 $d, $0, $1;", f"($0 {o} $1)")
op("mul.kf", "f", "f", "mul.rn.f32 $d, $0, 0f3C23D70A;", "($0 * 0x1.47ae14p-7f)")
op("sel.f", "r", "ff", "{.reg .pred t; setp.lt.f32 t, $0, $1; selp.b32 $d, 1, 0, t;}", "(uint32_t)($0 < $1)")
for t in ("u32", "s32"):
    # ptxas 11.8 makes I2F.F32.S8 of cvt.rn.f32.u32 behind cvt.s32.s8: no conversions from u32.
    op(
        f"cvt.rzi.{t}.f32",
        "r",
        "f",
        f"cvt.rzi.{t}.f32 $d, $0;",
        f"(uint32_t)({S[t]})f2i(truncf($0), {LIM[t][0]}ll, {LIM[t][1]}ll)",
    )
    if t == "s32":
        op(f"cvt.rn.f32.{t}", "f", "r", f"cvt.rn.f32.{t} $d, $0;", f"(float)({S[t]})$0")
# 32 bits, for company.
for n, o in (
    ("add.s32", "+"),
    ("sub.s32", "-"),
    ("mul.lo.s32", "*"),
    ("and.b32", "&"),
    ("or.b32", "|"),
    ("xor.b32", "^"),
):
    op(n, "r", "rr", f"{n} $d, $0, $1;", f"($0 {o} $1)")
op("shr.u32", "r", "r", "shr.u32 $d, $0, 7;", "($0 >> 7)")
op("shr.s32", "r", "r", "shr.s32 $d, $0, 16;", "(uint32_t)((int32_t)$0 >> 16)")
op("shl.b32", "r", "r", "shl.b32 $d, $0, 5;", "($0 << 5)")
op("min.s32", "r", "rr", "min.s32 $d, $0, $1;", "((int32_t)$0 < (int32_t)$1 ? $0 : $1)")
op("max.u32", "r", "rr", "max.u32 $d, $0, $1;", "($0 > $1 ? $0 : $1)")
op("bfe.s32", "r", "r", "bfe.s32 $d, $0, 3, 8;", "(uint32_t)((int32_t)($0 << 21) >> 24)")
op("bfe.u32", "r", "r", "bfe.u32 $d, $0, 16, 8;", "($0 >> 16 & 255)")
op("bfi", "r", "rr", "bfi.b32 $d, $0, $1, 8, 8;", "(($1 & 0xffff00ffu) | ($0 & 255) << 8)")
op(
    "prmt",
    "r",
    "rr",
    "prmt.b32 $d, $0, $1, 0x7105;",
    "(($0 & 0xff) << 8 & 0xff00) | ($0 >> 8 & 0xff) << 16 | ($1 & 0xff000000u) | ($1 >> 8 & 0xff)",
)
op(
    "mad24",
    "r",
    "rrr",
    "mad24.lo.s32 $d, $0, $1, $2;",
    "((uint32_t)((int32_t)($0 << 8) >> 8) * (uint32_t)((int32_t)($1 << 8) >> 8) + $2)",
)
op("popc", "r", "r", "popc.b32 $d, $0;", "(uint32_t)__builtin_popcount($0)")
# Memory: 64 bytes of the lane's own.
for space, arr in (("local", "loc"), ("shared", "shm")):
    for t in ("u8", "s8", "u16", "s16"):
        b = BITS[t] // 8
        mask = 63 & ~(b - 1)
        addr = f"{{.reg .b32 t; and.b32 t, $I, {mask}; add.u32 t, t, %{arr}; "
        for c2 in ("h", "r"):
            op(
                f"ld.{space}.{t}:{c2}",
                c2,
                "r",
                addr.replace("$I", "$0") + f"ld.{space}.{t} $d, [t];}}",
                f"({W[c2]})({S[t]})ld{b}({arr} + ($0 & {mask}))",
            )
            op(
                f"st.{space}.{t}:{c2}",
                None,
                "r" + c2,
                addr.replace("$I", "$0") + f"st.{space}.{t} [t], $1;}}",
                f"st{b}({arr} + ($0 & {mask}), $1)",
            )
    op(
        f"ld.{space}.v2.u8",
        "h",
        "r",
        f"{{.reg .b32 t; .reg .b16 a, b; and.b32 t, $0, 62; add.u32 t, t, %{arr}; ld.{space}.v2.u8 {{a, b}}, [t]; sub.u16 $d, a, b;}}",
        f"(uint16_t)(ld1({arr} + ($0 & 62)) - ld1({arr} + ($0 & 62) + 1))",
    )
    op(
        f"ld.{space}.v4.s8",
        "h",
        "r",
        f"{{.reg .b32 t; .reg .b16 a, b, c, d; and.b32 t, $0, 60; add.u32 t, t, %{arr}; ld.{space}.v4.s8 {{a, b, c, d}}, [t]; mad.lo.s16 $d, a, b, d;}}",
        f"(uint16_t)((int8_t)ld1({arr} + ($0 & 60)) * (int8_t)ld1({arr} + ($0 & 60) + 1) + (int8_t)ld1({arr} + ($0 & 60) + 3))",
    )
    op(
        f"ld.{space}.v2.s16",
        "h",
        "r",
        f"{{.reg .b32 t; .reg .b16 a, b; and.b32 t, $0, 60; add.u32 t, t, %{arr}; ld.{space}.v2.s16 {{a, b}}, [t]; sub.s16 $d, b, a;}}",
        f"(uint16_t)(ld2({arr} + ($0 & 60) + 2) - ld2({arr} + ($0 & 60)))",
    )
    op(
        f"ld.{space}.b32",
        "r",
        "r",
        f"{{.reg .b32 t; and.b32 t, $0, 60; add.u32 t, t, %{arr}; ld.{space}.b32 $d, [t];}}",
        f"((uint32_t)ld2({arr} + ($0 & 60)) | (uint32_t)ld2({arr} + ($0 & 60) + 2) << 16)",
    )
    op(
        f"st.{space}.b32",
        None,
        "rr",
        f"{{.reg .b32 t; and.b32 t, $0, 60; add.u32 t, t, %{arr}; st.{space}.b32 [t], $1;}}",
        f"(st2({arr} + ($0 & 60), (uint16_t)$1), st2({arr} + ($0 & 60) + 2, (uint16_t)($1 >> 16)))",
    )
# Parameters of the kernel.
op("ld.param.s8", "h", "", "ld.param.s8 $d, [k_s8];", "(uint16_t)(int8_t)PS8")
op("ld.param.u16", "h", "", "ld.param.u16 $d, [k_u16];", "(uint16_t)PU16")
op("ld.param.s16r", "r", "", "ld.param.s16 $d, [k_u16];", "(uint32_t)(int16_t)PU16")
# Video instructions on halves and bytes.
for sel, e in (("b1", "(uint8_t)($0 >> 8)"), ("h1", "(uint16_t)($0 >> 16)")):
    op(f"vadd.{sel}", "r", "rr", f"vadd.u32.u32.s32 $d, $0.{sel}, $1;", f"vclip({e} + (int64_t)(int32_t)$1)")
op(
    "vmin.h1",
    "r",
    "rr",
    "vmin.s32.s32.s32 $d, $0.h1, $1.b2;",
    "(uint32_t)((int16_t)($0 >> 16) < (int8_t)($1 >> 16) ? (int16_t)($0 >> 16) : (int8_t)($1 >> 16))",
)

PRELUDE = r"""
#include <math.h>
#include <stdint.h>
#include <string.h>
static int64_t sat(int64_t x, int64_t lo, int64_t hi) { return x < lo ? lo : x > hi ? hi : x; }
static int abs16(int16_t x) { return x < 0 ? -(int)x : x; }
static int64_t f2i(float x, int64_t lo, int64_t hi) { return x != x ? 0 : x <= (float)lo ? lo : x >= (float)hi ? hi : (int64_t)x; }
static int64_t f2i64(float x, int64_t lo, int64_t hi) { double t = trunc(x); return x != x ? 0 : t <= lo ? lo : t >= hi ? hi : (int64_t)t; }
static uint32_t vclip(int64_t x) { return (uint32_t)x; }
static uint16_t to_f16(float x) { if (x != x) return 0x7fff; _Float16 h = (_Float16)x; uint16_t u; memcpy(&u, &h, 2); return u; }
static float from_f16(uint16_t u) { _Float16 h; memcpy(&h, &u, 2); return (float)h; }
static uint8_t ld1(const uint8_t* p) { return *p; }
static uint16_t ld2(const uint8_t* p) { return (uint16_t)(p[0] | p[1] << 8); }
static void st1(uint8_t* p, uint16_t v) { *p = (uint8_t)v; }
static void st2(uint8_t* p, uint16_t v) { p[0] = (uint8_t)v; p[1] = (uint8_t)(v >> 8); }
enum { PS8 = -93, PU16 = 0xc3d5 };
static uint32_t bits(float f) { uint32_t u; memcpy(&u, &f, 4); return f != f ? 0x7fffffff : u; }
"""
