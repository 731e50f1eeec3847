"""Random C on mixed small types; one body for the host, for nvptx64 and for gfx803 (both through clang -x cl)."""
import random

N_IN = 64
INTS = {
    "i8": (8, 1),
    "u8": (8, 0),
    "i16": (16, 1),
    "u16": (16, 0),
    "i32": (32, 1),
    "u32": (32, 0),
    "i64": (64, 1),
    "u64": (64, 0),
}

COMMON = r"""
#ifdef HOST
#include <stdint.h>
#include <string.h>
typedef int8_t i8; typedef uint8_t u8; typedef int16_t i16; typedef uint16_t u16; typedef int32_t i32; typedef uint32_t u32; typedef int64_t i64; typedef uint64_t u64;
#define GLOBAL
#define LOCAL_ROW static
typedef i8 i8x4 __attribute__((vector_size(4))); typedef u8 u8x4 __attribute__((vector_size(4)));
typedef i16 i16x2 __attribute__((vector_size(4))); typedef u16 u16x2 __attribute__((vector_size(4)));
typedef u16 u16x4 __attribute__((vector_size(8)));
#else
typedef char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16; typedef int i32; typedef unsigned u32; typedef long i64; typedef unsigned long u64;
#define GLOBAL __global
typedef i8 i8x4 __attribute__((ext_vector_type(4))); typedef u8 u8x4 __attribute__((ext_vector_type(4)));
typedef i16 i16x2 __attribute__((ext_vector_type(2))); typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef u16 u16x4 __attribute__((ext_vector_type(4)));
#endif
#ifdef NVPTX
#define TID __nvvm_read_ptx_sreg_tid_x()
#endif
#ifdef GCN
#define TID __builtin_amdgcn_workitem_id_x()
#endif
#define DEF(T, S, U, LO, HI) \
  static inline T div_##T(T a, T b) { return b == 0 ? (T)~a : (S && b == (T)-1) ? (T)(0 - (U)a) : (T)(a / b); } \
  static inline T rem_##T(T a, T b) { return b == 0 ? a : (S && b == (T)-1) ? (T)0 : (T)(a % b); } \
  static inline T min_##T(T a, T b) { return a < b ? a : b; } \
  static inline T max_##T(T a, T b) { return a > b ? a : b; } \
  static inline T fsat_##T(float x) { return x != x ? (T)0 : x >= (float)HI ? (T)HI : x <= (float)LO ? (T)LO : (T)x; }
DEF(i8, 1, u8, -128, 127) DEF(u8, 0, u8, 0, 255) DEF(i16, 1, u16, -32768, 32767) DEF(u16, 0, u16, 0, 65535)
DEF(i32, 1, u32, (-2147483647 - 1), 2147483647) DEF(u32, 0, u32, 0, 4294967295u)
DEF(i64, 1, u64, (-9223372036854775807l - 1), 9223372036854775807l) DEF(u64, 0, u64, 0, 18446744073709551615ul)
static inline i8 sat_i8(i64 x) { return x < -128 ? -128 : x > 127 ? 127 : (i8)x; }
static inline u8 sat_u8(i64 x) { return x < 0 ? 0 : x > 255 ? 255 : (u8)x; }
static inline i16 sat_i16(i32 x) { return x < -32768 ? -32768 : x > 32767 ? 32767 : (i16)x; }
static inline u16 sat_u16(i32 x) { return x < 0 ? 0 : x > 65535 ? 65535 : (u16)x; }
static inline u32 fold(u64 x) { return (u32)x ^ (u32)(x >> 32); }
static inline u32 fbits(float f) { union { float f; u32 u; } v; v.f = f; return f != f ? 0x7fffffffu : v.u; }
"""


# AMDGPU's LLVM (14 and 19) divides unsigned numbers that were sign-extended, and wide ones, with 24 bits.
DIVISORS = {"u16": "i16", "u32": "i32", "u64": "i32", "i64": "i32"}


