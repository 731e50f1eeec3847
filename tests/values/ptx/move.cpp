// mov with its packing and unpacking, special registers, and what leaves values as they are.
#include <fmt/format.h>

#include "tests/values/ptx/ptx.hpp"

namespace values::ptx::move {

namespace {

void same(Args in, Results out) {
  out[0] = in[0];
}

std::optional<Op> mov(const std::string& form, Mods& m) {
  const std::string vector = m.one_of({"v2", "v4"});
  const auto t = m.type();
  if (!t) return {};
  if (vector.empty()) {
    Op op{{}, {{*t}}, {{*t}}, same};
    if (t->bits == 128)
      op.value = [](Args in, Results out) {
        out[0] = in[0];
        out[1] = in[1];
      };
    return op;
  }
  // The elements change places, so that a move in the wrong order is seen.
  const size_t n = vector == "v2" ? 2 : 4;
  Op op{{}, std::vector<Operand>(n, {*t}), std::vector<Operand>(n, {*t}), {}};
  op.text = form + (n == 2 ? " {d, g}, {b, a};" : " {d, g, h, k}, {b, c, e, a};");
  op.value = [n](Args in, Results out) {
    for (size_t i = 0; i < n; ++i) out[i] = in[(i + 1) % n];
  };
  return op;
}

}  // namespace

const Makers& makers() {
  static const Makers makers = {{"mov", mov}};
  return makers;
}

namespace {

const Type kPred{"pred", 'p', 1};
const Type kB16{"b16", 'b', 16}, kB32{"b32", 'b', 32}, kB64{"b64", 'b', 64};

/// `n` elements of a value, lowest first, together and apart; a sink leaves one out.
void add_packing(std::vector<Op>& out, const Type& whole, const Type& part) {
  const size_t n = whole.bits / part.bits;
  const std::string form = "mov." + whole.name;
  const std::vector<Operand> parts(n, {part});
  const char* all[] = {"a, b", "a, b, c, e"};
  const char* results[] = {"d, g", "d, g, h, k"};
  out.push_back({form,
                 parts,
                 {{whole}},
                 [=, bits = part.bits](Args in, Results r) {
                   r[0] = 0;
                   for (size_t i = 0; i < n; ++i) r[0] |= in[i] << (bits * i);
                 },
                 fmt::format("{} d, {{{}}};", form, all[n / 4])});
  // An integer among registers is as wide as they are.
  const char* first[] = {"a", "a, b, c"};
  out.push_back({form,
                 std::vector<Operand>(n - 1, {part}),
                 {{whole}},
                 [=, bits = part.bits](Args in, Results r) {
                   r[0] = uint64_t{mask(bits) - 2} << (bits * (n - 1));
                   for (size_t i = 0; i + 1 < n; ++i) r[0] |= in[i] << (bits * i);
                 },
                 fmt::format("{} d, {{{}, -3}};", form, first[n / 4])});
  out.push_back({form,
                 {{whole}},
                 parts,
                 [=, bits = part.bits](Args in, Results r) {
                   for (size_t i = 0; i < n; ++i) r[i] = in[0] >> (bits * i) & mask(bits);
                 },
                 fmt::format("{} {{{}}}, a;", form, results[n / 4])});
  out.push_back(
      {form,
       {{whole}},
       {{part}},
       [=, bits = part.bits](Args in, Results r) { r[0] = in[0] >> (bits * (n - 1)) & mask(bits); },
       fmt::format("{} {{{}_, d}}, a;", form, n == 4 ? "_, _, " : "")});
}

/// What is the same for every lane of a launch of groups of kGroup lanes in x.
void add_fixed(std::vector<Op>& out, const std::string& name, uint32_t value) {
  out.push_back({"mov.u32",
                 {},
                 {{kB32}},
                 [value](Args, Results r) { r[0] = value; },
                 "mov.u32 d, " + name + ";"});
}

// --- addresses -----------------------------------------------------------------------------------

/// Declares a variable of the space and puts its address into `at`, and the generic one into `far`.
std::string variable(const std::string& space) {
  const std::string reg = ".reg .b64 at, far, back;\n";
  if (space == "param") return reg + "mov.b64 at, pin;\ncvta.param.u64 far, at;\n";
  return reg +
         fmt::format(".{0} .align 8 .b8 v[64];\nmov.u64 at, v;\ncvta.{0}.u64 far, at;\n", space);
}
/// `shared::cta` is a name of `shared`.
std::string plain(const std::string& space) {
  return space.substr(0, space.find(':'));
}

/// The address of a variable, made generic, reaches it; taken back, it is what it was. Lanes share
/// some of the variables, so all write the same.
void add_address_conversion(std::vector<Op>& out, const std::string& space) {
  const std::string s = plain(space);
  const bool of_module = s == "global" || s == "const";
  std::string text = of_module ? fmt::format(
                                     ".reg .b64 at, far, back;\nmov.u64 at, {}_words;\n"
                                     "cvta.{}.u64 far, at;\n",
                                     s, space)
                               : variable(s);
  if (s == "shared" || s == "local") text += fmt::format("st.{}.b32 [at], 4660;\n", s);
  text += fmt::format(
      ".reg .b32 x, y;\nld.{0}.b32 x, [at];\nld.b32 y, [far];\n"
      "xor.b32 x, x, y;\nadd.u32 d, a, x;\n"
      "cvta.to.{1}.u64 back, far;\nsetp.eq.u64 g, back, at;",
      s, space);
  for (const std::string& form : {"cvta." + space + ".u64", "cvta.to." + space + ".u64"})
    out.push_back({form,
                   {{kB32}},
                   {{kB32}, {kPred}},
                   [](Args in, Results r) {
                     r[0] = in[0];
                     r[1] = 1;
                   },
                   text});
}

/// A generic address lies in its own space and in no other.
void add_space_tests(std::vector<Op>& out) {
  for (const std::string asked : {"global", "const", "local", "shared", "shared::cta",
                                  "shared::cluster", "param", "param::entry"})
    for (const std::string of : {"global", "const", "local", "shared"}) {
      const std::string declared =
          of == "global" || of == "const"
              ? ".reg .b64 at, far;\nmov.u64 at, " + of + "_words;\ncvta." + of + ".u64 far, at;\n"
              : variable(of);
      const uint64_t inside = plain(asked) == of ? 1 : 0;
      out.push_back({"isspacep." + asked,
                     {},
                     {{kPred}},
                     [inside](Args, Results r) { r[0] = inside; },
                     declared + "isspacep." + asked + " d, far;"});
    }
}

/// In a cluster of one group its own rank is 0, and so are all addresses its own.
void add_cluster(std::vector<Op>& out) {
  const auto is = [&](const std::string& form, const Type& t, uint64_t value,
                      const std::string& text) {
    out.push_back({form, {}, {{t}}, [value](Args, Results r) { r[0] = value; }, text});
  };
  const std::string shared = variable("shared");
  is("mapa.u64", kPred, 1, shared + "mapa.u64 back, far, 0;\nsetp.eq.u64 d, back, far;");
  is("mapa.shared::cluster.u64", kPred, 1,
     shared + "mapa.shared::cluster.u64 back, at, 0;\nsetp.eq.u64 d, back, at;");
  is("getctarank.u64", kB32, 0, shared + "getctarank.u64 d, far;");
  is("getctarank.shared::cluster.u64", kB32, 0, shared + "getctarank.shared::cluster.u64 d, at;");
  is("getctarank.s64", kB32, 0, shared + "getctarank.s64 d, far;");
  is("getctarank.shared::cluster.s64", kB32, 0, shared + "getctarank.shared::cluster.s64 d, at;");
  is("mapa.u32", kB32, 64, "mapa.u32 d, 64, 0;");
  is("getctarank.u32", kB32, 0, "getctarank.u32 d, 64;");
  is("getctarank.s32", kB32, 0, "getctarank.s32 d, 64;");
  is("mapa.shared::cluster.u32", kB32, 64, "mapa.shared::cluster.u32 d, 64, 0;");
  is("getctarank.shared::cluster.u32", kB32, 0, "getctarank.shared::cluster.u32 d, 64;");
  is("getctarank.shared::cluster.s32", kB32, 0, "getctarank.shared::cluster.s32 d, 64;");
}

}  // namespace

std::vector<Op> extra_ops() {
  std::vector<Op> out;
  for (const char* space : {"global", "const", "local", "shared", "shared::cta", "shared::cluster",
                            "param", "param::entry"}) {
    add_address_conversion(out, space);
  }
  add_space_tests(out);
  add_cluster(out);
  for (const std::string text : {"brkpt", "pmevent 3", "pmevent.mask 5", "nanosleep.u32 a",
                                 "griddepcontrol.wait", "griddepcontrol.launch_dependents"})
    out.push_back(
        {text.substr(0, text.find(' ')), {{kB32}}, {{kB32}}, same, "mov.b32 d, a;\n" + text + ";"});
  add_packing(out, kB64, kB32);
  add_packing(out, kB64, kB16);
  add_packing(out, kB32, kB16);
  for (const char* name : {"%ntid.y", "%ntid.z", "%nctaid.y", "%nctaid.z"}) add_fixed(out, name, 1);
  for (const char* name : {"%tid.y", "%tid.z", "%ctaid.y", "%ctaid.z", "%tid.w", "%envreg3"})
    add_fixed(out, name, 0);
  add_fixed(out, "%ntid.x", kGroup);
  add_fixed(out, "%nwarpid", kGroup / 32);
  add_fixed(out, "WARP_SZ", 32);
  return out;
}

}  // namespace values::ptx::move