class Gen:
    def __init__(self, rng, gcn_friendly=True):
        self.r = rng
        self.vars = []  # (name, type)
        self.arrays = []
        self.wide = rng.random() < 0.35  # programs with 64 bits
        self.tmp = 0

    def types(self):
        small = ["i8", "u8", "i16", "u16"] * 3 + ["i32", "u32"] * 2
        return small + (["i64", "u64"] if self.wide else [])

    def leaf(self):
        r = self.r
        x = r.random()
        if x < 0.15:
            return (
                str(
                    r.choice(
                        [0, 1, 2, 3, 7, 10, 15, 16, 100, 127, 128, 200, 255, 256, 1000, 32767, 40000, 65535]
                    )
                ),
                "i32",
            )
        if x < 0.25 and self.arrays:
            n, t, size = r.choice(self.arrays)
            i, _ = self.intvar()
            return f"{n}[(u32){i} & {size - 1}]", t
        return self.intvar()

    def intvar(self):
        return self.r.choice([v for v in self.vars if v[1] != "float"])

    def fvar(self):
        return self.r.choice([v for v in self.vars if v[1] == "float"])[0]

    def expr(self, depth):
        """(text, C type after promotion or declared)"""
        r = self.r
        if depth <= 0 or r.random() < 0.12:
            return self.leaf()[0]
        x = r.random()
        e = lambda: self.expr(depth - 1)
        t = r.choice(self.types())
        if x < 0.30:
            return f"({e()} {r.choice('+-*&|^')} {e()})"
        if x < 0.40:
            return (
                f"(({t})({e()}) {r.choice(['+', '-', '*', '^', '&', '|'])} ({r.choice(self.types())})({e()}))"
            )
        if x < 0.55:
            return f"({t})({e()})"
        if x < 0.63:
            k = r.choice([str(r.randint(0, 15)), f"((u32)({e()}) & {r.choice([7, 15, 31])})"])
            return f"(({r.choice(self.types()) if r.random() < .7 else 'i32'})({e()}) {r.choice(['>>', '<<'])} {k})".replace(
                "<< ((", "<< (("
            )
        if x < 0.70:
            t = DIVISORS.get(
                t, t
            )  # AMDGPU's LLVM divides unsigned numbers that were sign-extended in 24 bits
            return f"{r.choice(['div', 'rem'])}_{t}(({t})({e()}), ({t})({e()}))"
        if x < 0.74:
            t = DIVISORS.get(t, t)
            return f"(({t})({e()}) {r.choice('/%')} ({t}){r.choice([3, 5, 7, 10, 100, 16, 2, 127, 13])})"
        if x < 0.80:
            return f"{r.choice(['min', 'max'])}_{t}(({t})({e()}), ({t})({e()}))"
        if x < 0.86:
            return f"(({e()}) {r.choice(['<', '<=', '>', '>=', '==', '!='])} ({r.choice(self.types())})({e()}) ? {e()} : {e()})"
        if x < 0.90:
            return f"sat_{r.choice(['i8', 'u8', 'i16', 'u16'])}({'(i32)' if r.random() < .5 else '(i32)'}({e()}))"
        if x < 0.94:
            return f"fsat_{t}({self.fexpr(depth - 1)})"
        return f"{r.choice('-~!')}({t})({e()})"

    def fexpr(self, depth):
        r = self.r
        x = r.random()
        if depth <= 0 or x < 0.35:
            return self.fvar()
        if x < 0.7:
            t = r.choice(self.types())
            if t in ("u32", "u64"):
                t = "i32"  # ptxas 11.8 makes I2F.F32.S8 of cvt.rn.f32.u32 behind cvt.s32.s8
            return f"(float)({t})({self.expr(depth - 1)})"
        return f"({self.fexpr(depth - 1)} {r.choice('+-*')} {r.choice([self.fexpr(depth - 1), '0.5f', '3.0f', '0.0078125f'])})"

    def cond(self):
        t = self.r.choice(self.types())
        return f"({t})({self.expr(2)}) {self.r.choice(['<', '<=', '>', '>=', '==', '!='])} {self.expr(1)}"

    def assign(self, ind):
        r = self.r
        if self.arrays and r.random() < 0.25:
            n, t, size = r.choice(self.arrays)
            return f"{ind}{n}[(u32)({self.expr(1)}) & {size - 1}] {r.choice(['=', '=', '+=', '^='])} ({t})({self.expr(3)});\n"
        n, t = r.choice(self.vars)
        if t == "float":
            return f"{ind}{n} = {self.fexpr(2)}; if (!({n} < 1e9f && {n} > -1e9f) || ({n} < 1e-6f && {n} > -1e-6f)) {n} = 1.5f;\n"
        o = r.choice(["=", "=", "=", "+=", "-=", "*=", "^=", "|=", "&="])
        return f"{ind}{n} {o} {self.expr(3)};\n"

    def vector(self, ind):
        r = self.r
        t, n, e = r.choice(
            [
                ("i8x4", 4, "i8"),
                ("u8x4", 4, "u8"),
                ("i16x2", 2, "i16"),
                ("u16x2", 2, "u16"),
                ("u16x4", 4, "u16"),
            ]
        )
        self.tmp += 1
        a, b = f"va{self.tmp}", f"vb{self.tmp}"
        out = (
            f"{ind}{{ {t} {a}, {b}; "
            + " ".join(f"{v}[{k}] = ({e})({self.expr(1)});" for v in (a, b) for k in range(n))
            + "\n"
        )
        out += f"{ind}  {a} = {r.choice(['{a} + {b}', '{a} - {b}', '{a} * {b}', '({a} ^ {b}) + {a}', '{a} * {b} - {a}', '({a} >> 1) + {b}', '-{a} & {b}']).format(a=a, b=b)};\n"
        v = self.intvar()[0]
        out += f"{ind}  {v} ^= (i32){a}[{r.randrange(n)}] + {a}[{r.randrange(n)}]; }}\n"
        return out

    def block(self, n, depth):
        r = self.r
        ind = "  " * (depth + 1)
        out = ""
        for _ in range(n):
            x = r.random()
            if x < 0.12 and depth < 3:
                out += f"{ind}if ({self.cond()}) {{\n{self.block(r.randint(1, 3), depth + 1)}{ind}}}"
                out += (
                    f" else {{\n{self.block(r.randint(1, 3), depth + 1)}{ind}}}\n"
                    if r.random() < 0.5
                    else "\n"
                )
            elif x < 0.2 and depth < 2:
                self.tmp += 1
                k, t = f"k{self.tmp}", r.choice(["i8", "u8", "i16", "u16", "i32"])
                s, c = r.randint(2, 6), self.cond()
                out += f"{ind}for ({t} {k} = 0; {k} < {s}; ++{k}) {{\n"
                if r.random() < 0.3:
                    out += f"{ind}  if ({c}) {r.choice(['break', 'continue'])};\n"
                self.vars.append((k, "const"))
                body = self.block(r.randint(1, 3), depth + 1)
                self.vars.pop()
                out += body + f"{ind}}}\n"
            elif x < 0.24 and depth < 2:
                out += (
                    f"{ind}switch ((u8)({self.expr(2)}) & 3) {{\n"
                    + "".join(
                        f"{ind}case {k}:\n{self.block(1, depth + 1)}{ind}  {r.choice(['break;', 'break;', '/* fall through */;'])}\n"
                        for k in range(3)
                    )
                    + f"{ind}default:;\n{ind}}}\n"
                )
            elif x < 0.30:
                out += self.vector(ind)
            else:
                out += self.assign(ind)
        return out

    def kernel(self, name):
        r = self.r
        decl = ""
        for k in range(r.randint(4, 9)):
            t = r.choice(self.types())
            w = r.randrange(4)
            decl += f"  {t} v{k} = ({t})(in[{w}] >> {r.choice([0, 0, 8, 16, 5])});\n"
            self.vars.append((f"v{k}", t))
        for k in range(2):
            decl += f"  float f{k} = (float)({r.choice(['i8', 'i16', 'u16', 'i32'])})in[{r.randrange(4)}] * {r.choice(['1.0f', '0.25f', '0.001f'])};\n"
            self.vars.append((f"f{k}", "float"))
        if r.random() < 0.5:
            for k in range(r.randint(1, 2)):
                t = r.choice(["i8", "u8", "i16", "u16"])
                size = r.choice([4, 8, 16])
                if r.random() < 0.4:
                    decl += f"  SHARED({name}, {t}, a{k}, {size})\n"
                else:
                    decl += f"  {t} a{k}[{size}];\n"
                decl += f"  for (int i = 0; i < {size}; ++i) a{k}[i] = ({t})(in[i & 3] >> i);\n"
                self.arrays.append((f"a{k}", t, size))
        # Loop counters are read, never written.
        real = self.vars
        body = self.block(r.randint(4, 10), 0)
        out = ""
        n = 0
        for v, t in real:
            out += f"  out[{n}] = " + (f"fbits({v})" if t == "float" else f"fold((u64)(i64){v})") + ";\n"
            n += 1
        for a, t, size in self.arrays:
            out += f"  {{ u32 h = 0; for (int i = 0; i < {size}; ++i) h = h * 31 + (u32)(i32){a}[i]; out[{n}] = h; }}\n"
            n += 1
        self.slots = n
        return f"KERNEL({name}, {n})\n{decl}{body}{out}}}\n"


class Vars(list):
    pass


# Loop counters carry the type "const": they may be read where an integer is, and are no targets.
def patched(gen):
    pick = gen.r.choice

    def assign(ind, base=Gen.assign):
        saved = gen.vars
        for _ in range(50):
            s = base(gen, ind)
            target = s.strip().split(" ", 1)[0]
            if not target.startswith("k"):
                return s
        return ""

    gen.assign = assign

    def vector(ind, base=Gen.vector):
        for _ in range(50):
            s = base(gen, ind)
            if not s.strip().splitlines()[-1].strip().startswith("k"):
                return s
        return ""

    gen.vector = vector
    return gen


def program(name, seed):
    g = patched(Gen(random.Random(seed)))
    text = g.kernel(name)
    return text, g.slots


HOST = (
    COMMON
    + """
#define KERNEL(n, slots) static void n(const u32* in, u32* out) {
#define SHARED(k, t, a, size) t a[size];
"""
)
DEVICE = (
    COMMON
    + """
#define KERNEL(n, slots) __kernel void n(__global u32* inp, __global u32* outp) { u32 tid = TID; __global u32* in = inp + 4 * tid; __global u32* out = outp + slots * tid;
#define SHARED(k, t, a, size) __local t a##_all[64 * size]; __local t* a = a##_all + tid * size;
"""
)


def host_file(texts):
    names = [f"k{n}" for n in range(len(texts))]
    out = HOST + "".join(texts) + "typedef void (*fn)(const u32*, u32*);\n"
    out += "static fn all[] = {" + ",".join(t.split("(")[1].split(",")[0] for t in texts) + "};\n"
    return (
        out
        + f"void run_all(int n, const u32* in, u32* out, int slots) {{ for (int l = 0; l < {N_IN}; ++l) all[n](in + 4 * l, out + slots * l); }}\n"
    )


def device_file(texts):
    return DEVICE + "".join(texts)
